extension JSONObjectReader {
    /// An RFC 3339 date-time.
    package mutating func timestamp(_ key: String, required: Bool = false) -> Timestamp? {
        guard let value = value(key, required: required) else { return nil }
        guard case .string(let text) = value, let timestamp = Timestamp(rfc3339: text) else {
            refuse(key, "must be a date and time of RFC 3339, such as 2026-11-20T10:00:00.000Z")
            return nil
        }
        return timestamp
    }
}
