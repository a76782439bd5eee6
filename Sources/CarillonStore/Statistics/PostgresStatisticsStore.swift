package import CarillonCore
package import Postgres

/// What was counted, in `statistics_minutes` and, added up, in `statistics_hours`.
package struct PostgresStatisticsStore: StatisticsStore, StatisticsLog {
    /// How much the clocks of the replica that made a network and of the one that counts in it may be apart. A name stays taken for
    /// longer than that (``FormerNetworks``).
    private static let tolerance = Duration.seconds(1)

    let pool: PostgresPool

    package init(pool: PostgresPool) {
        self.pool = pool
    }

    package func write(_ rows: [StatisticsRow]) async throws {
        let rows = rows.compactMap { row in row.origin.map { (row: row, origin: $0) } }.sorted { left, right in
            (left.row.networkID, left.row.at, left.origin.number) < (
                right.row.networkID, right.row.at, right.origin.number
            )
        }
        guard !rows.isEmpty else { return }
        try await pool.write(
            """
            INSERT INTO statistics_minutes (network_id, at, replica, number, figures, accepted, refused)
            SELECT n.network_id, n.at, n.replica, n.number, n.figures, n.accepted, n.refused
            FROM unnest(\(rows.map(\.row.networkID.rawValue)), \(rows.map(\.row.at.stored)),
                        \(rows.map(\.origin.replica)), \(rows.map(\.origin.number)), \(rows.map(\.row.figures.stored)),
                        \(rows.map(\.row.figures.acceptedEvents)), \(rows.map(\.row.figures.refusedPosts)),
                        \(rows.map { ($0.row.begunAt.map { $0 + Self.tolerance } ?? Timestamp(milliseconds: .max)).stored }))
                AS n (network_id, at, replica, number, figures, accepted, refused, made_by)
            CROSS JOIN LATERAL (
                SELECT FROM networks w WHERE w.network_id = n.network_id AND w.created_at <= n.made_by LIMIT 1
            ) AS living
            ON CONFLICT DO NOTHING
            """
        )
    }

    /// All that was written of a network from a moment until before another; in hours, as far as it is added up. What cannot be
    /// read is left out.
    package func rows(
        of network: NetworkID,
        from: Timestamp,
        to: Timestamp,
        inHours: Bool,
        asked: [StatisticsRow]
    ) async throws -> [StatisticsRow] {
        try await pool.snapshot { session in
            let hours: [StatisticsRow] =
                try inHours
                ? session.query(
                    """
                    SELECT at, figures FROM statistics_hours
                    WHERE network_id = \(network.rawValue) AND at >= \(from.stored) AND at < \(to.stored)
                    """
                ) { row in try row.statistics(at: 0, of: network) } + Self.addedUp(asked, session) : []
            let condition: SQL = inHours ? "AND NOT rolled" : ""
            let minutes = try session.query(
                """
                SELECT at, figures, replica, number FROM statistics_minutes
                WHERE network_id = \(network.rawValue) AND at >= \(from.stored) AND at < \(to.stored) \(sql: condition)
                """
            ) { row in
                let origin = StatisticsRow.Origin(replica: try row.decode(2), number: try row.decode(3))
                return try row.statistics(at: 0, of: network, from: origin)
            }
            return hours + minutes
        }
    }

    /// Those of some rows that are in their hours already, with nothing in them.
    private static func addedUp(
        _ asked: [StatisticsRow],
        _ session: borrowing PostgresSession
    ) throws -> [StatisticsRow] {
        let asked = asked.compactMap { row in row.origin.map { (row: row, origin: $0) } }
        guard !asked.isEmpty else { return [] }
        return try session.query(
            """
            SELECT m.network_id, m.at, m.replica, m.number
            FROM unnest(\(asked.map(\.row.networkID.rawValue)), \(asked.map(\.row.at.stored)),
                        \(asked.map(\.origin.replica)), \(asked.map(\.origin.number))) AS n (network_id, at, replica, number)
            CROSS JOIN LATERAL (
                SELECT m.network_id, m.at, m.replica, m.number FROM statistics_minutes m
                WHERE m.network_id = n.network_id AND m.at = n.at AND m.replica = n.replica AND m.number = n.number
                    AND m.rolled
                LIMIT 1
            ) AS m
            """
        ) { row in
            StatisticsRow(
                networkID: try row.id(0),
                at: try row.timestamp(1),
                origin: StatisticsRow.Origin(replica: try row.decode(2), number: try row.decode(3)),
                figures: StatisticsFigures()
            )
        }
    }
}

extension Row {
    /// Reads figures; `nil` when they are no such thing.
    func figures(_ column: Int) throws -> StatisticsFigures? { StatisticsFigures(stored: try decode(column)) }

    /// Reads a moment, and the figures behind it; none when they are no such thing.
    func statistics(
        at column: Int,
        of network: NetworkID,
        from origin: StatisticsRow.Origin? = nil
    ) throws -> StatisticsRow {
        let figures = try figures(column + 1) ?? StatisticsFigures()
        return StatisticsRow(networkID: network, at: try timestamp(column), origin: origin, figures: figures)
    }
}
