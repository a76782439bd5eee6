import CarillonCore
import CarillonEdge
import Hummingbird

/// The providers of a network, their circuits and the webhooks' secret (API section 9). For admins.
struct ProviderController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/providers", use: list)
        admins.get("/providers/webhook") { _ in Self.webhook }
        // There is nothing to set: the secret is made on first use.
        admins.put("/providers/webhook") { request in
            try await request.json().read(as: "invalid-provider") { _ in () }
            return Self.webhook
        }
        admins.delete("/providers/webhook", use: deleteWebhook)
        admins.post("/providers/webhook/secret", use: rotateWebhookSecret)
    }

    /// Every provider and every credential is listed: what has no lane has had nothing to send lately, and its circuit is
    /// closed.
    private func list(_ request: NetworkRequest) async throws -> Response {
        // Endpoints show their circuits themselves.
        let active = await services.lanes().filter {
            $0.lane.networkID == request.network && $0.lane.endpoint == nil
        }
        var lanes = Set(active.map(\.lane))
        for (provider, appID) in try await services.credentials.providersWithCredentials(of: request.network) {
            let lane = Lane(networkID: request.network, provider: provider, appID: appID)
            // One for all lanes of a provider is not a lane of its own.
            if lane.app != nil { lanes.insert(lane) }
        }
        for provider in services.providers where !lanes.contains(where: { $0.provider == provider }) {
            lanes.insert(Lane(networkID: request.network, provider: provider, appID: ""))
        }
        let idle = lanes.subtracting(active.map(\.lane)).map { LaneStatus(lane: $0, circuit: .closed) }
        let all = (active + idle).sorted { $0.lane < $1.lane }
        return .json(["items": .array(all.map(\.json)), "queue": services.stuckQueue(request.network)?.json])
    }

    /// Forgets the secret: the next webhook is signed with a new one alone.
    private func deleteWebhook(_ request: NetworkRequest) async throws -> Response {
        _ = try await services.accounts.rotateWebhookSecret(
            .outgoing,
            of: request.network,
            to: .generate(),
            overlap: .zero,
            answering: nil
        )
        await services.credentialChanged(request.network, .webhook, nil)
        return .noContent
    }

    private func rotateWebhookSecret(_ request: NetworkRequest) async throws -> Response {
        let response = try await request.rotatingSecret(shownAs: "secret") { secret, overlap, repeatable in
            try await services.accounts.rotateWebhookSecret(
                .outgoing,
                of: request.network,
                to: secret,
                overlap: overlap,
                answering: repeatable
            )
        }
        await services.credentialChanged(request.network, .webhook, nil)
        return try response.found()
    }

    private static let webhook = Response.json(["provider": "webhook"])
}

extension StuckQueue {
    /// What admins of networks are told: which claims fail, and not what the database says of itself.
    fileprivate var json: JSONValue {
        [
            "oldestSeconds": JSONValue(Int(waited.components.seconds)),
            "failing": JSONValue(failures.map(\.step.words)),
        ]
    }
}
