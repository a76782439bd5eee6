import CarillonCore
import Testing

@Suite struct CompiledTemplateTests {
    @Test(
        arguments: [
            ("%", "column 1: a lone '%'"), ("100%", "column 4: a lone '%'"), ("100% sure", "column 4: a lone '%'"),
            ("%s %", "column 4: a lone '%'"), ("%%%", "column 3: a lone '%'"), ("%1", "column 1: a lone '%'"),
            ("%1$", "column 1: a lone '%'"), ("%1%", "column 1: a lone '%'"), ("%-1s", "column 1: a lone '%'"),
            ("%\u{301}s", "column 1: a lone '%'"), ("%é", "column 1: a lone '%'"), ("%@", "column 1: a lone '%'"),
            ("%d", "column 1: unknown placeholder"), ("%1d", "column 1: unknown placeholder"),
            ("%S", "column 1: unknown placeholder"), ("%$s", "column 1: a lone '%'"),
            ("%0s", "column 1: there is no such argument"), ("%2s", "column 1: there is no such argument"),
            ("%2$s", "column 1: there is no such argument"), ("%s %s", "column 4: there is no such argument"),
            ("%99999999999999999999s", "column 1: there is no such argument"),
            ("Hi {{Name}}", "column 4: unknown placeholder"), ("{{ Message }}", "column 1: unknown placeholder"),
            ("{{message}}", "column 1: unknown placeholder"), ("{{Message}", "column 1: unknown placeholder"),
            ("{{{Message}}}", "column 1: unknown placeholder"), ("a {{", "column 3: unknown placeholder"),
            ("{{}}", "column 1: unknown placeholder"), ("👨‍👩‍👧🇹🇭é %", "column 5: a lone '%'"),
            ("สวัสดี %", "column 6: a lone '%'"), ("a\nbc %", "line 2, column 4: a lone '%'"),
            ("a\r\nbc %", "line 2, column 4: a lone '%'"), ("", "must not be empty"),
            (String(repeating: "é", count: 4_001), "must have at most 8000 bytes"),
        ] as [(String, String)]
    )
    func `a mistake is refused with its column`(body: String, detail: String) throws {
        let found = try mistakes(in: TemplateSource(title: "%1s", body: .one(body)), of: .messageSent)
        #expect(found.map(\.pointer) == ["/body"])
        #expect(found.first?.detail.hasPrefix(detail) == true, "\(found)")
    }

    @Test(
        arguments: [
            (.messageSent, "%3s", "column 1: there is no such argument"),
            (.messageSent, "%s %s %s", "column 7: there is no such argument"),
            (.memberJoined, "%4s", "column 1: there is no such argument"),
            (.memberJoined, "a {{Message}}", "column 3: this event has no Message"),
            (.channelCreated, "{{UserDisplayName}}", "column 1: this event has no UserDisplayName"),
            (.channelCreated, "%2s", "column 1: there is no such argument"),
            (.messageSent, "", "must not be empty"),
            (.messageSent, String(repeating: "x", count: 1_001), "must have at most 1000 bytes"),
        ] as [(EventType, String, String)]
    )
    func `a title has its own arguments and limit`(eventType: EventType, title: String, detail: String) throws {
        let found = try mistakes(in: TemplateSource(title: .one(title), body: .one("x")), of: eventType)
        #expect(found.map(\.pointer) == ["/title"])
        #expect(found.first?.detail.hasPrefix(detail) == true, "\(found)")
    }

    @Test(
        arguments: [
            (.messageSent, .variants([.text: "%s", .image: "%"]), "/body/image", "column 1: a lone '%'"),
            (.messageSent, .variants([.other: ""]), "/body/other", "must not be empty"),
            (.messageSent, .variants([.many: "%s"]), "/body/many", "this event has no such variant"),
            (.memberJoined, .variants([.one: "%s", .many: "ab %4s"]), "/body/many", "column 4: there is no such"),
            (.memberJoined, .variants([.text: "%s"]), "/body/text", "this event has no such variant"),
            (.memberJoined, .one("x {{Message}}"), "/body", "column 3: this event has no Message"),
            (.channelCreated, .one("%s %2s"), "/body", "column 4: there is no such argument"),
            (.channelCreated, .variants([.one: "%s"]), "/body", "this event has no variants"),
            (.messageSent, .variants([.direct: "%s"]), "/body/direct", "this event has no such variant of the body"),
            (.channelCreated, .variants([:]), "/body", "this event has no variants"),
            (.userDeleted, .one("x"), "", "there are no templates"),
            (.notificationDirect, .one("x"), "", "there are no templates"),
        ] as [(EventType, TemplateWording, String, String)]
    )
    func `a variant is refused at its own place`(
        eventType: EventType,
        body: TemplateWording,
        pointer: String,
        detail: String
    ) throws {
        let found = try mistakes(in: TemplateSource(title: "x", body: body), of: eventType)
        #expect(found.map(\.pointer) == [pointer])
        #expect(found.first?.detail.hasPrefix(detail) == true, "\(found)")
    }

    @Test(
        arguments: [
            (.messageSent, .variants([.direct: "%3s"]), "/title/direct", "column 1: there is no such argument"),
            (
                .memberJoined, .variants([.channel: "{{Message}}"]), "/title/channel",
                "column 1: this event has no Message"
            ),
            (.memberJoined, .variants([.channel: ""]), "/title/channel", "must not be empty"),
            (.memberJoined, .variants([.one: "x"]), "/title/one", "this event has no such variant of the title"),
        ] as [(EventType, TemplateWording, String, String)]
    )
    func `a variant of a title is refused at its own place`(
        eventType: EventType,
        title: TemplateWording,
        pointer: String,
        detail: String
    ) throws {
        let found = try mistakes(in: TemplateSource(title: title, body: "x"), of: eventType)
        #expect(found.map(\.pointer) == [pointer])
        #expect(found.first?.detail.hasPrefix(detail) == true, "\(found)")
    }

    @Test func `every text reports its first mistake, behind the pointer of the request`() throws {
        let source = TemplateSource(title: "%5s %", body: .variants([.text: "%", .image: "fine", .other: "{{"]))
        let error = try #require(throws: InvalidInput.self) {
            try CompiledTemplate(source, for: .messageSent, locale: .english, at: "/template")
        }
        #expect(error.errors.map(\.pointer) == ["/template/title", "/template/body/text", "/template/body/other"])
    }

    @Test func `mistakes do not repeat what the template says`() throws {
        let error = try #require(throws: InvalidInput.self) {
            try template(.messageSent, "en", "{{secret}}", .one("secret %"))
        }
        #expect(!"\(error.errors)".contains("secret"))
    }

    @Test(arguments: [
        ("%s", "Alice"), ("%1s", "Alice"), ("%1$s", "Alice"), ("%2s", "General"), ("%2$s", "General"),
        ("%01s", "Alice"), ("%s in %s", "Alice in General"), ("%2s: %1s", "General: Alice"),
        ("%2s, %s, %1s, %s", "General, Alice, Alice, General"), ("100%%", "100%"), ("%%s", "%s"), ("%%%s", "%Alice"),
        ("%1sさん", "Aliceさん"), ("%ss", "Alices"), ("{%s}", "{Alice}"), ("{ {%s}}", "{ {Alice}}"), ("}}%s{", "}}Alice{"),
        ("{{UserDisplayName}} {{ChannelName}}", "Alice General"), ("{{Message}}", "Hello"),
        ("no argument", "no argument"),
        ("%s\u{301}", "Alice\u{301}"), ("a\nb", "a b"), ("a\u{0}\tb", "ab"),
        ("\u{2067}%s\u{2069}", "\u{2067}Alice\u{2069}"),
    ])
    func `placeholders take the place that the contract gives them`(title: String, expected: String) throws {
        let notification = try fill(title, "x", .message())
        #expect(Array(notification.title.unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test func `a title of a joining has all three arguments`() throws {
        let subject = NotificationSubject(.memberJoined, .many, user: "Bob", channel: "General", others: 3)
        #expect(try fill("%1s+%3s: %2s", "%s %s %s", subject).title == "Bob+3: General")
        #expect(try fill("%1s+%3s: %2s", "%s %s %s", subject).body == "Bob General 3")
    }

    @Test func `names work in bodies whose positions are others`() throws {
        let notification = try fill("x", "{{UserDisplayName}} in {{ChannelName}}: {{Message}} (%s)", .message("Hi"))
        #expect(notification.body == "Alice in General: Hi (Hi)")
    }

    @Test func `texts may be as long as the limit`() throws {
        let title = String(repeating: "x", count: 1_000)
        let body = String(repeating: "y", count: 8_000)
        _ = try template(.messageSent, "en", title, body)
    }

    @Test(arguments: ["%2s", "{{Message}}", "{{UserDisplayName}}", "%", "%%", "${x}", "<b>", "%1$s", #"\u0041"#])
    func `arguments are inserted literally`(hostile: String) throws {
        let catalog = try sampleCatalog()
        let message = catalog.render(.message(hostile, from: hostile, in: hostile), locales: ["en"])
        #expect(message == Notification(locale: "en", title: "\(hostile) (\(hostile))", body: hostile))

        let joined = NotificationSubject(.memberJoined, .many, user: hostile, channel: hostile, others: 2)
        #expect(catalog.render(joined, locales: ["en"]).body == "\(hostile) and 2 others have joined \(hostile)")
    }

    private func mistakes(in source: TemplateSource, of eventType: EventType) throws -> [FieldError] {
        let error = try #require(throws: InvalidInput.self) {
            try CompiledTemplate(source, for: eventType, locale: .english)
        }
        #expect(error.problem == "invalid-template")
        return error.errors
    }
}
