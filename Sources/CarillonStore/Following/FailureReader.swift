import CarillonCore
import Foundation
import Postgres

/// Reads whom a network's notifications did not reach, in the order of time: an index has those rows of the log alone, so that what
/// a page reads is bounded by what it holds, however much was delivered between.
struct FailureReader {
    private struct LogRow {
        let at: PostgresTimestamp
        let number: Int64
        let event: EventID
        let provider: ProviderName
        let app: String?
        let records: [DeviceRecord]
    }

    let network: NetworkID
    let query: FailureQuery
    let limit: Int

    /// What stands behind `cursor`, or what comes first.
    func failures(after cursor: FailureCursor?, _ session: borrowing PostgresSession) throws -> [FailedDelivery] {
        var failures: [FailedDelivery] = []
        var bound = cursor.map { cursor in
            isBehind(PostgresTimestamp(microsecondsSince1970: cursor.microseconds), cursor.number, isIncluded: true)
        }
        try session.walkAlongIndexes()
        while failures.count < limit {
            let rows = try session.queryQueue(rows(behind: bound, wanted: limit - failures.count), Self.read)
            guard let last = rows.last else { break }
            for row in rows {
                let found = self.failures(of: row).filter { failure in
                    cursor.map { query.puts($0, before: failure.cursor) } ?? true
                }
                failures += query.isOldestFirst ? found : found.reversed()
            }
            bound = isBehind(last.at, last.number, isIncluded: false)
        }
        // What follows is planned for good, and shall not remember this.
        try session.walkAlongIndexes(only: false)
        return try named(Array(failures.prefix(limit)), session)
    }

    /// The next rows of the log: as many as it takes, each of which tells of one device or more.
    func rows(behind bound: SQL?, wanted: Int) -> SQL {
        let order: SQL = query.isOldestFirst ? "o.at, o.number" : "o.at DESC, o.number DESC"
        var range: SQL = bound.map { "AND \(sql: $0)" } ?? ""
        if let from = query.from { range = range + " AND o.at >= \(from.stored)" }
        if let to = query.to { range = range + " AND o.at < \(to.stored)" }
        return """
            SELECT o.at, o.number, o.event_id, o.provider, o.app_id, o.records
            FROM (
                SELECT o.*, sum(o.size) OVER (ORDER BY \(sql: order)) - o.size AS before
                FROM (
                    SELECT o.at, o.number, o.event_id, o.provider, o.app_id, o.records,
                           greatest(0, o.dead) + o.expired + o.unregistered AS size
                    FROM outcomes o
                    WHERE o.network_id = \(network.rawValue) AND o.number IS NOT NULL
                        AND (o.dead > 0 OR o.expired > 0 OR o.unregistered > 0) AND o.records <> '[]'
                        \(sql: range)
                    ORDER BY \(sql: order) LIMIT \(wanted)
                ) AS o
            ) AS o
            WHERE o.before < \(wanted) ORDER BY \(sql: order)
            """
    }

    /// Whether a row of the log stands behind a cursor, or at it.
    func isBehind(_ at: PostgresTimestamp, _ number: Int64, isIncluded: Bool) -> SQL {
        switch (query.isOldestFirst, isIncluded) {
        case (true, true): "(o.at, o.number) >= (\(at), \(number))"
        case (true, false): "(o.at, o.number) > (\(at), \(number))"
        case (false, true): "(o.at, o.number) <= (\(at), \(number))"
        case (false, false): "(o.at, o.number) < (\(at), \(number))"
        }
    }

    private static func read(_ row: borrowing Row) throws -> LogRow {
        LogRow(
            at: try row.decode(0),
            number: try row.decode(1),
            event: try row.eventID(2),
            provider: try row.choice(3),
            app: try row.decode(4),
            records: try [DeviceRecord](stored: try row.decode(5))
        )
    }

    private func failures(of row: LogRow) -> [FailedDelivery] {
        row.records.enumerated().filter { FailedDelivery.states.contains($1.state) }.map { entry, record in
            FailedDelivery(
                cursor: FailureCursor(microseconds: row.at.microsecondsSince1970, number: row.number, entry: entry),
                eventID: row.event,
                provider: row.provider,
                appID: row.app,
                record: record
            )
        }
    }

    /// Says of each what its event was called, and where it was.
    private func named(
        _ failures: [FailedDelivery],
        _ session: borrowing PostgresSession
    ) throws -> [FailedDelivery] {
        guard !failures.isEmpty else { return [] }
        let ids = Set(failures.map(\.eventID)).map(\.uuid)
        var events: [EventID: (source: String, channel: ChannelID?)] = [:]
        try session.forEach(
            """
            SELECT event_id, source_id, channel_id FROM events
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids))
            UNION ALL
            SELECT event_id, source_id, channel_id FROM inbox
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids))
            """
        ) { row in
            let channel = try row.decode(2, as: String?.self).map(ChannelID.init(trusted:))
            events[try row.eventID(0)] = (try row.decode(1), channel)
        }
        return failures.map { failure in
            var failure = failure
            failure.sourceID = events[failure.eventID]?.source
            failure.channelID = events[failure.eventID]?.channel
            return failure
        }
    }
}
