extension Placed: EndpointStore where Port == any EndpointStore {
    package func endpoints(of network: NetworkID) async throws -> [Endpoint] {
        try await of(network).endpoints(of: network)
    }

    package func addEndpoint(
        _ endpoint: Endpoint,
        secret: WebhookSecret,
        of network: NetworkID,
        answering: IdempotentRequest?
    ) async throws -> Creation {
        try await toWrite(network).addEndpoint(endpoint, secret: secret, of: network, answering: answering)
    }

    package func updateEndpoint(
        _ id: EndpointID,
        of network: NetworkID,
        _ change: @escaping @Sendable (Endpoint) throws -> Endpoint
    ) async throws -> Endpoint? {
        try await toWrite(network).updateEndpoint(id, of: network, change)
    }

    package func deleteEndpoint(_ id: EndpointID, of network: NetworkID) async throws -> Bool {
        try await toWrite(network).deleteEndpoint(id, of: network)
    }

    package func rotateEndpointSecret(
        of id: EndpointID,
        in network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering: IdempotentRequest?
    ) async throws -> Creation {
        try await toWrite(network).rotateEndpointSecret(
            of: id,
            in: network,
            to: secret,
            overlap: overlap,
            answering: answering
        )
    }

    package func endpointSecrets(of id: EndpointID, in network: NetworkID) async throws -> [WebhookSecret] {
        try await of(network).endpointSecrets(of: id, in: network)
    }
}

extension Placed: RelayHistory where Port == any RelayHistory {
    package func relayDeliveries(
        to endpoint: EndpointID,
        in network: NetworkID,
        state: RelayState?,
        only: EventID?,
        before event: EventID?,
        limit: Int
    ) async throws -> [RelayDelivery] {
        try await of(network).relayDeliveries(
            to: endpoint,
            in: network,
            state: state,
            only: only,
            before: event,
            limit: limit
        )
    }

    package func retryRelay(of event: EventID, to endpoint: EndpointID, in network: NetworkID, until expiry: Timestamp)
        async throws -> RelayRetry
    {
        try await toWrite(network).retryRelay(of: event, to: endpoint, in: network, until: expiry)
    }

    package func beginReplay(_ order: ReplayOrder, to endpoint: EndpointID, in network: NetworkID) async throws
        -> ReplayCount
    {
        try await toWrite(network).beginReplay(order, to: endpoint, in: network)
    }
}

extension Placed: SourceStore where Port == any SourceStore {
    package func sources(of network: NetworkID) async throws -> [Source] {
        try await of(network).sources(of: network)
    }

    package func putSource(_ id: SourceID, _ settings: SourceSettings, secret: WebhookSecret, of network: NetworkID)
        async throws -> (source: Source, isNew: Bool)
    {
        try await toWrite(network).putSource(id, settings, secret: secret, of: network)
    }

    package func deleteSource(_ id: SourceID, of network: NetworkID) async throws -> Bool {
        try await toWrite(network).deleteSource(id, of: network)
    }
}

extension Placed: ProviderCredentialStore where Port == any ProviderCredentialStore {
    package func providerCredential(_ provider: ProviderName, appID: String, of network: NetworkID) async throws
        -> ProviderCredential?
    {
        try await of(network).providerCredential(provider, appID: appID, of: network)
    }

    package func providerCredentials(of network: NetworkID) async throws -> [ProviderCredential] {
        try await of(network).providerCredentials(of: network)
    }

    package func providersWithCredentials(of network: NetworkID) async throws -> [(
        provider: ProviderName, appID: String
    )] {
        try await of(network).providersWithCredentials(of: network)
    }

    package func putProviderCredential(_ credential: ProviderCredential, of network: NetworkID) async throws
        -> CredentialChange
    {
        try await toWrite(network).putProviderCredential(credential, of: network)
    }

    package func replaceProviderCredential(
        _ former: ProviderCredential,
        by credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> Bool {
        try await toWrite(network).replaceProviderCredential(former, by: credential, of: network)
    }

    package func addProviderCredential(_ credential: ProviderCredential, of network: NetworkID) async throws
        -> ProviderCredential
    {
        try await toWrite(network).addProviderCredential(credential, of: network)
    }

    package func deleteProviderCredential(_ provider: ProviderName, appID: String, of network: NetworkID) async throws
        -> Bool
    {
        try await toWrite(network).deleteProviderCredential(provider, appID: appID, of: network)
    }
}

extension Placed: RelaySource where Port == any RelaySource {
    package func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage] {
        let (answers, failure) = await parts(keys, by: \.networkID) { source, keys in
            try await source.relayMessages(keys)
        }
        if let failure { throw failure }
        return answers.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
}
