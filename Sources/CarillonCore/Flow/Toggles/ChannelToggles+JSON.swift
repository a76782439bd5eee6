extension ChannelToggles: ToggleDocument {
    package init(reading reader: inout JSONObjectReader) {
        enabled = reader.bool("enabled") ?? true
        mentionsOnly = reader.bool("mentionsOnly") ?? false
        mutedUntil = reader.timestamp("mutedUntil")
        reader.refuseNulls("enabled", "mentionsOnly")
    }

    package var document: JSONValue {
        [
            "enabled": .bool(enabled),
            "mentionsOnly": .bool(mentionsOnly),
            "mutedUntil": JSONValue(mutedUntil),
        ]
    }
}
