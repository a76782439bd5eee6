extension JournalNote {
    package var stored: String {
        var json: JSONObject = ["operation": .string(operation), "status": .number(JSONNumber(status))]
        json["reason"] = reason.map(JSONValue.string)
        if !eventIDs.isEmpty { json["events"] = .array(eventIDs.map { .string($0.description) }) }
        json["channel"] = channel.map(JSONValue.string)
        json["message"] = messageID.map(JSONValue.string)
        return JSONValue.object(json).serializedText
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
                if case .string(let id) = value { EventID(id) } else { nil }
            },
            channel: reader.string("channel"),
            messageID: reader.string("message")
        )
    }
}
