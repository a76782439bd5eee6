import CarillonCore
import CarillonEdge
import Hummingbird

/// A network's API keys and webhook secrets (API section 2). For admins.
struct CredentialController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/api-keys") { request in
            try await request.list(by: \APIKey.id, after: { $0 }, json: \APIKey.json) {
                try await services.accounts.apiKeys(of: request.network, after: $0, limit: $1)
            }
        }
        admins.post("/api-keys", use: createKey)
        admins.delete("/api-keys/{id}", use: deleteKey)
        admins.post("/webhook-secrets/rotate", use: rotateWebhookSecret)
    }

    private func createKey(_ request: NetworkRequest) async throws -> Response {
        let body = try await request.json()
        let (role, label) = try body.read(as: "invalid-api-key") { reader -> (APIKeyRole, String?)? in
            let role = reader.choice("role", as: APIKeyRole.self, required: true)
            let label = reader.label()
            return role.map { ($0, label) }
        }
        let (secret, stored) = APIKeySecret.make(
            for: request.network,
            role: role,
            label: label,
            at: services.clock.now()
        )
        let answer = stored.key.json(revealing: secret)
        let creation = try await services.accounts.addAPIKey(
            stored,
            answering: request.repeatable(body, answering: answer)
        )
        services.cache.invalidate(request.network)
        guard let response = creation.response(answer) else {
            throw Problem.full("API keys", APIKey.maximumCount)
        }
        return response
    }

    private func deleteKey(_ request: NetworkRequest) async throws -> Response {
        let id = try request.id("id", as: APIKey.self).rawValue
        let force = try request.query.flag("force")
        let removal = try await services.accounts.deleteAPIKey(id, of: request.network, force: force)
        services.cache.invalidate(request.network)
        switch removal {
        case .removed: return .noContent
        case .unknown: throw Problem.notFound()
        case .lastAdmin:
            throw Problem.conflict(
                "last-admin-key",
                "\(id) is the network's last key of role admin: make another first, or repeat with ?force=true"
            )
        }
    }

    private func rotateWebhookSecret(_ request: NetworkRequest) async throws -> Response {
        let response = try await request.rotatingSecret(shownAs: "webhookSecret") { secret, overlap, repeatable in
            try await services.accounts.rotateWebhookSecret(
                .incoming,
                of: request.network,
                to: secret,
                overlap: overlap,
                answering: repeatable
            )
        }
        services.cache.invalidate(request.network)
        return try response.found()
    }
}
