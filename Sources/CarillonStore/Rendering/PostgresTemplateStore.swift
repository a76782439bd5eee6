package import CarillonCore
import Postgres

/// Networks' own templates in table `templates`, as the JSON of API section 7.
package struct PostgresTemplateStore: TemplateStore {
    let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func templates(in network: NetworkID) async throws -> [TemplateOverride] {
        try await databases.of(network).pool.query(
            """
            SELECT event_type, locale, source, updated_at FROM templates
            WHERE network_id = \(network.rawValue) ORDER BY event_type, locale
            """
        ) { row in
            TemplateOverride(
                eventType: EventType(try row.decode(0)),
                locale: try row.decode(1),
                source: try TemplateSource(stored: try row.decode(2)),
                updatedAt: try row.timestamp(3)
            )
        }
    }

    /// Writes a checked template; `true` when there was none.
    /// - Throws: ``LimitReached`` when it is new and there are as many as there may be; ``StoreError/unknownNetwork``.
    package func putTemplate(_ template: TemplateOverride, in network: NetworkID) async throws -> Bool {
        let source = template.source.json.serializedText
        return try await databases.toWrite(network).pool.write { session in
            try session.lock("templates", in: network)
            guard let limit = try session.network(network)?.limits[.templates] else {
                throw try session.absence(of: network)
            }
            let isNew = try session.first(
                """
                INSERT INTO templates (network_id, event_type, locale, source, updated_at)
                VALUES (\(network.rawValue), \(template.eventType.rawValue), \(template.locale), \(source),
                        \(template.updatedAt.stored))
                ON CONFLICT (network_id, event_type, locale)
                DO UPDATE SET source = EXCLUDED.source, updated_at = EXCLUDED.updated_at
                RETURNING xmax = 0
                """,
                as: Bool.self
            )
            guard isNew == true else { return false }
            let counting: SQL = "SELECT count(*) FROM templates WHERE network_id = \(network.rawValue)"
            // What was written is undone with the transaction.
            guard try session.first(counting, as: Int.self) ?? 0 <= limit else { throw LimitReached(.templates, limit) }
            return true
        }
    }

    package func deleteTemplate(_ type: EventType, locale: String, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.execute(
            """
            DELETE FROM templates
            WHERE network_id = \(network.rawValue) AND event_type = \(type.rawValue) AND locale = \(locale)
            """
        ) > 0
    }
}

extension TemplateSource {
    /// Reads a template that was checked before it was stored.
    init(stored text: String) throws(StoreError) {
        do {
            try self.init(json: JSONValue(parsing: text))
        } catch {
            throw .unreadable("template")
        }
    }
}
