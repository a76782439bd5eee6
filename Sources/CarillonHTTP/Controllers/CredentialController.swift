import CarillonCore
import HTTPTypes
import Hummingbird

/// A network's API keys, webhook secrets and user token key (API section 2). For admins.
struct CredentialController: Sendable {
    let authenticator: Authenticator
    let accounts: any AccountStore
    let cache: CredentialCache
    let clock: WallClock

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.get("/v1/networks/{network}/api-keys", use: listKeys)
        router.post("/v1/networks/{network}/api-keys", use: createKey)
        router.delete("/v1/networks/{network}/api-keys/{id}", use: deleteKey)
        router.post("/v1/networks/{network}/webhook-secrets/rotate", use: rotateWebhookSecret)
        router.get("/v1/networks/{network}/user-token-key", use: showUserTokenKey)
        router.put("/v1/networks/{network}/user-token-key", use: putUserTokenKey)
        router.delete("/v1/networks/{network}/user-token-key", use: deleteUserTokenKey)
    }

    private func listKeys(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        let page = try Page(QueryParameters(request))
        let keys = try await accounts.apiKeys(of: access.networkID, after: page.after, limit: page.fetchLimit)
        return page.answer(keys, key: \.id, \.json)
    }

    private func createKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        let (role, label) = try await RequestBodyReader.json(of: request).read(as: "invalid-api-key") {
            reader -> (APIKeyRole, String?)? in
            let role = reader.choice("role", as: APIKeyRole.self, required: true)
            let label = reader.label()
            return role.map { ($0, label) }
        }
        let (secret, stored) = APIKeySecret.make(for: access.networkID, role: role, label: label, at: clock.now())
        try await accounts.addAPIKey(stored)
        cache.invalidate(access.networkID)
        return .json(stored.key.json(revealing: secret), status: .created)
    }

    private func deleteKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        let id = try context.identifier("id", as: APIKey.self)
        let existed = try await accounts.deleteAPIKey(id.rawValue, of: access.networkID)
        cache.invalidate(access.networkID)
        guard existed else { throw Problem.notFound() }
        return .noContent
    }

    private func rotateWebhookSecret(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        let overlap = try await RequestBodyReader.overlap(of: request)
        let secret = WebhookSecret.generate()
        try await accounts.rotateWebhookSecret(of: access.networkID, to: secret, overlap: overlap)
        cache.invalidate(access.networkID)
        return .json(["webhookSecret": .string(secret.text.reveal { $0 })], status: .created)
    }

    private func showUserTokenKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        guard let credentials = try await accounts.credentials(of: access.networkID) else { throw Problem.notFound() }
        guard let key = credentials.userTokenKeys.first else {
            throw credentials.hasUnreadableUserTokenKeys ? Problem.wrongMasterKey : Problem.notFound()
        }
        return .json(key.json)
    }

    private func putUserTokenKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await authenticator.admin(request, context)
        let key = try UserTokenKey(json: await RequestBodyReader.json(of: request))
        do {
            _ = try await UserTokenVerifier(key)
        } catch {
            throw InvalidInput(
                problem: "invalid-user-token-key",
                pointer: "/publicKey",
                detail: "must be a public key in PEM: P-256 for ES256, RSA of 2048 bits or more for RS256"
            )
        }
        try await setUserTokenKeys([key], access)
        return .json(key.json)
    }

    private func deleteUserTokenKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await setUserTokenKeys([], authenticator.admin(request, context))
        return .noContent
    }

    private func setUserTokenKeys(_ keys: [UserTokenKey], _ access: Access) async throws {
        try await accounts.setUserTokenKeys(keys, of: access.networkID)
        cache.invalidate(access.networkID)
    }
}

extension RequestBodyReader {
    /// Reads `{"overlapSeconds":…}`, which may be left out.
    static func overlap(of request: Request) async throws -> Duration {
        let body = try await optionalJSON(of: request) ?? .object(JSONObject())
        return try body.read(as: "invalid-rotation") { $0.overlap() }
    }
}
