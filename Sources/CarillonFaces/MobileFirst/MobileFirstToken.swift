import CarillonCore
import CarillonEdge
import _CryptoExtras

/// An access token in its compact form (RFC 7519), read but not verified.
struct MobileFirstToken: Sendable {
    /// How far an issuer's clock may be ahead of ours; an end is not extended by it.
    private static let clockTolerance = Duration.seconds(10)
    /// The longest token that is looked at.
    private static let maximumBytes = 8_192

    let algorithm: String
    let claims: JSONObject
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// Reads a token; `nil` when it is none, or demands what we do not know (`crit`).
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes else { return nil }
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, let signature = Base64URL.decode(segments[2]),
            let header = Self.object(segments[0]), let claims = Self.object(segments[1]),
            case .string(let algorithm)? = header["alg"], header["crit"] == nil
        else { return nil }
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        signedBytes = Array(segments[0]) + [UInt8(ascii: ".")] + Array(segments[1])
    }

    private static func object(_ segment: Substring.UTF8View) -> JSONObject? {
        guard let bytes = Base64URL.decode(segment), case .object(let object)? = try? JSONValue(parsing: bytes) else {
            return nil
        }
        return object
    }

    func text(_ claim: String) -> String? {
        if case .string(let text)? = claims[claim] { text } else { nil }
    }

    /// Whether it says that it is valid now: it has to say until when.
    func isCurrent(at now: Timestamp) -> Bool {
        let seconds = Double(now.milliseconds) / 1_000
        let latestStart = Double((now + Self.clockTolerance).milliseconds) / 1_000
        guard let end = number("exp"), seconds < end else { return false }
        for claim in ["nbf", "iat"] where claims[claim] != nil {
            guard let start = number(claim), start <= latestStart else { return false }
        }
        return true
    }

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
        guard algorithm == "RS256", text("iss") == issuer.name,
            let key = try? _RSA.Signing.PublicKey(pemRepresentation: issuer.publicKey)
        else { return false }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: signedBytes, padding: .insecurePKCS1v1_5)
    }

    private func number(_ claim: String) -> Double? {
        if case .number(let number)? = claims[claim] { number.double } else { nil }
    }
}

/// What a back end is handed for its client id and secret: a JWT of our own.
struct MobileFirstGrant: Sendable, Equatable {
    /// For how long it is good.
    static let lifetime = Duration.seconds(3_600)
    private static let issuer = "carillon/imfpush"

    /// The network of the key.
    var networkID: NetworkID
    /// The client id: the key's name.
    var client: String
    /// Tells this key from a later one of the same name.
    var fingerprint: String
    /// What it is good for.
    var rights: MobileFirstRights

    /// What a key is granted.
    init(_ stored: StoredFaceKey, _ rights: MobileFirstRights) {
        networkID = stored.key.networkID
        client = stored.key.name
        fingerprint = Self.fingerprint(of: stored)
        self.rights = rights
    }

    /// Reads a token of ours; `nil` for anything else, and for one that has ended.
    init?(_ token: MobileFirstToken, _ secret: FaceSecret, at now: Timestamp) {
        guard token.algorithm == "HS256", token.text("iss") == Self.issuer,
            secret.verifies(token.signature, of: token.signedBytes, for: .imfpush), token.isCurrent(at: now),
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
        let header: JSONValue = ["alg": "HS256", "typ": "JWT"]
        let claims: JSONValue = [
            "iss": .string(Self.issuer), "net": .string(networkID.rawValue), "sub": .string(client),
            "key": .string(fingerprint), "scope": .string(rights.scopes.sorted().joined(separator: " ")),
            "iat": JSONValue(start), "exp": JSONValue(start + Int(Self.lifetime.components.seconds)),
        ]
        let signed = Base64URL.encode(header.serialized) + "." + Base64URL.encode(claims.serialized)
        return signed + "." + Base64URL.encode(secret.sign(Array(signed.utf8), for: .imfpush))
    }

    /// Whether the key is still there that it was granted to.
    func isHeld(by stored: StoredFaceKey) -> Bool { fingerprint == Self.fingerprint(of: stored) }

    private static func fingerprint(of stored: StoredFaceKey) -> String {
        guard case .hash(let hash) = stored.proof else { return "" }
        return Base64URL.encode(hash.prefix(9))
    }
}
