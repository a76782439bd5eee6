import CarillonCore
import Testing

@Suite struct TemplateCatalogTests {
    @Test(arguments: EventType.withTemplates)
    func `English must have every event`(missing: EventType) throws {
        let templates = try EventType.withTemplates.filter { $0 != missing }.map { try template($0, "en", "t", "b") }
        let error = try #require(throws: InvalidInput.self) { try TemplateCatalog(templates) }
        #expect(error.errors.map(\.pointer) == ["/en/\(missing.rawValue)"])
    }

    @Test(arguments: [
        (EventType.memberJoined, [TemplateVariant.one]), (.memberJoined, [.many]), (.messageSent, [.text, .other]),
        (.messageSent, []),
    ])
    func `English must have every variant`(eventType: EventType, variants: [TemplateVariant]) throws {
        let texts = Dictionary(uniqueKeysWithValues: variants.map { ($0, "x") })
        let others = try EventType.withTemplates.filter { $0 != eventType }.map { try template($0, "en", "t", "b") }
        let incomplete = try template(eventType, "en", "t", .variants(texts))
        #expect(throws: InvalidInput.self) { try TemplateCatalog(others + [incomplete]) }
    }

    @Test(arguments: [TemplateVariant.channel, .direct])
    func `English must have every variant of a title`(variant: TemplateVariant) throws {
        let others = try EventType.withTemplates.dropFirst().map { try template($0, "en", "t", "b") }
        let incomplete = try template(EventType.withTemplates[0], "en", title: .variants([variant: "x"]), "b")
        #expect(throws: InvalidInput.self) { try TemplateCatalog(others + [incomplete]) }
    }

    @Test func `a variant that a language lacks is that of the more general one`() throws {
        let catalog = try sampleCatalog()
        let text = catalog.render(.message(kind: .other), locales: ["pt-BR"])
        #expect(text == Notification(locale: "pt-BR", title: "Alice no General", body: "Especial"))
    }

    @Test func `it tells what it has`() throws {
        let catalog = try sampleCatalog()
        #expect(catalog.locales(for: .messageSent).map(\.rawValue) == ["en", "pt", "pt-BR", "th", "zh", "zh-Hant"])
        #expect(catalog.locales(for: .channelCreated) == [.english])
        #expect(catalog.locales(for: .userDeleted) == [])
        #expect(catalog[.channelCreated, .english]?.source.body == .one("You're now member of %s!"))
        #expect(catalog[.channelCreated, try #require(LocaleTag("th"))] == nil)
    }
}

@Suite struct TemplateSourceJSONTests {
    @Test(arguments: [
        (#"[]"#, [""]), (#""text""#, [""]), (#"{}"#, ["/title", "/body"]),
        (#"{"title":"t"}"#, ["/body"]), (#"{"title":null,"body":null}"#, ["/title", "/body"]),
        (#"{"title":1,"body":"b"}"#, ["/title"]), (#"{"title":"t","body":1}"#, ["/body"]),
        (#"{"title":"t","body":["b"]}"#, ["/body"]), (#"{"title":"t","body":{"one":1}}"#, ["/body/one"]),
        (#"{"title":"t","body":{"two":"b"}}"#, ["/body/two"]), (#"{"title":"t","body":"b","x/y":1}"#, ["/x~1y"]),
        (#"{"titel":"t","body":"b"}"#, ["/title", "/titel"]), (#"{"title":["t"],"body":"b"}"#, ["/title"]),
        (#"{"title":{"channel":1,"group":"t"},"body":"b"}"#, ["/title/channel", "/title/group"]),
    ])
    func `a body of another shape is refused with its place`(json: String, pointers: [String]) throws {
        let value = try JSONValue(parsing: Array(json.utf8))
        for prefix in ["", "/template"] {
            let error = try #require(throws: InvalidInput.self) { try TemplateSource(json: value, at: prefix) }
            #expect(error.problem == "invalid-template")
            #expect(error.errors.map(\.pointer) == pointers.map { prefix + $0 })
        }
    }

    @Test(arguments: [
        (#"{"title":"%s","body":"b"}"#, TemplateSource(title: "%s", body: .one("b"))),
        (#"{"title":"t","body":{}}"#, TemplateSource(title: "t", body: .variants([:]))),
        (
            #"{"title":{"channel":"a","direct":"b"},"body":"c"}"#,
            TemplateSource(title: .variants([.direct: "b", .channel: "a"]), body: "c")
        ),
        (
            #"{"title":"t","body":{"one":"a","many":"b"}}"#,
            TemplateSource(title: "t", body: .variants([.one: "a", .many: "b"]))
        ),
        (
            #"{"title":"t","body":{"text":"a","image":"b","other":"c"}}"#,
            TemplateSource(title: "t", body: .variants([.text: "a", .image: "b", .other: "c"]))
        ),
    ])
    func `a template is read and written alike`(json: String, source: TemplateSource) throws {
        #expect(try TemplateSource(json: JSONValue(parsing: Array(json.utf8))) == source)
        #expect(source.json.serializedText == json)
    }
}

@Suite struct LocaleTagTests {
    @Test(arguments: [
        "", "e", "english-", "-en", "en--US", "en-", "1en", "e1", "en-toolongpart", "en US", "englishes", "ไทย", "en-ü",
        "en/US", "en-x", "en-US-u", "../en", "en-\u{0}", ".en", "abcdefgh-abcdefgh-abcdefgh-abcdefgh1",
    ])
    func `what is no tag is refused`(text: String) {
        #expect(LocaleTag(text) == nil)
    }

    @Test(arguments: [
        ("en", "en"), ("TH-th", "th-TH"), ("th_TH", "th-TH"), ("ZH_hant_tw", "zh-Hant-TW"), ("es-419", "es-419"),
        ("de-1996", "de-1996"), ("sl-rozaj-1994", "sl-rozaj-1994"), ("en-US-U-CA-Buddhist", "en-US-u-ca-buddhist"),
        ("th_TH@calendar=buddhist", "th-TH"), ("en_US.UTF-8", "en-US"), ("in_ID", "id-ID"), ("iw", "he"), ("ji", "yi"),
        ("fil", "fil"), ("en-x-ab", "en-x-ab"),
    ])
    func `a tag gets its usual spelling`(text: String, expected: String) {
        #expect(LocaleTag(text)?.rawValue == expected)
    }

    @Test func `tags are ordered by their text`() throws {
        let tags = try ["th", "zh-Hant", "en", "zh"].map { try #require(LocaleTag($0)) }
        #expect(tags.sorted().map(\.description) == ["en", "th", "zh", "zh-Hant"])
    }
}
