import CarillonCore
import Foundation
import Logging
import Postgres

/// Adds minutes up to hours, each row once, in transactions of bounded size.
struct StatisticsSweep {
    private struct Hour: Hashable {
        let network: NetworkID
        let at: Timestamp
    }

    /// For how long after its end an hour is left alone: what replicas still have in memory has been written by then.
    private static let rest = Duration.seconds(300)

    let pool: PostgresPool
    let clock: WallClock
    let logger: Logger
    var batchSize = 2000

    func sweep() async throws {
        let end = StatisticsStep.hour.beginning(of: clock.now() - Self.rest)
        var cursor: Hour? = Hour(network: NetworkID(trusted: ""), at: Timestamp(milliseconds: 0))
        while let from = cursor {
            cursor =
                try await pool.withTaskLock(on: "statistics: hours") { try rollUp(from: from, before: end, $0) } ?? nil
        }
    }

    /// Adds rows up that are not in their hours yet, network by network, so that an hour is written once or twice; answers where
    /// it stopped if there are more.
    private func rollUp(from cursor: Hour, before end: Timestamp, _ session: borrowing PostgresSession) throws -> Hour?
    {
        var hours: [Hour: StatisticsFigures] = [:]
        let rows = try session.queryQueue(
            """
            SELECT network_id, at, replica, number, figures FROM statistics_minutes
            WHERE NOT rolled AND (network_id, at) >= (\(cursor.network.rawValue), \(cursor.at.stored)) AND at < \(end.stored)
            ORDER BY network_id, at LIMIT \(batchSize)
            """
        ) { row in
            let (network, at) = (try row.id(0, of: Network.self), try row.timestamp(1))
            let hour = Hour(network: network, at: StatisticsStep.hour.beginning(of: at))
            hours[hour, default: StatisticsFigures()].add(try figures(row, 4, of: hour))
            return (
                hour: Hour(network: network, at: at), network: network.rawValue, at: at.stored,
                replica: try row.decode(2, as: UUID.self),
                number: try row.decode(3, as: Int64.self)
            )
        }
        guard let last = rows.last else { return nil }
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
            hours[hour]?.add(try figures(row, 2, of: hour))
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
        return rows.count == batchSize ? last.hour : nil
    }

    /// What a row says. One that cannot be read is taken as nothing, or no other would be added up any more.
    private func figures(_ row: borrowing Row, _ column: Int, of hour: Hour) throws -> StatisticsFigures {
        if let figures = try row.figures(column) { return figures }
        logger.warning(
            "A row of statistics cannot be read and is left out",
            metadata: ["network": "\(hour.network)", "hour": "\(hour.at)"]
        )
        return StatisticsFigures()
    }
}
