import CarillonCore

/// What `POST /templates/preview` asks: how an event would read (API section 7).
struct TemplatePreview {
    private static let problem = "invalid-preview"

    let locale: LocaleTag
    /// The template to try; `nil` to see what the network has.
    let template: CompiledTemplate?
    let event: Event

    /// Reads and checks the body. An event without a type is of the template's.
    ///
    /// - Throws: `invalid-preview`, `invalid-event` or `invalid-template`.
    init(json: JSONValue, clock: WallClock) throws {
        let (type, locale, templateJSON, eventJSON) = try json.read(as: Self.problem) { reader in
            Self.parts(&reader)
        }
        self.locale = locale
        template = try templateJSON.map { json throws(InvalidInput) in
            try CompiledTemplate(
                TemplateSource(json: json, at: "/template"),
                for: type,
                locale: locale,
                at: "/template"
            )
        }
        event = try EmbeddedEvent.event(eventJSON, ofType: type, clock: clock)
    }

    private static func parts(
        _ reader: inout JSONObjectReader
    ) -> (type: EventType, locale: LocaleTag, template: JSONValue?, event: JSONValue)? {
        let name = reader.string("type", required: true)
        let type = EventType.withTemplates.first { $0.rawValue == name }
        if name != nil, type == nil {
            reader.refuse("type", "must be one of " + EventType.withTemplates.map(\.rawValue).joined(separator: ", "))
        }
        let localeText = reader.string("locale", required: true)
        let template = reader.value("template")
        let event = reader.value("event", required: true)
        let locale = localeText.flatMap { LocaleTag($0) }
        if localeText != nil, locale == nil {
            reader.refuse("locale", "must be a language tag of BCP 47, such as th or pt-BR")
        }
        guard let type, let locale, let event else { return nil }
        return (type, locale, template, event)
    }
}

/// An event that stands inside another body under `event`.
enum EmbeddedEvent {
    private static let pointer = "/event"

    /// Reads the event, which needs no id, and no type where it has to be a certain one. Without `addresses` direct notifications are no
    /// events.
    /// - Throws: `invalid-event`, also for a type that is unknown: it would be ignored.
    static func event(
        _ json: JSONValue,
        ofType type: EventType? = nil,
        addresses: DeviceAddressReader? = nil,
        clock: WallClock
    ) throws(InvalidInput) -> Event {
        var json = json
        if let type, case .object(var object) = json, object["type"] == nil {
            object["type"] = .string(type.rawValue)
            json = .object(object)
        }
        let errors = InputErrors()
        let content = EventParser(clock: clock, addresses: addresses)
            .content(of: json, at: pointer, fallbackSourceID: "embedded", into: errors)
        try errors.throwIfAny(problem: "invalid-event")
        guard case .known(let event)? = content else {
            throw InvalidInput(
                problem: "invalid-event",
                pointer: pointer + "/type",
                detail: "is no known type of event"
            )
        }
        if let type, event.type != type {
            throw InvalidInput(problem: "invalid-event", pointer: pointer + "/type", detail: "must be \(type.rawValue)")
        }
        return event
    }
}
