extension ChannelToggles {
    /// Reads a document, noting what is wrong with it; members that are left out allow.
    init(reading document: JSONValue, unknown: JSONObjectReader.UnknownMembers, into errors: InputErrors) {
        var reader = JSONObjectReader(document, unknown: unknown, into: errors)
        enabled = reader.bool("enabled") ?? true
        mentionsOnly = reader.bool("mentionsOnly") ?? false
        mutedUntil = reader.timestamp("mutedUntil")
        reader.refuseNulls("enabled", "mentionsOnly")
        _ = reader.value("updatedAt")
        reader.finish()
    }

    /// Reads a stored document; what it does not know is passed over.
    package init(document: JSONValue) {
        self.init(reading: document, unknown: .tolerate, into: InputErrors())
    }

    /// The full document, defaults filled in.
    package var document: JSONValue {
        [
            "enabled": .bool(enabled),
            "mentionsOnly": .bool(mentionsOnly),
            "mutedUntil": JSONValue(mutedUntil),
        ]
    }
}
