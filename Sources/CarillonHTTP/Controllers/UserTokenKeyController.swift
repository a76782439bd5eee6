import CarillonCore
import CarillonEdge
import Foundation
import HTTPTypes
import Hummingbird

/// The keys that verify a network's user tokens (API section 2). For admins.
///
/// Several are valid at once, so that one can be changed without anybody's token becoming invalid: the new one is added,
/// the issuer goes over to it, and when the last of its former tokens has ended the old one is removed.
struct UserTokenKeyController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/user-token-keys", use: list)
        router.post("/v1/networks/{network}/user-token-keys", use: add)
        router.delete("/v1/networks/{network}/user-token-keys/{id}", use: remove)
        router.get("/v1/networks/{network}/user-token-key", use: show)
        router.put("/v1/networks/{network}/user-token-key", use: replaceAll)
        router.delete("/v1/networks/{network}/user-token-key", use: removeAll)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let keys = try await services.accounts.userTokenKeys(of: access.networkID)
        return .json(["items": .array(keys.map(\.json))])
    }

    /// Adds a key; a secret that the caller does not name is made, and shown once.
    private func add(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let made = Secret(APIKeySecret.random(43))
        let key = try Self.checked(UserTokenKey(json: body, secretIfNone: made))
        let stored = StoredUserTokenKey(id: services.ids.next(), key: key)
        let answer = stored.json(revealing: key == .hs256(made) ? made : nil)
        let creation = try await services.accounts.addUserTokenKey(
            stored,
            of: access.networkID,
            answering: IdempotentRequest(request, by: access.admin, in: access.networkID, body: body, answer: answer)
        )
        services.cache.invalidate(access.networkID)
        guard let response = creation.response(answer) else {
            throw Problem.full("keys of user tokens", StoredUserTokenKey.maximumCount)
        }
        return response
    }

    private func remove(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        guard let id = UUID(uuidString: try context.segment("id")),
            try await services.accounts.deleteUserTokenKey(id, of: access.networkID)
        else { throw Problem.notFound() }
        services.cache.invalidate(access.networkID)
        return .noContent
    }

    /// The oldest key: the only one, where there is no other.
    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        guard let key = try await services.accounts.userTokenKeys(of: access.networkID).first?.key else {
            throw Problem.notFound()
        }
        return .json(key.json)
    }

    private func replaceAll(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let key = try Self.checked(UserTokenKey(json: await RequestBodyReader.json(of: request)))
        try await set([StoredUserTokenKey(id: services.ids.next(), key: key)], access)
        return .json(key.json)
    }

    private func removeAll(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await set([], admin(request, context))
        return .noContent
    }

    private func set(_ keys: [StoredUserTokenKey], _ access: Access) async throws {
        try await services.accounts.setUserTokenKeys(keys, of: access.networkID)
        services.cache.invalidate(access.networkID)
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
        var object: JSONObject = ["id": .string(id.canonicalText)]
        if case .object(let shown) = key.json {
            for (name, value) in shown.members { object[name] = value }
        }
        if let secret { object["secret"] = .string(secret.reveal { $0 }) }
        return .object(object)
    }
}
