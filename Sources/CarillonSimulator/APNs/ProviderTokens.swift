import Crypto
import Synchronization

/// Verifies the provider tokens of APNs; each signature once.
///
/// - SeeAlso: "Establishing a token-based connection to APNs", Apple's developer documentation.
final class ProviderTokens: Sendable {
    /// A token that is good until it is too old.
    struct Accepted {
        var keyID: String
        var issuedAt: Int64
    }

    fileprivate struct State {
        var keys: [String: APNsKey] = [:]
        var accepted: [String: Accepted] = [:]
    }

    private static let maximumAge: Int64 = 60 * 60
    fileprivate static let minimumInterval: Int64 = 20 * 60
    private static let clockSkew: Int64 = 60
    private static let limit = 1000
    private let limitsUpdates: Bool
    private let state = Mutex(State())

    init(limitsUpdates: Bool) {
        self.limitsUpdates = limitsUpdates
    }

    /// Tokens signed with this key are good from now on.
    func register(_ key: APNsKey) {
        state.withLock { $0.keys[key.keyID] = key }
    }

    /// Verifies the value of `authorization` at a time in seconds since 1970.
    func verify(_ authorization: String, now: Int64) throws(APNsRefusal) -> Accepted {
        try state.withLock { state throws(APNsRefusal) in
            let known = state.accepted[authorization]
            let accepted = if let known { known } else { try Self.check(authorization, keys: state.keys) }
            if now - accepted.issuedAt > Self.maximumAge { throw APNsRefusal(.expiredProviderToken) }
            if accepted.issuedAt - now > Self.clockSkew { throw APNsRefusal(.invalidProviderToken) }
            if known == nil {
                if limitsUpdates, state.hasTokenNear(accepted) { throw APNsRefusal(.tooManyProviderTokenUpdates) }
                if state.accepted.count >= Self.limit { state.accepted = [:] }
                state.accepted[authorization] = accepted
            }
            return accepted
        }
    }

    private static func check(_ authorization: String, keys: [String: APNsKey]) throws(APNsRefusal) -> Accepted {
        guard authorization.prefix(7).lowercased() == "bearer ", let token = CompactJWT(authorization.dropFirst(7)),
            token.header.alg == "ES256", let keyID = token.header.kid, let key = keys[keyID],
            token.claims.iss == key.teamID,
            let issuedAt = token.claims.iat, issuedAt == issuedAt.rounded(), abs(issuedAt) < 1e12,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            key.publicKey.isValidSignature(signature, for: token.signedBytes)
        else { throw APNsRefusal(.invalidProviderToken) }
        return Accepted(keyID: keyID, issuedAt: Int64(issuedAt))
    }
}

extension ProviderTokens.State {
    /// Whether another token of the same key was issued less than 20 minutes before or after.
    fileprivate func hasTokenNear(_ token: ProviderTokens.Accepted) -> Bool {
        accepted.values.contains {
            $0.keyID == token.keyID && abs($0.issuedAt - token.issuedAt) < ProviderTokens.minimumInterval
        }
    }
}

/// A key of Apple's developer portal with which provider tokens are signed, as the simulator makes them.
package struct APNsKey: Sendable {
    /// The team it belongs to, ten characters.
    package let teamID: String
    /// Its name, ten characters.
    package let keyID: String
    /// The contents of the `.p8` file: PKCS#8 in PEM.
    package let privateKeyPEM: String
    let publicKey: P256.Signing.PublicKey

    init(teamID: String, keyID: String) {
        let key = P256.Signing.PrivateKey()
        self.teamID = teamID
        self.keyID = keyID
        privateKeyPEM = key.pemRepresentation + "\n"
        publicKey = key.publicKey
    }
}
