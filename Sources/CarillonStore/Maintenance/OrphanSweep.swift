import CarillonCore
import Postgres

/// Takes what belongs to no network for what is left of a former one: what was written behind a purge, or before there was table
/// `former_networks`.
final class OrphanSweep: Sendable {
    private let pool: PostgresPool
    /// Tables in which an old snapshot keeps more than there is.
    private let queues: [String: PageRounds]

    init(pool: PostgresPool, pagesAtOnce: Int64 = TableWalk.pagesAtFirst) {
        self.pool = pool
        queues = ["inbox", "deliveries"].reduce(into: [:]) { queues, table in
            queues[table] = PageRounds(through: table, pagesAtOnce: pagesAtOnce)
        }
    }

    /// Looks through all tables; of a queue's, through its next pages.
    func sweep() async throws {
        for table in NetworkPurge.tables {
            let orphans =
                if let rounds = queues[table] { try await orphans(on: rounds) } else { try await orphans(in: table) }
            for network in orphans ?? [] {
                try await pool.write { session in
                    try session.lockName(of: network)
                    try session.noteFormerNetwork(network)
                }
            }
        }
    }

    /// By the first row of each network.
    private func orphans(in table: String) async throws -> [NetworkID]? {
        try await pool.withTaskLock(on: "\(table): orphans") { session in
            try session.query(
                """
                WITH RECURSIVE walk AS (\(sql: .walk(overNetworksIn: table, where: "t.network_id > ''")))
                SELECT w.network_id FROM walk w WHERE \(sql: Self.isOfNobody("w")) LIMIT 100
                """
            ) { row in try row.id(0, of: Network.self) }
        }
    }

    private func orphans(on rounds: PageRounds) async throws -> [NetworkID]? {
        try await rounds.next(in: pool) { rows in
            "SELECT DISTINCT t.network_id FROM \(sql: rows) AS t WHERE \(sql: Self.isOfNobody("t")) LIMIT 100"
        } _: { row in
            try row.id(0, of: Network.self)
        }
    }

    private static func isOfNobody(_ row: SQL) -> SQL {
        """
        NOT EXISTS (SELECT FROM networks n WHERE n.network_id = \(sql: row).network_id)
        AND NOT EXISTS (SELECT FROM former_networks f WHERE f.network_id = \(sql: row).network_id)
        """
    }
}
