package import CarillonCore
package import Postgres

/// Finds recipients in the directory; every page of one call is of one moment.
package final class PostgresRecipientSource: RecipientSource {
    private let pool: PostgresPool
    private let overrides = OverrideCache()

    /// A source in the database of `pool`.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// One page of recipients for each of the first queries, in their order; at least for the first one.
    package func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        guard !queries.isEmpty else { return [] }
        return try await pool.snapshot { session in
            let readPoint = try ReadPoint.current(session)
            let candidates = try CandidateReader(queries, session)
            let answered = candidates.answered(of: queries)
            let settings = try self.settings(of: answered, session)
            let names = try DirectoryNameReader(answered, session)
            return answered.enumerated().map { position, query in
                let (recipients, next) = candidates.recipients(of: query, at: position)
                return RecipientPage(
                    settings: settings[query.networkID] ?? .unset,
                    names: names.names(for: query),
                    recipients: recipients,
                    next: next,
                    readPoint: readPoint
                )
            }
        }
    }

    private func settings(
        of queries: [RecipientQuery],
        _ session: borrowing PostgresSession
    ) throws -> [NetworkID: NetworkSettings] {
        let networks = Set(queries.map(\.networkID)).sorted().map(\.rawValue)
        var templates: [NetworkID: [StoredTemplate]] = [:]
        try session.forEach(
            """
            SELECT network_id, event_type, locale, source FROM templates
            WHERE network_id = ANY (\(networks)) ORDER BY network_id, event_type, locale
            """
        ) { row in
            let template = StoredTemplate(
                eventType: try row.decode(1),
                locale: try row.decode(2),
                source: try row.decode(3)
            )
            templates[try row.id(0), default: []].append(template)
        }
        var settings: [NetworkID: NetworkSettings] = [:]
        try session.forEach(
            """
            SELECT network_id, toggles, default_locale FROM networks WHERE network_id = ANY (\(networks))
            """
        ) { row in
            let network: NetworkID = try row.id(0)
            settings[network] = NetworkSettings(
                toggles: try row.decode(1, as: String?.self).map(ToggleDocuments.network) ?? NetworkToggles(),
                defaultLocale: try row.decode(2),
                templates: overrides.overrides(of: network, templates[network] ?? [])
            )
        }
        return settings
    }
}

extension NetworkSettings {
    fileprivate static let unset = NetworkSettings(toggles: .init(), defaultLocale: nil, templates: .init())
}
