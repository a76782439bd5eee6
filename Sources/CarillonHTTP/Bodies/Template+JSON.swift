import CarillonCore

/// A template as the API lists it: a built-in one, or a network's own.
struct ListedTemplate {
    enum Origin: String {
        case builtIn
        case network
    }

    let eventType: EventType
    let locale: LocaleTag
    let source: TemplateSource
    let origin: Origin
    let updatedAt: Timestamp?

    init(_ template: CompiledTemplate) {
        eventType = template.eventType
        locale = template.locale
        source = template.source
        origin = .builtIn
        updatedAt = nil
    }

    /// A network's own template; `nil` when its locale is no tag, which saving excludes.
    init?(_ override: TemplateOverride) {
        guard let locale = LocaleTag(override.locale) else { return nil }
        eventType = override.eventType
        self.locale = locale
        source = override.source
        origin = .network
        updatedAt = override.updatedAt
    }

    /// The place in lists: by event type, then by locale.
    var key: String { "\(eventType.rawValue)/\(locale.rawValue)" }

    var json: JSONValue {
        let names: JSONObject = [
            "type": .string(eventType.rawValue),
            "locale": .string(locale.rawValue),
            "origin": .string(origin.rawValue),
        ]
        return .object(JSONObject(joining: names, source.json, ["updatedAt": JSONValue(updatedAt)]))
    }
}
