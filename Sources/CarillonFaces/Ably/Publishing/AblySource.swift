import CarillonCore
import struct Foundation.UUID

/// What Carillon knows by which Ably's clients published something: whose application it was, and of a message what it is called.
enum AblySource {
    private static let prefix = "ably:"

    /// A message on a channel, which is recognised when it comes again.
    static func id(of message: String, on channel: TagID, of appID: String) -> String {
        // The message's own id where it can stand there, so that the push log can name it.
        let digest = Base64URL.encode([appID, channel.rawValue].digest.prefix(16))
        let id = "\(prefix)\(appID):\(digest):\(message)"
        if Identifier<Event>(id) != nil { return id }
        return "\(prefix)\(appID)::\(Base64URL.encode([appID, channel.rawValue, message].digest))"
    }

    /// Something that has no id of its own, and never comes again.
    static func newID(of appID: String) -> String { "\(prefix)\(appID)::\(EventID(UUID()))" }

    /// Whose it is; `nil` for what Ably's clients did not publish.
    static func appID(of id: String) -> String? { parts(of: id)?.first.map(String.init) }

    static func messageID(of id: String) -> String? {
        guard let parts = parts(of: id), !parts[1].isEmpty else { return nil }
        return AblyMessages.base(of: String(parts[2]))
    }

    private static func parts(of id: String) -> [Substring]? {
        guard id.hasPrefix(prefix) else { return nil }
        let parts = id.dropFirst(prefix.count).split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        // Former releases gave messages ids of one part.
        return parts.count == 3 ? parts : nil
    }
}
