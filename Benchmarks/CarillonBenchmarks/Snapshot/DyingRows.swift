import Postgres

/// Rows that pass through the queues as those of an hour do: due over an hour, half of them leased for another minute.
struct DyingRows: Sendable {
    private static let portion = 500_000

    let cluster: Cluster

    /// How large the queues are, with their indexes.
    var bytes: Int {
        get async throws {
            try await cluster.count("SELECT pg_total_relation_size('inbox') + pg_total_relation_size('deliveries')")
        }
    }

    /// Has so many rows come and go in each queue; nobody else sees them.
    func pass(_ count: Int) async throws {
        for start in stride(from: 0, to: count, by: Self.portion) {
            let portion = min(Self.portion, count - start)
            let deliveries = Self.deliveries(of: "'dying'", portion, due: Self.hour(of: portion))
            async let isDone: Void = replace("deliveries", by: deliveries)
            try await replace("inbox", by: Self.events(portion))
            try await isDone
        }
    }

    /// Has a delivery wait for an hour in each of so many networks.
    func wait(inNetworks count: Int) async throws {
        try await cluster.script(
            """
            INSERT INTO networks (network_id, created_at)
            SELECT 'waiting-' || n, now() FROM generate_series(1, \(sql: SQL(trusted: "\(count)"))) AS n;
            \(sql: Self.deliveries(of: "'waiting-' || n", count, due: "now() + interval '1 hour'", isLeased: "false"))
            """
        )
    }

    private static func hour(of count: Int) -> SQL {
        let lease: SQL = "CASE WHEN n % 2 = 0 THEN interval '1 minute' ELSE '0' END"
        return SQL(trusted: "now() - n * interval '1 hour' / \(count) + ") + lease
    }

    /// Ids as Carillon's own are: in the order of time.
    private static let id: SQL = """
        (lpad(to_hex((1000 * extract(epoch FROM now()))::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid
        """

    private static func deliveries(of network: SQL, _ count: Int, due: SQL, isLeased: SQL = "n % 2 = 0") -> SQL {
        """
        INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body, targets, size, attempt,
                                run_at, expires_at, leased)
        SELECT \(sql: network), \(sql: id), \(sql: id), 'log', '', '{}', 'en', '', '', '[]', 1, 1,
               \(sql: due), \(sql: due), \(sql: isLeased)
        FROM generate_series(1, \(sql: SQL(trusted: "\(count)"))) AS n
        """
    }

    private static func events(_ count: Int) -> SQL {
        """
        INSERT INTO inbox (network_id, event_id, source_id, event_type, received_at, occurred_at, body, run_at, leased)
        SELECT 'dying', \(sql: id), 'dying', 'message.sent', now(), now(), '{}', \(sql: hour(of: count)), n % 2 = 0
        FROM generate_series(1, \(sql: SQL(trusted: "\(count)"))) AS n
        """
    }

    /// Inserts rows and deletes them in the same transaction: most likely they are behind all others, and need not be looked for
    /// among the dead.
    private func replace(_ table: String, by insertion: SQL) async throws {
        try await cluster.pool.withTransaction { session in
            let size: SQL = "SELECT pg_relation_size(\(table)::text::regclass) / 8192"
            let pages = try session.first(size, as: Int64.self)
            let inserted = try session.execute(insertion)
            let rows: SQL = "DELETE FROM \(identifier: table) WHERE network_id = 'dying'"
            let behind = SQL(trusted: " AND ctid >= '(\(max(0, (pages ?? 0) - 1)),0)'")
            if try session.execute(rows + behind) < inserted { try session.execute(rows) }
        }
    }
}
