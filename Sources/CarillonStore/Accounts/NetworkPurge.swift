import CarillonCore
import Postgres

/// The tables with rows of networks that do not go with the row in `networks`, those last that others point to.
///
/// Changes are left to age: they tell other replicas that the network is gone.
enum NetworkPurge {
    static let batchSize = 10_000

    static let tables = [
        "inbox", "deliveries", "event_keys", "dead_letters", "devices", "members", "channels", "users",
        "lanes",
    ]
    /// Row addresses are unique in a partition only, so these are emptied by event.
    static let partitionedTables = ["outcomes", "events"]
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
        try execute(
            """
            DELETE FROM \(identifier: table) WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM \(identifier: table)
                WHERE network_id = \(network.rawValue) LIMIT \(NetworkPurge.batchSize)))
            """
        ) > 0
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
