import CarillonCore
import CarillonEdge
import Hummingbird

/// A network's endpoints (FACES section C1). For admins.
struct EndpointController: Controller {
    private static let testTimeout = Duration.seconds(10)

    let services: Services

    private var reader: EndpointReader { EndpointReader(egress: services.egress) }

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/endpoints") { request in
            let page = try request.page()
            let endpoints = try await services.endpoints.endpoints(of: request.network)
            let circuits = await circuits(in: request.network)
            return page.answer(endpoints, by: \.id.rawValue) { $0.json(circuits[$0.id] ?? .closed) }
        }
        admins.post("/endpoints", use: create)
        let endpoint = "/endpoints/{endpoint}"
        admins.get(endpoint) { try await answer(services.endpoint(of: $0), in: $0.network) }
        admins.put(endpoint) { request in
            let id = try request.id("endpoint", as: Endpoint.self)
            let draft = try await reader.draft(request.json())
            return try await change(id, in: request.network) { _ in draft }
        }
        // Takes over what a merge patch (RFC 7396) names: `null` stands for the default.
        admins.patch(endpoint) { request in
            let id = try request.id("endpoint", as: Endpoint.self)
            let patch = try await request.mergePatch()
            let reader = self.reader
            return try await change(id, in: request.network) { try reader.draft($0.settings.merging(patch)) }
        }
        admins.remove(endpoint) { request in
            let existed = try await services.endpoints.deleteEndpoint(request.id("endpoint"), of: request.network)
            await services.endpointsChanged(request.network)
            return existed
        }
        admins.post("\(endpoint)/secret/rotate", use: rotateSecret)
        admins.post("\(endpoint)/test", use: test)
    }

    /// Makes an endpoint, with a secret that is shown once.
    private func create(_ request: NetworkRequest) async throws -> Response {
        let body = try await request.json()
        let draft = try reader.draft(body)
        let now = services.clock.now()
        let id = EndpointID(trusted: "e-\(services.ids.next().canonicalText)")
        let endpoint = draft.apply(to: Endpoint(id: id, settings: draft.settings, createdAt: now), at: now)
        let secret = WebhookSecret.generate()
        let answer: JSONValue = [
            "endpoint": endpoint.json(.closed),
            "secret": .string(secret.text.reveal { $0 }),
        ]
        let creation = try await services.endpoints.addEndpoint(
            endpoint,
            secret: secret,
            of: request.network,
            answering: request.repeatable(body, answering: answer)
        )
        await services.endpointsChanged(request.network)
        guard let response = creation.response(answer) else { throw Problem(EndpointRefusal.tooMany) }
        return response
    }

    private func change(
        _ id: EndpointID,
        in network: NetworkID,
        _ draft: @escaping @Sendable (Endpoint) throws -> EndpointDraft
    ) async throws -> Response {
        let now = services.clock.now()
        let endpoint = try await services.endpoints.updateEndpoint(id, of: network) { endpoint in
            try draft(endpoint).apply(to: endpoint, at: now)
        }
        let changed = try endpoint.found()
        await services.endpointsChanged(network)
        if changed.state == .enabled { await services.endpointEnabled(Lane(id, in: network)) }
        return await answer(changed, in: network)
    }

    /// Adds a secret; during the overlap the former one signs, too.
    private func rotateSecret(_ request: NetworkRequest) async throws -> Response {
        let id = try request.id("endpoint", as: Endpoint.self)
        let response = try await request.rotatingSecret(shownAs: "secret") { secret, overlap, repeatable in
            try await services.endpoints.rotateEndpointSecret(
                of: id,
                in: request.network,
                to: secret,
                overlap: overlap,
                answering: repeatable
            )
        }
        return try response.found()
    }

    /// Sends a message that says nothing, and tells what came back.
    private func test(_ request: NetworkRequest) async throws -> Response {
        let id = try request.id("endpoint", as: Endpoint.self)
        try await request.passEmptyBody(as: "invalid-test")
        let endpoint = try await services.endpoint(of: request)
        let now = services.clock.now()
        let message = EventID(services.ids.next()).description
        let body: JSONValue =
            endpoint.settings.format == .amity
            ? ["event": "endpoint.test", "data": [:]]
            : [
                "type": "endpoint.test",
                "timestamp": JSONValue(now),
                "data": ["endpointId": .string(id.rawValue)],
                "carillon": [
                    "eventId": .string(message), "networkId": .string(request.network.rawValue),
                    "receivedAt": JSONValue(now), "attempt": 1, "replay": false,
                ],
            ]
        let answer = await services.endpointCaller.call(
            EndpointCall(
                networkID: request.network,
                endpointID: id,
                url: endpoint.settings.url,
                secrets: try await services.endpoints.endpointSecrets(of: id, in: request.network),
                messageID: message,
                body: body.serialized,
                format: endpoint.settings.format,
                timeout: Self.testTimeout
            )
        )
        return .json(RelayAnswer(answer).json)
    }

    private func answer(_ endpoint: Endpoint, in network: NetworkID) async -> Response {
        .json(endpoint.json(await circuits(in: network)[endpoint.id] ?? .closed))
    }

    /// The circuits of the endpoints of which anything is known.
    private func circuits(in network: NetworkID) async -> [EndpointID: LaneStatus.Circuit] {
        var circuits: [EndpointID: LaneStatus.Circuit] = [:]
        for status in await services.lanes() where status.lane.networkID == network {
            if let endpoint = status.lane.endpoint { circuits[endpoint] = status.circuit }
        }
        return circuits
    }
}
