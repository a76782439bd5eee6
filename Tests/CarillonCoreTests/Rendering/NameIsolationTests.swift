import CarillonCore
import Testing

@Suite struct NameIsolationTests {
    @Test(arguments: [
        ("en", "محمد", true), ("en", "דנה", true), ("en", "ދިވެހި", true), ("en", "ߒߞߏ", true), ("en", "𞤀𞤁", true),
        ("en", "Alice", false), ("en", "สมชาย", false), ("en", "田中", false), ("en", "Ωmega", false),
        ("en", "नेहा", false),
        ("en", "12345", false), ("en", "١٢٣", false), ("en", "🔥😀", false), ("en", "👨‍👩‍👧", false), ("en", "❤️", false),
        ("en", "!?…", false), ("en", "42 محمد", true), ("en", "🔥 محمد", true), ("en", "Alice محمد", false),
        ("en", "(דנה)", true), ("en", "\u{200F}12", true), ("en", "\u{200E}محمد", false), ("en", "\u{301}محمد", true),
        ("ar", "Alice", true), ("ar", "田中", true), ("ar", "สมชาย", true), ("ar", "محمد", false), ("ar", "דנה", false),
        ("ar", "12345", false), ("ar", "١٢٣", false), ("ar", "🔥", false), ("ar", "محمد Alice", false),
        ("ar", "7 Alice", true),
        ("ar", "\u{200E}7", true), ("ar-EG", "Alice", true), ("fa", "Alice", true), ("he-IL", "Alice", true),
        ("ur", "Alice", true), ("iw", "Alice", true), ("ckb", "Alice", true),
        ("az-Arab", "Alice", true), ("az", "Alice", false), ("pa-Arab-PK", "Alice", true), ("ur-Latn", "Alice", false),
        ("ur-Latn", "محمد", true), ("th", "محمد", true),
    ])
    func `a name that runs against the template is wrapped`(locale: String, name: String, wrapped: Bool) throws {
        let expected = wrapped ? "\u{2068}\(name)\u{2069}" : name
        let notification = try fill(
            "%1s: %2s",
            "{{UserDisplayName}} {{ChannelName}}",
            .message(from: name, in: name),
            locale: locale
        )
        #expect(notification.title == "\(expected): \(expected)")
        #expect(notification.body == "\(expected) \(expected)")
    }

    @Test func `each name is judged alone`() throws {
        let notification = try fill("%1s (%2s)", "x", .message(from: "دانة", in: "General"))
        #expect(notification.title == "\u{2068}دانة\u{2069} (General)")
    }

    @Test func `isolates in a name cannot close ours`() throws {
        let notification = try fill("%s!", "x", .message(from: "\u{2069}محمد\u{2069}\u{202E}"))
        #expect(notification.title == "\u{2068}محمد\u{2069}!")
    }

    @Test func `an id in place of a name is a name`() throws {
        let event = Event(
            sourceID: "e",
            type: .messageSent,
            timestamp: Timestamp(milliseconds: 0),
            channel: Channel(id: ChannelID(trusted: "غرفة")),
            actor: Person(id: UserID(trusted: "alice")),
            message: Message(kind: .text, text: "Hi")
        )
        let subject = try #require(NotificationSubject(event: event))
        #expect(try sampleCatalog().render(subject, locales: []).title == "alice (\u{2068}غرفة\u{2069})")
    }

    @Test func `a count is not isolated`() throws {
        let subject = NotificationSubject(.memberJoined, .many, user: "محمد", channel: "عام", others: 2)
        #expect(try sampleCatalog().render(subject, locales: ["ar"]).body == "انضم محمد و2 إلى عام")
    }

    @Test func `a borrowed variant is judged by its own language`() throws {
        let overrides = TemplateOverrides([try template(.memberJoined, "he", "%s", .variants([.one: "%1s ב-%2s"]))])
        let subject = NotificationSubject(.memberJoined, .many, user: "Bob", channel: "דנה", others: 2)
        let notification = try sampleCatalog().render(subject, locales: ["he"], overrides: overrides)
        #expect(notification.title == "\u{2068}Bob\u{2069}")
        #expect(notification.body == "Bob and 2 others have joined \u{2068}דנה\u{2069}")
    }
}

@Suite struct UserTextTests {
    static let bidiControls = Array(0x202A...0x202E as ClosedRange<UInt32>) + Array(0x2066...0x2069)
    static let controls = Array(0x00...0x1F as ClosedRange<UInt32>) + Array(0x7F...0x9F)

    @Test(arguments: bidiControls + controls.filter { $0 != 0x0A })
    func `controls are dropped everywhere`(code: UInt32) throws {
        let hostile = "a\(try #require(Unicode.Scalar(code)))b"
        let notification = try fill(
            "%s",
            "%s{{UserDisplayName}}{{ChannelName}}",
            .message(hostile, from: hostile, in: hostile)
        )
        #expect(notification.title == "ab")
        #expect(notification.body == "ababab")
    }

    @Test(arguments: [
        "\u{200C}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{61C}", "\u{FEFF}", "\u{A0}", "…", "“", "\u{202F}",
        "\u{2065}", "\u{206A}",
    ])
    func `everything else stays, next to what goes`(kept: String) throws {
        let notification = try fill("%s", "%s", .message("a\(kept)\u{7}b", from: "a\u{202E}\(kept)b"))
        #expect(Array(notification.title.unicodeScalars) == Array("a\(kept)b".unicodeScalars))
        #expect(Array(notification.body.unicodeScalars) == Array("a\(kept)b".unicodeScalars))
    }

    @Test(arguments: [
        ("a\nb", "a b", "a\nb"), ("a\r\nb", "a b", "a\nb"), ("a\rb", "ab", "ab"), ("a\n\nb", "a  b", "a\n\nb"),
        ("a\u{2028}b", "a b", "a\u{2028}b"), ("a\u{2029}b", "a b", "a\u{2029}b"), ("a\u{85}b", "ab", "ab"),
    ])
    func `a newline becomes a space in a title and stays in a body`(text: String, title: String, body: String) throws {
        let notification = try fill("%s", "%s", .message(text, from: text))
        #expect(Array(notification.title.unicodeScalars) == Array(title.unicodeScalars))
        #expect(Array(notification.body.unicodeScalars) == Array(body.unicodeScalars))
    }

    @Test func `nothing but controls leaves nothing`() throws {
        #expect(try fill("[%s]", "[%s]", .message("\u{0}\u{202E}", from: "\u{7F}\u{9F}")).title == "[]")
        #expect(try fill("[%s]", "[%s]", .message("\u{0}\u{202E}", from: "\u{7F}\u{9F}")).body == "[]")
    }

    @Test func `the message is not isolated whatever its direction`() throws {
        #expect(try fill("x", "%s", .message("مرحبا")).body == "مرحبا")
        #expect(try fill("x", "%s", .message("Hello"), locale: "ar").body == "Hello")
    }
}
