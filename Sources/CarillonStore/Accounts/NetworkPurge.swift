import CarillonCore
import Postgres

/// The tables with rows of networks that do not go with the row in `networks`, those last that others point to.
///
/// Changes are left to age: they tell other replicas that the network is gone.
enum NetworkPurge {
    static let batchSize = 5_000

    /// With what follows the network in the primary key.
    private static let keys = [
        ("inbox", ["event_id"]), ("deliveries", ["group_id"]), ("event_keys", ["source_id"]),
        ("dead_letters", ["letter_id"]), ("withdrawals", ["event_id"]), ("stopped_users", ["event_id", "user_id"]),
        ("subscriptions", ["tag", "kind", "subject_id"]), ("tags", ["tag"]),
        ("devices", ["device_id"]), ("members", ["channel_id", "user_id"]),
        ("channels", ["channel_id"]), ("users", ["user_id"]), ("lanes", ["provider", "app_id"]),
        ("replays", ["endpoint_id"]), ("used_nonces", ["nonce_hash"]), ("message_texts", ["event_id"]),
        ("statistics_minutes", ["at", "replica", "number"]), ("statistics_hours", ["at"]),
        ("journal", ["place", "entry_id"]),
    ]

    static let tables = keys.map(\.0)
    /// What belongs to one event goes together.
    static let partitionedTables = ["relays", "relayed", "outcomes", "events"]

    /// Removes some rows of one network by their keys.
    static func statement(_ table: String, of network: NetworkID) -> SQL {
        let columns = keys.first { $0.0 == table }?.1 ?? []
        let list = SQL(trusted: columns.joined(separator: ", "))
        let match = SQL(trusted: columns.map { "t.\($0) = part.\($0)" }.joined(separator: " AND "))
        return """
            DELETE FROM \(identifier: table) t
            USING (SELECT \(sql: list) FROM \(identifier: table)
                   WHERE network_id = \(network.rawValue) ORDER BY \(sql: list) LIMIT \(batchSize)) AS part
            WHERE t.network_id = \(network.rawValue) AND \(sql: match)
            """
    }
}

extension PostgresPool {
    /// Removes what is left of a network, in transactions of bounded size.
    func purge(_ network: NetworkID) async throws {
        for table in NetworkPurge.tables {
            while try await write({ try $0.purge(table, of: network) }) {}
        }
        for table in NetworkPurge.partitionedTables {
            while try await write({ try $0.purge(partitioned: table, of: network) }) {}
        }
    }
}

extension PostgresSession {
    /// Removes what is left of a network at once; mostly nothing.
    func purgeAll(of network: NetworkID) throws {
        for table in NetworkPurge.tables {
            while try purge(table, of: network) {}
        }
        for table in NetworkPurge.partitionedTables {
            while try purge(partitioned: table, of: network) {}
        }
    }

    /// Removes some of a network's rows of a table; `false` when there were none.
    fileprivate func purge(_ table: String, of network: NetworkID) throws -> Bool {
        try execute(NetworkPurge.statement(table, of: network)) > 0
    }

    /// Removes the rows of some of a network's events; `false` when there were none.
    fileprivate func purge(partitioned table: String, of network: NetworkID) throws -> Bool {
        try execute(
            """
            DELETE FROM \(identifier: table)
            WHERE network_id = \(network.rawValue) AND event_id = ANY (ARRAY(
                SELECT event_id FROM \(identifier: table)
                WHERE network_id = \(network.rawValue) LIMIT \(NetworkPurge.batchSize)))
            """
        ) > 0
    }
}
