package import CarillonCore
import Postgres

/// The sources of networks in table `sources`, their secrets sealed with the master key.
package struct PostgresSourceStore: SourceStore {
    private let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func sources(of network: NetworkID) async throws -> [Source] {
        try await databases.of(network).pool.query(
            """
            SELECT \(sql: Row.sourceColumns) FROM sources WHERE network_id = \(network.rawValue) ORDER BY source_id
            """
        ) { row in try row.source() }
    }

    /// Stores a source, or gives one that there is new settings; whoever is asking it has asked in vain then.
    /// - Throws: ``TooManySources``; nothing is stored then.
    package func putSource(
        _ id: SourceID,
        _ settings: SourceSettings,
        secret: WebhookSecret,
        of network: NetworkID
    ) async throws -> (source: Source, isNew: Bool) {
        let database = try await databases.toWrite(network)
        let sealed = try database.box.seal(
            secret.text.reveal { Array($0.utf8) },
            for: .sourceSecret(of: id),
            in: network
        )
        return try await database.pool.write { session in
            try session.lockNetwork(network)
            let updated = try session.queryFirst(
                """
                UPDATE sources
                SET url = \(settings.url), interval_seconds = \(Int32(settings.interval)),
                    enabled = \(settings.isEnabled), run_at = now(), leased = false, lease_token = lease_token + 1,
                    failures = 0, failing_since = NULL
                WHERE network_id = \(network.rawValue) AND source_id = \(id.rawValue)
                RETURNING \(sql: Row.sourceColumns)
                """
            ) { row in try row.source() }
            if let updated { return (updated, false) }
            let count = try session.execute("SELECT FROM sources WHERE network_id = \(network.rawValue)")
            guard count < Source.maximumCount else { throw TooManySources() }
            let inserted = try session.queryFirst(
                """
                INSERT INTO sources (network_id, source_id, url, interval_seconds, enabled, sealed)
                VALUES (\(network.rawValue), \(id.rawValue), \(settings.url), \(Int32(settings.interval)),
                        \(settings.isEnabled), \(sealed))
                RETURNING \(sql: Row.sourceColumns)
                """
            ) { row in try row.source() }
            guard let inserted else { throw StoreError.unreadable("source") }
            return (inserted, true)
        }
    }

    package func deleteSource(_ id: SourceID, of network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write(
            "DELETE FROM sources WHERE network_id = \(network.rawValue) AND source_id = \(id.rawValue)"
        ) > 0
    }
}

extension SecretBox.Purpose {
    /// Signs what a source is asked.
    static func sourceSecret(of source: SourceID) -> Self { Self(rawValue: "source-secret/\(source.rawValue)") }
}

extension Row {
    fileprivate static var sourceColumns: SQL {
        """
        source_id, url, interval_seconds, enabled, created_at, cursor, last_poll_at, failures, skipped, last_error
        """
    }

    fileprivate func source() throws -> Source {
        var source = Source(
            id: try id(0),
            settings: SourceSettings(
                url: try decode(1),
                interval: Int(try decode(2, as: Int32.self)),
                isEnabled: try decode(3)
            ),
            createdAt: try timestamp(4)
        )
        source.cursor = try decode(5)
        source.lastPollAt = try timestampIfAny(6)
        source.failures = Int(try decode(7, as: Int32.self))
        source.skippedItems = Int(try decode(8, as: Int64.self))
        source.lastError = try decode(9)
        return source
    }
}
