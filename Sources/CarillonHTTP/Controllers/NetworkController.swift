import CarillonCore
import CarillonEdge
import Hummingbird

/// Networks and what is needed to begin with one (API section 2). For operators, and for admins as far as it is theirs.
struct NetworkController: Controller {
    let services: Services
    let overview: NetworkOverview

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks", use: list)
        router.post("/v1/networks", use: create)
        admins(router).show("") { try await services.accounts.network($0.network)?.json }
        admins(router).patch("", use: update)
        router.delete("/v1/networks/{network}", use: delete)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await services.authenticator.requireOperator(request, context)
        let page = try Page(QueryParameters(request))
        let found = try await services.accounts.networks(after: page.after { NetworkID($0) }, limit: page.fetchLimit)
        let states = try await overview.states(of: found.networks.prefix(page.limit).map(\.id))
        return page.answer(found.networks, key: \.id.rawValue, incomplete: found.incomplete) {
            $0.json(in: states[$0.id] ?? .new)
        }
    }

    private func create(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await services.authenticator.requireOperator(request, context)
        let body = try await RequestBodyReader.json(of: request)
        var wanted: PlacementName?
        var network = try body.read(as: "invalid-network") { reader in
            wanted = reader.placement()
            let id = reader.identifier("id", as: Network.self, required: true)
            // What else is wrong is said even where the id is.
            var network = Network(id: id ?? NetworkID(trusted: ""), createdAt: services.clock.now())
            network.merge(&reader)
            return id == nil ? nil : network
        }
        // What is answered is made when it is known where the network goes.
        var repeatable = try IdempotentRequest(request, by: .operator, in: nil, body: body, answer: .null)
        network.placement = try await services.placements.reserve(network.id, in: wanted, for: repeatable)
        let (key, stored) = APIKeySecret.make(for: network.id, role: .admin, label: nil, at: services.clock.now())
        let webhookSecret = WebhookSecret.generate()
        let userTokenSecret = APIKeySecret.random(43)
        let credentials = NetworkCredentials(
            network: network,
            webhookSecrets: [WebhookSecretRecord(secret: webhookSecret)],
            userTokenKeys: [.hs256(Secret(userTokenSecret))],
            apiKeys: [stored]
        )
        let answer: JSONValue = [
            "network": network.json,
            "apiKey": .string(key.text),
            "webhookSecret": .string(webhookSecret.text.reveal { $0 }),
            "userTokenSecret": .string(userTokenSecret),
        ]
        repeatable?.answer = answer.serialized
        let creation = try await services.accounts.createNetwork(credentials, answering: repeatable)
        services.cache.invalidate(network.id)
        if creation == .beingDeleted { throw Problem.beingDeleted }
        guard let response = creation.response(answer) else {
            throw Problem.conflict("network-exists", "there is a network of this id")
        }
        context.caller.note(made: network.id)
        return response
    }

    private func update(_ request: NetworkRequest) async throws -> Response {
        let patch = try await request.mergePatch()
        if request.access.principal != .operator, case .object(let members) = patch, members.contains("limits") {
            throw Problem.forbidden("limits are the operator's to change", at: "/limits")
        }
        let network = try await services.accounts.updateNetwork(request.network) { network in
            try patch.read(as: "invalid-network") { reader in
                var changed = network
                changed.merge(&reader)
                return changed
            }
        }
        guard let network else { throw Problem.notFound() }
        services.cache.invalidate(network.id)
        return .json(network.json)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let id = try context.identifier("network", as: Network.self)
        try await services.authenticator.requireOperator(request, context, networkID: id)
        let existed = try await services.accounts.deleteNetwork(id)
        services.cache.invalidate(id)
        guard existed else { throw Problem.notFound() }
        services.recorder.forget(id)
        return .noContent
    }
}
