extension JournalNote {
    package var stored: String {
        let json: JSONValue = [
            "operation": .string(operation),
            "status": JSONValue(status),
            "reason": reason.map(JSONValue.string),
            "events": eventIDs.isEmpty ? nil : JSONValue(eventIDs.map(\.description)),
            "channel": channel.map(JSONValue.string),
            "message": messageID.map(JSONValue.string),
        ]
        return json.serializedText
    }

    /// Reads what ``stored`` wrote, perhaps in another release; `nil` for what is no such text.
    package init?(stored text: String) {
        guard let json = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
        var reader = JSONObjectReader(json, unknown: .tolerate, into: InputErrors())
        guard let operation = reader.string("operation", required: true),
            let status = reader.integer("status", required: true, in: 0...Int.max)
        else { return nil }
        self.init(
            operation: operation,
            status: status,
            reason: reader.string("reason"),
            eventIDs: (reader.array("events", maximumCount: Self.mostEvents) ?? []).compactMap { value in
                value.text.flatMap { EventID($0) }
            },
            channel: reader.string("channel"),
            messageID: reader.string("message")
        )
    }
}
