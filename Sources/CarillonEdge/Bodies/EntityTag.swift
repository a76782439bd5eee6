package import HTTPTypes

/// The version of a document, as `ETag`, `If-Match` and `If-None-Match` speak of it (RFC 9110 section 8.8.3).
package enum EntityTag {
    package static func text(of version: Int64) -> String { "\"\(version)\"" }

    /// What `If-Match` asks of the current version; `nil` when the header is absent.
    ///
    /// Tags are numbers of versions, which no transformation of bytes makes others: also those count that a proxy has weakened or given the name
    /// of a coding, as nginx and Apache do with what they compress. Those would never match by RFC 9110 section 13.1.1.
    package static func condition(_ headers: HTTPFields) -> (@Sendable (Int64) -> Bool)? {
        guard let tags = tags(headers, .ifMatch) else { return nil }
        let plain = Set(tags.map(untransformed))
        return { version in plain.contains("*") || plain.contains(text(of: version)) }
    }

    private static func untransformed(_ tag: String) -> String {
        let strong = tag.hasPrefix("W/\"") ? String(tag.dropFirst(2)) : tag
        let coding = ["-gzip\"", "-br\"", "-zstd\"", "-deflate\""].first(where: strong.hasSuffix)
        return coding.map { strong.dropLast($0.utf8.count) + "\"" } ?? strong
    }

    /// Whether the caller has what this tag stands for already, by `If-None-Match`; weak tags count.
    package static func isKnown(_ tag: String, to headers: HTTPFields) -> Bool {
        guard let tags = tags(headers, .ifNoneMatch) else { return false }
        return tags.contains("*") || tags.contains(tag) || tags.contains("W/" + tag)
    }

    /// The elements of a list of tags. Ours hold no comma.
    private static func tags(_ headers: HTTPFields, _ name: HTTPField.Name) -> Set<String>? {
        guard let header = headers[name] else { return nil }
        return Set(header.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } })
    }
}
