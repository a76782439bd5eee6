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
