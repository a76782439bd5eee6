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
        ("name_words", ["list", "key", "id"]), ("channels", ["channel_id"]), ("users", ["user_id"]),
        ("lanes", ["provider", "app_id"]),
        ("replays", ["endpoint_id"]), ("used_nonces", ["nonce_hash"]), ("message_texts", ["event_id"]),
        ("statistics_minutes", ["at", "replica", "number"]), ("statistics_hours", ["at"]),
        ("journal", ["place", "entry_id"]), ("idempotency_keys", ["key_hash"]),
    ]
    /// What belongs to one event goes together.
    private static let partitionedTables = ["relays", "relayed", "outcomes", "events"]

    static let tables = keys.map(\.0) + partitionedTables

    /// What removes some rows of a network, for each table.
    static func statements(of network: NetworkID) -> [SQL] {
        keys.map { statement($0.0, of: network) } + partitionedTables.map { statement(partitioned: $0, of: network) }
    }

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

    /// Removes the rows of some of a network's events.
    private static func statement(partitioned table: String, of network: NetworkID) -> SQL {
        """
        DELETE FROM \(identifier: table)
        WHERE network_id = \(network.rawValue) AND event_id = ANY (ARRAY(
            SELECT event_id FROM \(identifier: table)
            WHERE network_id = \(network.rawValue) LIMIT \(batchSize)))
        """
    }

    /// Whether there is a row of a network in any of the tables.
    static func isAnythingLeft(of network: NetworkID) -> SQL {
        let looks = tables.map { table -> SQL in
            "EXISTS (SELECT FROM \(identifier: table) WHERE network_id = \(network.rawValue))"
        }
        return looks.dropFirst().reduce("(" + looks[0]) { $0 + " OR " + $1 } + ")"
    }
}
