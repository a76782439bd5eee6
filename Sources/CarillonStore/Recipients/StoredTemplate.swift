import CarillonCore

struct StoredTemplate: Sendable, Hashable {
    var eventType: String
    var locale: String
    var source: String
}

extension CompiledTemplate {
    /// A stored template; `nil` when it no longer compiles.
    init?(stored: StoredTemplate) {
        guard let type = EventType(known: stored.eventType), let locale = LocaleTag(stored.locale),
            let source = try? TemplateSource(stored: stored.source),
            let compiled = try? CompiledTemplate(source, for: type, locale: locale)
        else { return nil }
        self = compiled
    }
}
