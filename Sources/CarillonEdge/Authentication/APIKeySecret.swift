package import CarillonCore

/// An API key as its owner holds it: `ck_<id>_<secret>_<network>`.
///
/// It says to which network it belongs, so that a key which is used on another network can be told from a wrong one
/// without a search over all networks. That part is no secret and is not trusted: the hash decides.
package struct APIKeySecret: Sendable {
    package static let prefix = "ck_"
    private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    /// What the key is listed and revoked by.
    package let id: String
    /// The network that it claims to belong to.
    package let networkID: NetworkID
    private let secret: String

    /// A new key: 43 random letters and digits make 256 bits.
    private init(for networkID: NetworkID) {
        self.networkID = networkID
        id = Self.random(12)
        secret = Self.random(43)
    }

    /// Makes a key: as it is shown, and as it is stored.
    package static func make(
        for networkID: NetworkID,
        role: APIKeyRole,
        label: String?,
        at now: Timestamp
    ) -> (shown: APIKeySecret, stored: StoredAPIKey) {
        let secret = APIKeySecret(for: networkID)
        let key = APIKey(id: secret.id, networkID: networkID, role: role, label: label, createdAt: now)
        return (secret, StoredAPIKey(key: key, secretHash: SecretHash(of: secret.secret)))
    }

    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(
            separator: "_",
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty,
            let network = Base64URL.decode(parts[2].utf8),
            let networkID = String(validating: network, as: UTF8.self).flatMap({ NetworkID($0) })
        else { return nil }
        id = String(parts[0])
        secret = String(parts[1])
        self.networkID = networkID
    }

    /// The key as it is shown, once.
    package var text: String { "\(Self.prefix)\(id)_\(secret)_\(Base64URL.encode(networkID.rawValue.utf8))" }

    /// Whether this is the stored key; takes the same time wherever they differ.
    package func matches(_ stored: StoredAPIKey) -> Bool { stored.secretHash.matches(secret) }

    /// Random letters and digits, almost six bits each.
    package static func random(_ count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return String(
            decoding: (0..<count).map { _ in digits[Int.random(in: digits.indices, using: &generator)] },
            as: UTF8.self
        )
    }
}
