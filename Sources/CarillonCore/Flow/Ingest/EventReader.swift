/// Reads one event from its JSON, by the table of API section 3.
struct EventReader {
    /// Longer than any type that Carillon knows.
    private static let maximumTypeBytes = 256

    /// When an event without a timestamp happened.
    let now: Timestamp
    let fallbackSourceID: String?
    /// Reads direct notifications; `nil` where they are a type like any other that is unknown.
    var directReader: DirectNotificationReader?
    let errors: InputErrors
    /// Whether all that is documented is understood, as of ``EventData``.
    var isWhole = true
    var kinds = EventType.kinds

    /// Answers `nil` only when it noted an error. After an error it goes on, to find the others.
    func read(_ value: JSONValue, at pointer: String) -> (sourceID: String, content: ParsedEvent.Content)? {
        let errorsBefore = errors.errors.count
        var envelope = JSONObjectReader(value, at: pointer, unknown: .tolerate, into: errors)
        let sourceID = sourceID(in: &envelope)
        let typeName = envelope.string(
            "type",
            required: true,
            maximumBytes: Self.maximumTypeBytes,
            nonEmpty: true
        )
        guard let typeName else { return nil }
        guard let kind = kinds.first(where: { $0.name == typeName }), kind.describesTheChat || directReader != nil
        else {
            return sourceID.map { ($0, .ignored(type: typeName)) }
        }
        var event = Event(sourceID: sourceID ?? "", type: .kind(kind), timestamp: timestamp(in: &envelope))
        if let object = envelope.object("data", required: true) {
            var data = EventData(object: object, isWhole: isWhole)
            kind.read(&data, into: &event)
            if !kind.describesTheChat { directReader?.fill(&event, from: &data.object) }
            if isWhole, kind.notifies { data.limit(&event) }
            if isWhole, kind.describesTheChat { event.people = data.people("people") }
        }
        return errors.errors.count == errorsBefore ? (event.sourceID, .known(event)) : nil
    }

    private func sourceID(in envelope: inout JSONObjectReader) -> String? {
        if let fallbackSourceID, !envelope.contains("id") || envelope.isNull("id") {
            guard Identifier<Event>(fallbackSourceID) != nil else {
                errors.add(pointer: envelope.pointer, detail: "webhook-id \(InputRule.identifier)")
                return nil
            }
            return fallbackSourceID
        }
        return envelope.identifier("id", as: Event.self, required: true)?.rawValue
    }

    private func timestamp(in envelope: inout JSONObjectReader) -> Timestamp {
        guard let timestamp = envelope.timestamp("timestamp") else { return now }
        return timestamp > now + EventParser.clockTolerance ? now : timestamp
    }
}
