import CarillonCore
import CarillonEdge

extension APIKey {
    var json: JSONValue { json(revealing: nil) }

    /// The key, perhaps with the secret that is shown once.
    func json(revealing secret: APIKeySecret?) -> JSONValue {
        [
            "id": .string(id),
            "role": .string(role.rawValue),
            "label": JSONValue(label),
            "createdAt": JSONValue(createdAt),
            "apiKey": secret.map { .string($0.text) },
        ]
    }
}

extension UserTokenKey {
    /// What may be shown of the key: a public key, but never a secret.
    var json: JSONObject {
        switch self {
        case .hs256: ["algorithm": "HS256"]
        case .es256(let publicKey): ["algorithm": "ES256", "publicKey": .string(publicKey)]
        case .rs256(let publicKey): ["algorithm": "RS256", "publicKey": .string(publicKey)]
        }
    }

    private enum Algorithm: String, CaseIterable {
        case hs256 = "HS256"
        case es256 = "ES256"
        case rs256 = "RS256"
    }

    private static let maximumPEMBytes = 8192

    /// Reads `{"algorithm","publicKey"}` or `{"algorithm":"HS256","secret"}`; whether the key can be used is not checked.
    ///
    /// Without a secret it is `made`, where there is one.
    init(json: JSONValue, secretIfNone made: Secret? = nil) throws(InvalidInput) {
        self = try json.read(as: "invalid-user-token-key") { reader in
            guard let algorithm = reader.choice("algorithm", as: Algorithm.self, required: true) else { return nil }
            guard algorithm == .hs256 else {
                let key = reader.string("publicKey", required: true, maximumBytes: Self.maximumPEMBytes)
                return key.map { algorithm == .es256 ? .es256(publicKey: $0) : .rs256(publicKey: $0) }
            }
            let secret = reader.string("secret", required: made == nil)
            if let secret, secret.utf8.count < TokenVerifier.minimumSecretBytes {
                reader.refuse("secret", "must be at least \(TokenVerifier.minimumSecretBytes) bytes")
            }
            return (secret.map { Secret($0) } ?? made).map { .hs256($0) }
        }
    }
}

extension JSONObjectReader {
    /// How long a former secret goes on being valid: at most seven days, a day unless told otherwise.
    mutating func overlap() -> Duration {
        .seconds(integer("overlapSeconds", in: 0...604_800) ?? 86_400)
    }
}
