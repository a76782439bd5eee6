import CarillonCore
import CarillonEdge
import Foundation
import Hummingbird

/// The keys that verify a network's user tokens (API section 2). For admins.
///
/// Several are valid at once, so that one can be changed without anybody's token becoming invalid: the new one is added,
/// the issuer goes over to it, and when the last of its former tokens has ended the old one is removed.
struct UserTokenKeyController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/user-token-keys") { request in
            let keys = try await services.accounts.userTokenKeys(of: request.network)
            return .json(["items": .array(keys.map(\.json))])
        }
        admins.post("/user-token-keys", use: add)
        admins.remove("/user-token-keys/{id}") { request in
            guard let id = UUID(uuidString: try request.context.segment("id")),
                try await services.accounts.deleteUserTokenKey(id, of: request.network)
            else { return false }
            services.cache.invalidate(request.network)
            return true
        }
        // The oldest key: the only one, where there is no other.
        admins.show("/user-token-key") { request in
            try await services.accounts.userTokenKeys(of: request.network).first.map { .object($0.key.json) }
        }
        admins.put("/user-token-key") { request in
            let key = try Self.checked(UserTokenKey(json: await request.json()))
            try await set([StoredUserTokenKey(id: services.ids.next(), key: key)], of: request.network)
            return .json(.object(key.json))
        }
        admins.delete("/user-token-key") { request in
            try await set([], of: request.network)
            return .noContent
        }
    }

    /// Adds a key; a secret that the caller does not name is made, and shown once.
    private func add(_ request: NetworkRequest) async throws -> Response {
        let body = try await request.json()
        let made = Secret(APIKeySecret.random(43))
        let key = try Self.checked(UserTokenKey(json: body, secretIfNone: made))
        let stored = StoredUserTokenKey(id: services.ids.next(), key: key)
        let answer = stored.json(revealing: key == .hs256(made) ? made : nil)
        let creation = try await services.accounts.addUserTokenKey(
            stored,
            of: request.network,
            answering: request.repeatable(body, answering: answer)
        )
        services.cache.invalidate(request.network)
        guard let response = creation.response(answer) else {
            throw Problem.full("keys of user tokens", StoredUserTokenKey.maximumCount)
        }
        return response
    }

    private func set(_ keys: [StoredUserTokenKey], of network: NetworkID) async throws {
        try await services.accounts.setUserTokenKeys(keys, of: network)
        services.cache.invalidate(network)
    }

    /// Passes a key that tokens can be verified with.
    private static func checked(_ key: UserTokenKey) throws(InvalidInput) -> UserTokenKey {
        guard TokenVerifier(key) == nil else { return key }
        throw InvalidInput(
            problem: "invalid-user-token-key",
            pointer: "/publicKey",
            detail: "must be a public key in PEM: P-256 for ES256, RSA of 2048 bits or more for RS256"
        )
    }
}

extension StoredUserTokenKey {
    fileprivate var json: JSONValue { json(revealing: nil) }

    fileprivate func json(revealing secret: Secret?) -> JSONValue {
        .object(
            JSONObject(
                joining: ["id": .string(id.canonicalText)],
                key.json,
                ["secret": secret.map { $0.reveal(JSONValue.string) }]
            )
        )
    }
}
