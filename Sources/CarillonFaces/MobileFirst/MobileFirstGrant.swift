import CarillonCore
import CarillonEdge

/// What a back end is handed for its client id and secret: a JWT of our own.
struct MobileFirstGrant: Sendable, Equatable {
    static let lifetime = Duration.seconds(3_600)
    private static let issuer = "carillon/imfpush"

    var networkID: NetworkID
    /// The client id: the key's name.
    var client: String
    /// Tells this key from a later one of the same name.
    var fingerprint: String
    var rights: MobileFirstRights

    init(_ stored: StoredFaceKey, _ rights: MobileFirstRights) {
        networkID = stored.key.networkID
        client = stored.key.name
        fingerprint = Self.fingerprint(of: stored)
        self.rights = rights
    }

    /// Reads a token of ours; `nil` for anything else, and for one that has ended.
    init?(_ token: SignedToken, _ secret: FaceSecret, at now: Timestamp) {
        guard token.text("iss") == Self.issuer, secret.signed(token, for: .imfpush), token.isCurrent(at: now),
            let network = token.text("net").flatMap(NetworkID.init), let client = token.text("sub"),
            let fingerprint = token.text("key")
        else { return nil }
        networkID = network
        self.client = client
        self.fingerprint = fingerprint
        rights = token.scopes
    }

    func token(_ secret: FaceSecret, at now: Timestamp) -> String {
        let start = Int(now.milliseconds / 1_000)
        let claims: JSONObject = [
            "iss": .string(Self.issuer), "net": .string(networkID.rawValue), "sub": .string(client),
            "key": .string(fingerprint), "scope": .string(rights.scopes.sorted().joined(separator: " ")),
            "iat": JSONValue(start), "exp": JSONValue(start + Int(Self.lifetime.components.seconds)),
        ]
        return JSONWebToken.make(claims) { secret.sign($0, for: .imfpush) }
    }

    /// Whether the key is still there that it was granted to.
    func isHeld(by stored: StoredFaceKey) -> Bool { fingerprint == Self.fingerprint(of: stored) }

    private static func fingerprint(of stored: StoredFaceKey) -> String {
        guard case .hash(let hash) = stored.proof else { return "" }
        return Base64URL.encode(hash.bytes.prefix(9))
    }
}

extension SignedToken {
    /// Whether it is valid now, as far as its own words go: an issuer's clock may be ahead of ours.
    func isCurrent(at now: Timestamp) -> Bool { !hasEnded(at: now) && hasBegun(at: now, tolerance: .seconds(10)) }

    /// The scopes of claim `scope`, in one text or in a list.
    var scopes: MobileFirstRights {
        switch claims["scope"] {
        case .string(let text)?: MobileFirstRights(trusted: text.split(separator: " ").map(String.init))
        case let list?: MobileFirstRights(list)
        case nil: MobileFirstRights(trusted: [])
        }
    }

    /// Whether an issuer signed it with RS256 (RFC 7518 section 3.3), the one algorithm of MobileFirst's servers.
    func isSigned(by issuer: MobileFirstApplication.Issuer) -> Bool {
        text("iss") == issuer.name && TokenVerifier(.rs256(publicKey: issuer.publicKey))?.verifies(self) ?? false
    }
}
