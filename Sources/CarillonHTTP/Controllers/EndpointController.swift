import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// A network's endpoints (FACES section C1). For admins.
struct EndpointController: Controller {
    private static let testTimeout = Duration.seconds(10)

    let services: Services

    private var reader: EndpointReader { EndpointReader(egress: services.egress) }

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/endpoints", use: list)
        router.post("/v1/networks/{network}/endpoints", use: create)
        router.get("/v1/networks/{network}/endpoints/{endpoint}", use: show)
        router.put("/v1/networks/{network}/endpoints/{endpoint}", use: replace)
        router.patch("/v1/networks/{network}/endpoints/{endpoint}", use: update)
        router.delete("/v1/networks/{network}/endpoints/{endpoint}", use: delete)
        router.post("/v1/networks/{network}/endpoints/{endpoint}/secret/rotate", use: rotateSecret)
        router.post("/v1/networks/{network}/endpoints/{endpoint}/test", use: test)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let page = try Page(QueryParameters(request))
        let endpoints = try await services.endpoints.endpoints(of: access.networkID)
        let circuits = await circuits(in: access.networkID)
        return page.answer(endpoints, by: \.id.rawValue) { $0.json(circuits[$0.id] ?? .closed) }
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "endpoint", as: Endpoint.self)
        return try await answer(services.endpoint(id, in: access.networkID), in: access.networkID)
    }

    /// Makes an endpoint, with a secret that is shown once.
    private func create(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let body = try await RequestBodyReader.json(of: request)
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
            of: access.networkID,
            answering: IdempotentRequest(request, by: access.admin, in: access.networkID, body: body, answer: answer)
        )
        await services.endpointsChanged(access.networkID)
        guard let response = creation.response(answer) else { throw Problem(EndpointRefusal.tooMany) }
        return response
    }

    private func replace(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "endpoint", as: Endpoint.self)
        let draft = try await reader.draft(RequestBodyReader.json(of: request))
        return try await change(id, in: access.networkID) { _ in draft }
    }

    /// Takes over what a merge patch (RFC 7396) names: `null` stands for the default.
    private func update(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "endpoint", as: Endpoint.self)
        let patch = try await RequestBodyReader.json(of: request, types: ContentType.mergePatch)
        let reader = reader
        return try await change(id, in: access.networkID) { try reader.draft($0.settings.merging(patch)) }
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
        guard let endpoint else { throw Problem.notFound() }
        await services.endpointsChanged(network)
        if endpoint.state == .enabled { await services.endpointEnabled(Lane(id, in: network)) }
        return try await answer(endpoint, in: network)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "endpoint", as: Endpoint.self)
        let existed = try await services.endpoints.deleteEndpoint(id, of: access.networkID)
        await services.endpointsChanged(access.networkID)
        guard existed else { throw Problem.notFound() }
        return .noContent
    }

    /// Adds a secret; during the overlap the former one signs, too.
    private func rotateSecret(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "endpoint", as: Endpoint.self)
        let (overlap, body) = try await RequestBodyReader.overlap(of: request)
        let secret = WebhookSecret.generate()
        let answer: JSONValue = ["secret": .string(secret.text.reveal { $0 })]
        let creation = try await services.endpoints.rotateEndpointSecret(
            of: id,
            in: access.networkID,
            to: secret,
            overlap: overlap,
            answering: IdempotentRequest(request, by: access.admin, in: access.networkID, body: body, answer: answer)
        )
        guard let response = creation.response(answer) else { throw Problem.notFound() }
        return response
    }

    /// Sends a message that says nothing, and tells what came back.
    private func test(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "endpoint", as: Endpoint.self)
        try await RequestBodyReader.passEmpty(of: request, as: "invalid-test")
        let endpoint = try await services.endpoint(id, in: access.networkID)
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
                    "eventId": .string(message), "networkId": .string(access.networkID.rawValue),
                    "receivedAt": JSONValue(now), "attempt": 1, "replay": false,
                ],
            ]
        let answer = await services.endpointCaller.call(
            EndpointCall(
                networkID: access.networkID,
                endpointID: id,
                url: endpoint.settings.url,
                secrets: try await services.endpoints.endpointSecrets(of: id, in: access.networkID),
                messageID: message,
                body: body.serialized,
                format: endpoint.settings.format,
                timeout: Self.testTimeout
            )
        )
        return .json(RelayAnswer(answer).json)
    }

    private func answer(_ endpoint: Endpoint, in network: NetworkID) async throws -> Response {
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
