import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// The providers of a network, their circuits and the webhooks' secret (API section 9). For admins.
struct ProviderController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/providers", use: list)
        router.get("/v1/networks/{network}/providers/webhook", use: showWebhook)
        router.put("/v1/networks/{network}/providers/webhook", use: putWebhook)
        router.delete("/v1/networks/{network}/providers/webhook", use: deleteWebhook)
        router.post("/v1/networks/{network}/providers/webhook/secret", use: rotateWebhookSecret)
    }

    /// Every provider and every credential is listed: what has no lane has had nothing to send lately, and its circuit is
    /// closed.
    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        // Endpoints show their circuits themselves.
        let active = await services.lanes().filter {
            $0.lane.networkID == access.networkID && $0.lane.endpoint == nil
        }
        var lanes = Set(active.map(\.lane))
        for (provider, appID) in try await services.credentials.providersWithCredentials(of: access.networkID) {
            let lane = Lane(networkID: access.networkID, provider: provider, appID: appID)
            // One for all lanes of a provider is not a lane of its own.
            if lane.app != nil { lanes.insert(lane) }
        }
        for provider in services.providers where !lanes.contains(where: { $0.provider == provider }) {
            lanes.insert(Lane(networkID: access.networkID, provider: provider, appID: ""))
        }
        let idle = lanes.subtracting(active.map(\.lane)).map { LaneStatus(lane: $0, circuit: .closed) }
        let all = (active + idle).sorted { $0.lane < $1.lane }
        var answer = JSONObject()
        answer["items"] = .array(all.map(\.json))
        if let stuck = services.stuckQueue(access.networkID) { answer["queue"] = stuck.json }
        return .json(.object(answer))
    }

    private func showWebhook(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        _ = try await admin(request, context)
        return Self.webhook
    }

    /// There is nothing to set: the secret is made on first use.
    private func putWebhook(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        _ = try await admin(request, context)
        try await RequestBodyReader.json(of: request).read(as: "invalid-provider") { _ in () }
        return Self.webhook
    }

    /// Forgets the secret: the next webhook is signed with a new one alone.
    private func deleteWebhook(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        _ = try await services.accounts.rotateOutgoingWebhookSecret(
            of: access.networkID,
            to: .generate(),
            overlap: .zero,
            answering: nil
        )
        await services.credentialChanged(access.networkID, .webhook, nil)
        return .noContent
    }

    private func rotateWebhookSecret(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let (overlap, body) = try await RequestBodyReader.overlap(of: request)
        let secret = WebhookSecret.generate()
        let answer: JSONValue = ["secret": .string(secret.text.reveal { $0 })]
        let creation = try await services.accounts.rotateOutgoingWebhookSecret(
            of: access.networkID,
            to: secret,
            overlap: overlap,
            answering: IdempotentRequest(request, by: access.admin, in: access.networkID, body: body, answer: answer)
        )
        await services.credentialChanged(access.networkID, .webhook, nil)
        return creation.response(answer) ?? .json(answer, status: .created)
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
