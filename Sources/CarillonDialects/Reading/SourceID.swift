import CarillonCore

/// The ids by which events of others are known here: readable where that is unambiguous, a digest otherwise.
enum SourceID {
    private static let separator: Character = "|"

    /// The id of something that its sender names by several parts.
    static func of(_ dialect: DialectName, _ parts: String...) -> String { of(dialect, parts) }

    static func of(_ dialect: DialectName, _ parts: [String]) -> String {
        let text = dialect.rawValue + String(separator) + parts.joined(separator: String(separator))
        if !parts.contains(where: { $0.contains(separator) }), Identifier<Event>(text) != nil { return text }
        return dialect.rawValue + String(separator) + parts.digest.hexadecimal
    }

    /// The id of what a body says, which has no other.
    static func of(_ dialect: DialectName, body: [UInt8]) -> String {
        dialect.rawValue + String(separator) + Proof.digest(body)
    }

    /// The id of one of several things that a body with an id says.
    static func at(_ index: Int, of id: String) -> String { index == 0 ? id : "\(id)\(separator)\(index)" }

    static func ofCloudEvent(_ id: String, from source: String) -> String {
        cloudEvent + Proof.digest(Array("\(source.utf8.count):\(source)\(id)".utf8))
    }

    static func isMadeHere(_ id: String) -> Bool {
        if id.hasPrefix(cloudEvent) { return id.utf8.count == ofCloudEvent("", from: "").utf8.count }
        guard let end = id.firstIndex(of: separator) else { return false }
        return DialectName(rawValue: String(id[..<end])) != nil
    }

    private static let cloudEvent = "ce-"
}
