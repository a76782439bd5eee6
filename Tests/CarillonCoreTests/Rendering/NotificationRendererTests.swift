import CarillonCore
import Testing

@Suite struct NotificationRendererTests {
    @Test func `the texts are those of the contract`() throws {
        let catalog = try sampleCatalog()
        func render(_ subject: NotificationSubject) -> Notification { catalog.render(subject, locales: []) }
        func joined(_ further: Int) -> NotificationSubject {
            NotificationSubject(
                .memberJoined,
                further > 0 ? .many : .one,
                user: "Bob",
                channel: "General",
                others: further
            )
        }
        func expected(_ title: String, _ body: String) -> Notification {
            Notification(locale: "en", title: title, body: body)
        }
        #expect(
            render(NotificationSubject(.channelCreated, channel: "General"))
                == expected("General", "You're now member of General!")
        )
        #expect(render(joined(0)) == expected("Bob", "Bob has joined General"))
        #expect(render(joined(1)) == expected("Bob", "Bob and 1 others have joined General"))
        #expect(render(joined(7)) == expected("Bob", "Bob and 7 others have joined General"))
        #expect(render(.message()) == expected("Alice (General)", "Hello"))
        #expect(render(.message(kind: .image)) == expected("Alice (General)", "Image Message"))
        #expect(render(.message(kind: .other)) == expected("Alice (General)", "Special message"))
    }

    @Test func `a conversation of two has a title of its own where the template gives it one`() throws {
        let catalog = try sampleCatalog()
        let direct = NotificationSubject(
            .messageSent,
            .text,
            user: "Alice",
            channel: "General",
            words: "Hi",
            isDirect: true
        )
        func title(_ subject: NotificationSubject, _ own: TemplateWording? = nil, in locale: String = "en") throws
            -> String
        {
            let tag = try #require(LocaleTag(locale))
            let templates = try own.map {
                [try CompiledTemplate(TemplateSource(title: $0, body: "x"), for: subject.eventType, locale: tag)]
            }
            return catalog.render(subject, locales: [locale], overrides: TemplateOverrides(templates ?? [])).title
        }
        #expect(try title(direct) == "Alice")
        #expect(try title(.message()) == "Alice (General)")
        #expect(try title(direct, "%1s @ %2s") == "Alice @ General", "what says one title means it")
        #expect(try title(direct, .variants([.channel: "%2s!"])) == "Alice", "the built-in one stands in")
        #expect(try title(.message(), .variants([.channel: "%2s!"])) == "General!")
        #expect(try title(.message(), .variants([.direct: "%1s!"])) == "Alice (General)")
        #expect(try title(direct, .variants([:]), in: "pt-BR") == "Alice no General")
        let created = NotificationSubject(.channelCreated, channel: "c-1", isDirect: true)
        #expect(try title(created) == "c-1")
        #expect(try title(created, .variants([.direct: "New conversation"])) == "New conversation")
    }

    struct Walk: CustomTestStringConvertible {
        var locales: [String]
        var networkDefault: String?
        var overrides: [String] = []
        var expected: String
        var testDescription: String { "\(locales) \(networkDefault ?? "-") \(overrides) → \(expected)" }
    }

    @Test(arguments: [
        Walk(locales: [], expected: "en"),
        Walk(locales: ["th"], expected: "th"),
        Walk(locales: ["th-TH"], expected: "th"),
        Walk(locales: ["TH_th"], expected: "th"),
        Walk(locales: ["th-TH-u-ca-buddhist"], expected: "th"),
        Walk(locales: ["pt-BR"], expected: "pt-BR"),
        Walk(locales: ["pt-PT"], expected: "pt"),
        Walk(locales: ["xx"], expected: "en"),
        Walk(locales: ["xx"], networkDefault: "th", expected: "th"),
        Walk(locales: ["xx"], networkDefault: "th-TH", expected: "th"),
        Walk(locales: ["xx"], networkDefault: "yy", expected: "en"),
        Walk(locales: ["xx"], networkDefault: "not a locale", expected: "en"),
        Walk(locales: ["en"], networkDefault: "th", expected: "en"),
        Walk(locales: ["xx", "pt-PT"], networkDefault: "th", expected: "pt"),
        Walk(locales: ["th-TH", "pt"], expected: "th"),
        Walk(locales: ["", "\u{0}", String(repeating: "a-", count: 9_999), "pt"], expected: "pt"),
        Walk(locales: ["zh-Hant-HK"], expected: "zh-Hant"),
        Walk(locales: ["zh-TW"], expected: "zh-Hant"),
        Walk(locales: ["zh-TW-u-mu-celsius"], expected: "zh-Hant"),
        Walk(locales: ["zh-Hans-CN"], expected: "zh"),
        Walk(locales: ["zh-CN"], expected: "zh"),
        Walk(locales: ["th-TH"], overrides: ["th-TH"], expected: "th-TH!"),
        Walk(locales: ["th-TH"], overrides: ["th"], expected: "th!"),
        Walk(locales: ["th"], overrides: ["th-TH"], expected: "th"),
        Walk(locales: ["th-TH"], overrides: ["en"], expected: "th"),
        Walk(locales: ["xx"], overrides: ["en"], expected: "en!"),
        Walk(locales: ["xx-YY"], overrides: ["xx"], expected: "xx!"),
        Walk(locales: ["yy"], networkDefault: "xx-YY", overrides: ["xx"], expected: "xx!"),
        Walk(locales: ["pt-BR"], overrides: ["pt"], expected: "pt-BR"),
        Walk(locales: ["th"], networkDefault: "pt", overrides: ["pt"], expected: "th"),
    ])
    func `a locale falls back step by step, an override before the built-in`(walk: Walk) throws {
        let overrides = TemplateOverrides(try walk.overrides.map { try template(.messageSent, $0, "own", "own") })
        let notification = try sampleCatalog().render(
            .message(),
            locales: walk.locales,
            networkDefault: walk.networkDefault,
            overrides: overrides
        )
        #expect(notification.locale + (notification.title == "own" ? "!" : "") == walk.expected)
    }

    @Test(
        arguments: [
            ("th-TH", "pt", "th"), ("xx", "pt", "pt"), ("xx", nil, "en"), (nil, "pt", "pt"), (nil, nil, "en"),
            ("xx", "yy", "en"),
        ] as [(String?, String?, String)]
    )
    func `the device's language goes before the user's`(device: String?, user: String?, expected: String) throws {
        var renderer = NotificationRenderer(.message(), catalog: try sampleCatalog())
        for _ in 1...2 {
            let key = renderer.template(deviceLocale: device, userLocale: user)
            #expect(renderer.notification(for: key).locale == expected)
        }
    }

    @Test func `recipients of the same template share a key`() throws {
        var renderer = NotificationRenderer(.message(), catalog: try sampleCatalog(), networkDefault: "th")
        let thai = renderer.template(deviceLocale: "th-TH", userLocale: nil)
        #expect(renderer.template(deviceLocale: "xx", userLocale: "TH") == thai)
        #expect(renderer.template(deviceLocale: nil, userLocale: nil) == thai)
        #expect(renderer.template(deviceLocale: "pt", userLocale: "th") != thai)
    }

    @Test func `any number of different locales is answered`() throws {
        var renderer = NotificationRenderer(.message(), catalog: try sampleCatalog())
        let keys = Set((0..<5_000).map { renderer.template(deviceLocale: "th-x-\($0)", userLocale: "pt") })
        #expect(keys.count == 1)
        #expect(keys.first.map { renderer.notification(for: $0).locale } == "th")
    }

    @Test func `a key of another renderer does no harm`() throws {
        let catalog = try sampleCatalog()
        var other = NotificationRenderer(.message(), catalog: catalog)
        _ = other.template(deviceLocale: "th", userLocale: nil)
        let key = other.template(deviceLocale: "pt", userLocale: nil)
        var renderer = NotificationRenderer(NotificationSubject(.channelCreated, channel: "General"), catalog: catalog)
        #expect(renderer.notification(for: key).body == "You're now member of General!")
    }

    @Test func `a type that a language lacks falls through to the next`() throws {
        let notification = try sampleCatalog().render(
            NotificationSubject(.channelCreated, channel: "x"),
            locales: ["th", "pt"]
        )
        #expect(notification.locale == "en")
    }

    @Test func `one body for all variants`() throws {
        for kind in Message.Kind.allCases {
            #expect(try fill("t", "all: %s", .message("m", kind: kind)).body == "all: m")
        }
        for further in [0, 2] {
            let subject = NotificationSubject(
                .memberJoined,
                further > 0 ? .many : .one,
                user: "Bob",
                channel: "c",
                others: further
            )
            #expect(try fill("t", "%1s %3s", subject).body == "Bob \(further)")
        }
    }

    @Test(
        arguments: [
            ("th", nil, "รูปภาพ"), ("th-TH", nil, "รูปภาพ"), ("pt-BR", nil, "Foto"), ("pt-PT", nil, "Imagem"),
            ("xx", nil, "Image Message"), ("xx", "th-TH", "รูปภาพ"), ("xx", "yy", "Image Message"),
            ("en", "th", "Image Message"),
        ] as [(String, String?, String)]
    )
    func `a variant left out of an override is the built-in one`(
        locale: String,
        networkDefault: String?,
        expected: String
    ) throws {
        let overrides = TemplateOverrides([
            try template(.messageSent, locale, "own", .variants([.text: "own %s"])),
            try template(.messageSent, "yy", "other", "other"),
        ])
        func render(_ kind: Message.Kind) throws -> Notification {
            try sampleCatalog().render(
                .message(kind: kind),
                locales: [locale],
                networkDefault: networkDefault,
                overrides: overrides
            )
        }
        #expect(try render(.text) == Notification(locale: locale, title: "own", body: "own Hello"))
        #expect(try render(.image) == Notification(locale: locale, title: "own", body: expected))
    }

    @Test func `an override without any variant changes only the title`() throws {
        let overrides = TemplateOverrides([try template(.messageSent, "en", "own", .variants([:]))])
        let notification = try sampleCatalog().render(.message(), locales: [], overrides: overrides)
        #expect(notification == Notification(locale: "en", title: "own", body: "Hello"))
    }

    @Test func `the later of two overrides counts`() throws {
        var overrides = TemplateOverrides([try template(.messageSent, "th_th", "first", "x")])
        overrides.insert(try template(.messageSent, "TH-TH", "second", "x"))
        let locale = try #require(LocaleTag("th-TH"))
        #expect(overrides[.messageSent, locale]?.source.title == "second")
        #expect(overrides[.memberJoined, locale] == nil)
    }
}
