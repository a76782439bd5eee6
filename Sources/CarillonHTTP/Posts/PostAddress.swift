import CarillonCore
import CarillonDialects

/// What a request is posted to, where nothing in its address has to be decoded and there is no query.
struct PostAddress {
    enum Kind {
        case event
        case notification
        case dialect(any EventDialect)

        /// What its posts are counted by.
        var name: String {
            switch self {
            case .event: "events"
            case .notification: "notifications"
            case .dialect(let dialect): "events/\(dialect.name.rawValue)"
            }
        }

        /// The most bytes of a body that is read on an event loop, which everybody else's connections wait for. Where each of several events
        /// has all people of the body, few bytes make many.
        var largestBody: Int {
            if case .dialect(let dialect) = self, dialect.mayHoldSeveral { 4 << 10 } else { 32 << 10 }
        }

        /// The pattern of its addresses.
        var route: String { "/v1/networks/{network}/\(name)" }
    }

    private static let prefix = "/v1/networks/"

    let networkID: NetworkID
    let kind: Kind

    /// Reads the target of a request; `nil` for one that no ``EventPost`` comes to.
    init?(_ target: String) {
        guard target.hasPrefix(Self.prefix) else { return nil }
        let path = target.dropFirst(Self.prefix.utf8.count)
        guard let end = path.utf8.firstIndex(of: UInt8(ascii: "/")), let kind = Kind(path[end...]),
            let networkID = Self.networkID(path[..<end])
        else { return nil }
        self.networkID = networkID
        self.kind = kind
    }

    private static func networkID(_ segment: Substring) -> NetworkID? {
        guard segment.utf8.allSatisfy(\.isUnreserved), segment.utf8.contains(where: { $0 != UInt8(ascii: ".") })
        else { return nil }
        return NetworkID(String(segment))
    }
}

extension PostAddress.Kind {
    private static let dialects = "/events/"

    fileprivate init?(_ path: Substring) {
        switch path {
        case "/events": self = .event
        case "/notifications": self = .notification
        default:
            // A homeserver has errors of its own, and posts by other paths.
            guard path.hasPrefix(Self.dialects),
                let name = DialectName(rawValue: String(path.dropFirst(Self.dialects.utf8.count))), name != .matrix
            else { return nil }
            self = .dialect(Dialects.named(name))
        }
    }
}
