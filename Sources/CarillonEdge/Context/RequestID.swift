package import HTTPTypes

extension HTTPField.Name {
    static let requestID = HTTPField.Name.known("x-request-id")

    /// Says where a request stands in a trace (W3C Trace Context).
    static let traceparent = HTTPField.Name.known("traceparent")

    /// A name that is known to be one.
    package static func known(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .via }
}

/// The id of a request, which its answer and everything logged about it carry.
package enum RequestID {
    private static let maximumCount = 128

    /// The caller's id, if it is 1 to 128 printable ASCII characters: anything else could forge lines of the log.
    package static func accepted(_ id: String?) -> String? {
        guard let id, (1...maximumCount).contains(id.utf8.count) else { return nil }
        return id.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? id : nil
    }
}
