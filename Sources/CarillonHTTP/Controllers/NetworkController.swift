import CarillonCore
import HTTPTypes
import Hummingbird

/// Networks and what is needed to begin with one (API section 2). For operators.
struct NetworkController: Sendable {
    let authenticator: Authenticator
    let accounts: any AccountStore
    let cache: CredentialCache
    let clock: WallClock

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.get("/v1/networks", use: list)
        router.post("/v1/networks", use: create)
        router.get("/v1/networks/{network}", use: show)
        router.patch("/v1/networks/{network}", use: update)
        router.delete("/v1/networks/{network}", use: delete)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await authenticator.requireOperator(request)
        let page = try Page(QueryParameters(request))
        let networks = try await accounts.networks(after: page.after { NetworkID($0) }, limit: page.fetchLimit)
        return page.answer(networks, key: \.id.rawValue, \.json)
    }

    private func create(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await authenticator.requireOperator(request)
        let network = try await RequestBodyReader.json(of: request).read(as: "invalid-network") { reader in
            let id = reader.identifier("id", as: Network.self, required: true)
            let (displayName, defaultLocale) = (reader.displayName(), reader.locale("defaultLocale"))
            return id.map {
                Network(id: $0, displayName: displayName, defaultLocale: defaultLocale, createdAt: clock.now())
            }
        }
        let (key, stored) = APIKeySecret.make(for: network.id, role: .admin, label: nil, at: clock.now())
        let webhookSecret = WebhookSecret.generate()
        let userTokenSecret = APIKeySecret.random(43)
        let credentials = NetworkCredentials(
            network: network,
            webhookSecrets: [WebhookSecretRecord(secret: webhookSecret)],
            userTokenKeys: [.hs256(Secret(userTokenSecret))],
            apiKeys: [stored]
        )
        guard try await accounts.createNetwork(credentials) else {
            throw Problem.conflict("network-exists", "there is a network of this id")
        }
        cache.invalidate(network.id)
        return .json(
            [
                "network": network.json,
                "apiKey": .string(key.text),
                "webhookSecret": .string(webhookSecret.text.reveal { $0 }),
                "userTokenSecret": .string(userTokenSecret),
            ],
            status: .created
        )
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try await .json(network(request, context).json)
    }

    private func update(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let former = try await network(request, context)
        let patch = try await RequestBodyReader.json(of: request, types: ContentType.mergePatch)
        let network = try former.changed(by: patch)
        guard try await accounts.updateNetwork(network) else { throw Problem.notFound() }
        cache.invalidate(network.id)
        return .json(network.json)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let id = try context.identifier("network", as: Network.self)
        try await authenticator.requireOperator(request, networkID: id)
        let existed = try await accounts.deleteNetwork(id)
        cache.invalidate(id)
        guard existed else { throw Problem.notFound() }
        return .noContent
    }

    /// The network of the path as it is stored now, for its operator.
    private func network(_ request: Request, _ context: CarillonRequestContext) async throws -> Network {
        let id = try context.identifier("network", as: Network.self)
        try await authenticator.requireOperator(request, networkID: id)
        guard let credentials = try await accounts.credentials(of: id) else { throw Problem.notFound() }
        return credentials.network
    }
}

extension Network {
    /// This network with what a merge patch says of it.
    fileprivate func changed(by patch: JSONValue) throws(InvalidInput) -> Network {
        try patch.read(as: "invalid-network") { reader in
            var changed = self
            let (displayName, defaultLocale) = (reader.displayName(), reader.locale("defaultLocale"))
            if reader.contains("displayName") { changed.displayName = displayName }
            if reader.contains("defaultLocale") { changed.defaultLocale = defaultLocale }
            return changed
        }
    }
}
