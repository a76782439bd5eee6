import CarillonCore
import Crypto
import Postgres

extension SQL {
    /// What numbers are drawn from.
    static let sequences = ["marks", "outcome_numbers", "endpoint_revisions"]

    /// Whether a row of `networks` is of one that is here, and not one that has left, or is only arriving.
    static let isHere: SQL = "(away IS NULL OR away IN ('draining', 'out'))"

    /// Finds one row where there is a network, or something of one that triggers keep everybody from.
    static func isThere(_ network: NetworkID) -> SQL { "SELECT FROM networks WHERE network_id = \(network.rawValue)" }

    /// From network to network of a table's rows `t` that are meant, each one step in an index of those, for `WITH RECURSIVE walk`.
    static func walk(overNetworksIn table: String, where areMeant: SQL = "true") -> SQL {
        walk(over: ["network_id"], in: table, where: areMeant)
    }

    /// The same from key to key, by the columns that make it.
    static func walk(
        over columns: [String],
        in table: String,
        called row: String = "t",
        where areMeant: SQL
    ) -> SQL {
        func list(of row: String) -> SQL { SQL(trusted: columns.map { "\(row).\($0)" }.joined(separator: ", ")) }
        let key = list(of: row)
        let rows: SQL = "SELECT \(sql: key) FROM \(identifier: table) \(identifier: row) WHERE \(sql: areMeant)"
        return """
            (\(sql: rows) ORDER BY \(sql: key) LIMIT 1)
            UNION ALL
            SELECT following.*
            FROM walk w CROSS JOIN LATERAL (
                \(sql: rows) AND (\(sql: key)) > (\(sql: list(of: "w"))) ORDER BY \(sql: key) LIMIT 1
            ) AS following
            """
    }
}

extension PostgresSession {
    /// Waits until no other transaction holds the lock of this name in the network, and holds it to the end of this one.
    ///
    /// To be taken before any other lock. For what must be counted and added to without anybody in between; rows that
    /// others write on their way, such as the user's, are left alone.
    func lock(_ name: String, in network: NetworkID) throws {
        let digest = SHA256.hash(data: Array("\(network.rawValue.utf8.count):\(network.rawValue):\(name)".utf8))
        let key = digest.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        try execute("SELECT pg_advisory_xact_lock(\(key))")
    }

    /// Whether there is something of a network that is not here: it has left, or is arriving.
    func hasLeavings(of network: NetworkID) throws -> Bool {
        try execute("SELECT FROM networks WHERE network_id = \(network.rawValue) AND NOT \(sql: .isHere)") > 0
    }

    /// Notes that a network has left for another placement.
    func noteDeparture(of network: NetworkID) throws {
        try execute(
            "INSERT INTO departed_networks (network_id) VALUES (\(network.rawValue)) ON CONFLICT (network_id) DO NOTHING"
        )
    }

    /// A network has come back, or one of its id is made here.
    func forgetDeparture(of network: NetworkID) throws {
        try execute("DELETE FROM departed_networks WHERE network_id = \(network.rawValue)")
    }

    /// Whether any of networks has left for another placement, and was not deleted, or is only arriving.
    func isAnyDeparted(of networks: [NetworkID]) throws -> Bool {
        let names = networks.map(\.rawValue)
        return try execute(
            """
            SELECT 1 FROM departed_networks WHERE network_id = ANY (\(names))
            UNION ALL
            SELECT 1 FROM networks WHERE network_id = ANY (\(names)) AND NOT \(sql: .isHere)
            LIMIT 1
            """
        ) > 0
    }

    /// Why there is nothing of a network to be changed: it has left for another placement, or there is none.
    func absence(of network: NetworkID) throws -> any Error {
        try isAnyDeparted(of: [network]) ? PlacementProblem.moving : StoreError.unknownNetwork
    }

    /// Refuses what has met nothing where it is nothing that there is to be met: what is to be changed is in another placement.
    ///
    /// - Throws: ``PlacementProblem/moving``.
    func refuseDeparted(_ network: NetworkID) throws {
        if try isAnyDeparted(of: [network]) { throw PlacementProblem.moving }
    }

    /// Has the transaction pass what keeps others from a network that moves (migration 0063).
    func passMoveFence() throws {
        try execute("SELECT set_config('carillon.mover', 'on', true)")
    }
}
