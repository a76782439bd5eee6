import HTTPTypes

/// The token of `Authorization: Bearer …` (RFC 6750 section 2.1).
enum BearerToken {
    /// Longer than any token that is worth reading.
    private static let maximumBytes = 8192

    /// The token; `nil` when there is no `Authorization` at all.
    ///
    /// - Throws: 401 for another scheme and for more than one header.
    package static func text(_ headers: HTTPFields) throws(Problem) -> String? {
        let values = headers[values: .authorization]
        guard let value = values.first else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer",
            parts[1].utf8.count <= maximumBytes
        else { throw .unauthorized("Authorization must be one bearer token") }
        return String(parts[1])
    }
}
