import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// A network's API keys and webhook secrets (API section 2). For admins.
struct CredentialController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/api-keys", use: listKeys)
        router.post("/v1/networks/{network}/api-keys", use: createKey)
        router.delete("/v1/networks/{network}/api-keys/{id}", use: deleteKey)
        router.post("/v1/networks/{network}/webhook-secrets/rotate", use: rotateWebhookSecret)
    }

    private func listKeys(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let page = try Page(QueryParameters(request))
        let keys = try await services.accounts.apiKeys(of: access.networkID, after: page.after, limit: page.fetchLimit)
        return page.answer(keys, key: \.id, \.json)
    }

    private func createKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let (role, label) = try body.read(as: "invalid-api-key") { reader -> (APIKeyRole, String?)? in
            let role = reader.choice("role", as: APIKeyRole.self, required: true)
            let label = reader.label()
            return role.map { ($0, label) }
        }
        let (secret, stored) = APIKeySecret.make(
            for: access.networkID,
            role: role,
            label: label,
            at: services.clock.now()
        )
        let answer = stored.key.json(revealing: secret)
        let creation = try await services.accounts.addAPIKey(
            stored,
            answering: IdempotentRequest(request, by: access.admin, in: access.networkID, body: body, answer: answer)
        )
        services.cache.invalidate(access.networkID)
        guard let response = creation.response(answer) else {
            throw Problem.full("API keys", APIKey.maximumCount)
        }
        return response
    }

    private func deleteKey(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let id = try context.identifier("id", as: APIKey.self)
        let force = try QueryParameters(request).flag("force")
        let removal = try await services.accounts.deleteAPIKey(id.rawValue, of: access.networkID, force: force)
        services.cache.invalidate(access.networkID)
        switch removal {
        case .removed: return .noContent
        case .unknown: throw Problem.notFound()
        case .lastAdmin:
            throw Problem.conflict(
                "last-admin-key",
                "\(id.rawValue) is the network's last key of role admin: make another first, or repeat with ?force=true"
            )
        }
    }

    private func rotateWebhookSecret(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let (overlap, body) = try await RequestBodyReader.overlap(of: request)
        let secret = WebhookSecret.generate()
        let answer: JSONValue = ["webhookSecret": .string(secret.text.reveal { $0 })]
        let creation = try await services.accounts.rotateWebhookSecret(
            .incoming,
            of: access.networkID,
            to: secret,
            overlap: overlap,
            answering: IdempotentRequest(request, by: access.admin, in: access.networkID, body: body, answer: answer)
        )
        services.cache.invalidate(access.networkID)
        return creation.response(answer) ?? .json(answer, status: .created)
    }
}
