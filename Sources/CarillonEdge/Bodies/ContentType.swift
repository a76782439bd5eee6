import CarillonCore
package import HTTPTypes

/// Checks in what form a body was sent.
package enum ContentType {
    package static let json = ["application/json"]
    package static let mergePatch = ["application/json", "application/merge-patch+json"]
    package static let newlineDelimitedJSON = ["application/x-ndjson"]

    /// Passes a body that says that it is one of `accepted`, or says nothing, and that is not compressed.
    package static func check(_ headers: HTTPFields, accepted: [String]) throws(Problem) {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw .unsupportedMediaType("Content-Encoding is \(quoted(encoding)), and must be left out")
        }
        guard let header = headers[.contentType] else { return }
        let parts = header.split(separator: ";", omittingEmptySubsequences: false).map { part in
            part.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        guard let type = parts.first, accepted.contains(type), parts.dropFirst().allSatisfy(isHarmless) else {
            let types = accepted.joined(separator: " or ")
            throw .unsupportedMediaType("Content-Type is \(quoted(header)), and must be \(types), in UTF-8")
        }
    }

    /// A header as it is repeated to whoever sent it.
    private static func quoted(_ header: String) -> String { header.shortened(toCharacters: 100, bytes: 400) }

    private static func isHarmless(_ parameter: String) -> Bool {
        guard parameter.hasPrefix("charset=") else { return true }
        return parameter == "charset=utf-8" || parameter == #"charset="utf-8""#
    }
}
