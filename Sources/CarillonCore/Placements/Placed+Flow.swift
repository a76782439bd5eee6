extension Placed: ToggleStore where Port == any ToggleStore {
    package func toggles(_ scope: ToggleScope, in network: NetworkID) async throws -> Versioned<JSONValue> {
        try await of(network).toggles(scope, in: network)
    }

    package func updateToggles(
        _ scope: ToggleScope,
        in network: NetworkID,
        by writer: Writer,
        expected: (@Sendable (Int64) -> Bool)?,
        _ change: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) async throws -> Versioned<JSONValue>? {
        try await toWrite(network).updateToggles(scope, in: network, by: writer, expected: expected, change)
    }

    package func removeToggles(_ scope: ToggleScope, in network: NetworkID, expected: (@Sendable (Int64) -> Bool)?)
        async throws -> Bool
    {
        try await toWrite(network).removeToggles(scope, in: network, expected: expected)
    }

    package func toggles(for user: UserID, channel: ChannelID?, in network: NetworkID) async throws -> (
        network: Versioned<JSONValue>, user: Versioned<JSONValue>, channel: Versioned<JSONValue>
    ) {
        try await of(network).toggles(for: user, channel: channel, in: network)
    }

    package func channels(of user: UserID, in network: NetworkID, after: ChannelID?, limit: Int) async throws
        -> [UserChannel]?
    {
        try await of(network).channels(of: user, in: network, after: after, limit: limit)
    }
}

extension Placed: TemplateStore where Port == any TemplateStore {
    package func templates(in network: NetworkID) async throws -> [TemplateOverride] {
        try await of(network).templates(in: network)
    }

    package func putTemplate(_ template: TemplateOverride, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).putTemplate(template, in: network)
    }

    package func deleteTemplate(_ type: EventType, locale: String, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).deleteTemplate(type, locale: locale, in: network)
    }
}

extension Placed: RecipientSource where Port == any RecipientSource {
    /// Of one network: only the explainer asks here, and a fan-out asks its own placement.
    package func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        guard let network = queries.first?.networkID else { return [] }
        return try await of(network).recipients(for: queries)
    }
}
