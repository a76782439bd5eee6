import CarillonCore
import Foundation
import Postgres

/// Adds minutes up to hours, each row once, in transactions of bounded size.
struct StatisticsSweep {
    private struct Hour: Hashable {
        let network: NetworkID
        let at: Timestamp
    }

    private static let batchSize = 2000
    /// For how long after its end an hour is left alone: what replicas still have in memory has been written by then.
    private static let rest = Duration.seconds(300)

    let pool: PostgresPool
    let clock: WallClock

    func sweep() async throws {
        let end = StatisticsStep.hour.beginning(of: clock.now() - Self.rest)
        while try await pool.takingTurn(at: "statistics: hours", { try rollUp(before: end, $0) }) == Self.batchSize {}
    }

    /// Adds rows up that are not in their hours yet; answers how many.
    private func rollUp(before end: Timestamp, _ session: borrowing PostgresSession) throws -> Int {
        var hours: [Hour: StatisticsFigures] = [:]
        let rows = try session.queryQueue(
            """
            SELECT network_id, at, replica, number, figures FROM statistics_minutes
            WHERE NOT rolled AND at < \(end.stored) ORDER BY at LIMIT \(Self.batchSize)
            """
        ) { row in
            let (network, at) = (try row.id(0, of: Network.self), try row.timestamp(1))
            let hour = Hour(network: network, at: StatisticsStep.hour.beginning(of: at))
            hours[hour, default: StatisticsFigures()].add(try row.figures(4))
            return (
                network: network.rawValue, at: at.stored, replica: try row.decode(2, as: UUID.self),
                number: try row.decode(3, as: Int64.self)
            )
        }
        guard !rows.isEmpty else { return 0 }
        let keys = hours.keys.sorted { ($0.network, $0.at) < ($1.network, $1.at) }
        try session.forEach(
            """
            SELECT h.network_id, h.at, h.figures
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.at.stored))) AS n (network_id, at)
            CROSS JOIN LATERAL (
                SELECT h.network_id, h.at, h.figures FROM statistics_hours h
                WHERE h.network_id = n.network_id AND h.at = n.at LIMIT 1
            ) AS h
            """
        ) { row in
            let hour = Hour(network: try row.id(0), at: try row.timestamp(1))
            hours[hour]?.add(try row.figures(2))
        }
        try session.execute(
            """
            INSERT INTO statistics_hours (network_id, at, figures)
            SELECT n.network_id, n.at, n.figures
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.at.stored)), \(keys.map { hours[$0]?.stored ?? "" }))
                AS n (network_id, at, figures)
            ON CONFLICT (network_id, at) DO UPDATE SET figures = EXCLUDED.figures
            """
        )
        _ = try session.executeOnQueue(
            """
            UPDATE statistics_minutes m SET rolled = true
            FROM unnest(\(rows.map(\.network)), \(rows.map(\.at)), \(rows.map(\.replica)), \(rows.map(\.number)))
                AS n (network_id, at, replica, number)
            WHERE m.network_id = n.network_id AND m.at = n.at AND m.replica = n.replica AND m.number = n.number
            """
        )
        return rows.count
    }
}
