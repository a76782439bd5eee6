package import CarillonCore
import Foundation
package import Logging
package import Postgres

/// All that waits to be sent, looked at and given up by somebody who is no service: after a backup was restored it was sent long ago.
///
/// It is given up in steps, each a transaction of its own: what is cut off is gone on with by the next one who does it.
package struct PendingWork: Sendable {
    /// Why it ended, for those who ask about an event.
    package static let reason = "discarded by an operator"

    package struct Counts: Sendable, Equatable {
        /// Events whose recipients were still to be found.
        package var events = 0
        /// Devices that were to be notified.
        package var devices = 0
        /// Messages to endpoints.
        package var messages = 0
        /// Replays for endpoints.
        package var replays = 0
        /// When the first and the last of the events was accepted that any of it, but for replays, is about.
        package var accepted: ClosedRange<Timestamp>?

        package init() {}

        package var isEmpty: Bool { events == 0 && devices == 0 && messages == 0 && replays == 0 }
    }

    /// In rows: of events, and of deliveries, each for up to 500 devices.
    private static let (eventsPerStep, groupsPerStep) = (500, 50)
    /// Counting reads all that waits.
    private static let patience = Duration.seconds(600)

    private let pool: PostgresPool
    private let network: NetworkID?
    private let end: UUID?
    private let clock: WallClock
    private let logger: Logger

    /// What waits in the database of `pool`, of one network or of all, and of events that were accepted before a moment, or of any.
    ///
    /// The pool lends one connection, so that those of others can be told from it. Statistics are counted by `clock`.
    package init(
        pool: PostgresPool,
        of network: NetworkID? = nil,
        acceptedBefore before: Timestamp? = nil,
        clock: WallClock = .system,
        logger: Logger
    ) {
        self.pool = pool
        self.network = network
        end = before.map(UUID.version7Floor)
        self.clock = clock
        self.logger = logger
    }

    /// How many other connections of a Carillon there are to this database.
    package func othersAtWork() async throws -> Int {
        try await pool.first(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = current_setting('application_name')
                AND pid <> pg_backend_pid()
            """,
            as: Int.self
        ) ?? 0
    }

    package func isKnown(_ network: NetworkID) async throws -> Bool {
        try await pool.execute(.isThere(network)) > 0
    }

    package func counts() async throws -> Counts {
        let options = TransactionOptions(
            isolation: .repeatableRead,
            readOnly: true,
            statementTimeout: Self.patience
        )
        return try await pool.withTransaction(options) { session in
            var (counts, moments) = (Counts(), [Timestamp]())
            let events: SQL =
                "SELECT count(*), min(event_id::text), max(event_id::text) FROM inbox t WHERE \(sql: isMeant)"
            try session.forEach(events) { row in
                counts.events = try row.decode(0)
                moments += try Self.moments(row, 1)
            }
            let deliveries: SQL = """
                SELECT coalesce(sum(size) FILTER (WHERE provider <> 'relay'), 0)::bigint,
                       coalesce(sum(size) FILTER (WHERE provider = 'relay'), 0)::bigint, min(event_id::text), max(event_id::text)
                FROM deliveries t WHERE \(sql: isMeant)
                """
            try session.forEach(deliveries) { row in
                counts.devices = try row.decode(0)
                counts.messages = try row.decode(1)
                moments += try Self.moments(row, 2)
            }
            let replays: SQL = "SELECT count(*) FROM replays t WHERE \(sql: isMeantAsReplay)"
            try session.forEach(replays) { row in counts.replays = try row.decode(0) }
            if let first = moments.min(), let last = moments.max() { counts.accepted = first...last }
            return counts
        }
    }

    /// Ends all of it, unsent: devices as `expired`, messages to endpoints as `failed`, events as `done` with a failure.
    ///
    /// - Throws: `PostgresError`; the steps before are done.
    @discardableResult
    package func discard(progress: (Counts) -> Void = { _ in }) async throws -> Counts {
        let recorder = StatisticsRecorder(clock: clock)
        let writer = StatisticsWriter(recorder: recorder, log: PostgresStatisticsStore(pool: pool), logger: logger)
        var counts = Counts()
        do {
            // What makes more of it comes first.
            counts.replays = try await pool.write("DELETE FROM replays t WHERE \(sql: isMeantAsReplay)")
            try await steps { position in
                let ended = try await setAside(after: position)
                counts.events += ended.count
                progress(counts)
                return ended.last
            }
            try await steps { position in
                let settlements = try await settle(after: position)
                var news: [NetworkID: StatisticsFigures] = [:]
                for settlement in settlements {
                    let count = settlement.records.count
                    switch settlement.group.payload {
                    case .devices: counts.devices += count
                    case .messages: counts.messages += count
                    }
                    news[settlement.group.lane.networkID, default: StatisticsFigures()].count(settlement)
                }
                recorder.add(news)
                // Somebody may end this at any moment.
                await writer.write(includingThisMinute: false)
                progress(counts)
                return settlements.last.map { Position(network: $0.group.lane.networkID.rawValue, id: $0.group.id) }
            }
        } catch {
            await writer.write(includingThisMinute: true)
            throw error
        }
        await writer.write(includingThisMinute: true)
        return counts
    }

    private struct Position {
        var network = ""
        var id = UUID.smallest
    }

    /// Which rows of a queue, called `t`, are meant.
    private var isMeant: SQL { condition(on: "t.event_id") }

    private var isMeantAsReplay: SQL { condition(on: "t.until_id") }

    private func condition(on id: SQL) -> SQL {
        let inTime: SQL = end.map { "\(sql: id) < \($0)" } ?? "true"
        return network.map { "t.network_id = \($0.rawValue) AND \(sql: inTime)" } ?? inTime
    }

    /// The first and the last moment of what has ids in two columns.
    private static func moments(_ row: borrowing Row, _ column: Int) throws -> [Timestamp] {
        try [column, column + 1].compactMap { column in
            try row.decode(column, as: String?.self).flatMap(EventID.init).map {
                Timestamp(milliseconds: $0.milliseconds)
            }
        }
    }

    /// Takes one step after the other, each behind where the last one ended, until there is nothing left.
    private func steps(_ step: (Position) async throws -> Position?) async throws {
        var position = Position()
        while let next = try await step(position) {
            try Task.checkCancellation()
            position = next
        }
    }

    /// Ends some events whose recipients were still to be found.
    private func setAside(after position: Position) async throws -> [Position] {
        try await pool.write { session in
            try session.walkAlongIndexes()
            let rows = try session.queryQueue(
                """
                SELECT t.network_id, t.event_id FROM inbox t
                WHERE (t.network_id, t.event_id) > (\(position.network), \(position.id)) AND \(sql: isMeant)
                ORDER BY t.network_id, t.event_id LIMIT \(Self.eventsPerStep) FOR UPDATE
                """
            ) { row in Position(network: try row.decode(0), id: try row.decode(1)) }
            try session.walkAlongIndexes(only: false)
            let events = rows.map { row in
                AbandonedEvent(networkID: NetworkID(trusted: row.network), id: EventID(row.id), reason: Self.reason)
            }
            try PostgresEventInbox.setAside(events, session)
            return rows
        }
    }

    /// Ends some deliveries, whoever held them and whenever they would have been due; answers them in their order.
    private func settle(after position: Position) async throws -> [Settlement] {
        let outbox = PostgresOutbox(pool: pool, ids: UUIDv7Generator(clock: clock))
        let picking: SQL = """
            WITH picked AS MATERIALIZED (
                SELECT t.network_id, t.group_id, 1::bigint AS place, 0::bigint AS considered, now() AS first_at
                FROM deliveries t
                WHERE (t.network_id, t.group_id) > (\(position.network), \(position.id)) AND \(sql: isMeant)
                ORDER BY t.network_id, t.group_id LIMIT \(Self.groupsPerStep) FOR UPDATE
            )
            """
        return try await pool.write { session in
            while true {
                let answers = try session.pipeline([
                    .walkingAlongIndexes(only: true), .onQueue(PostgresOutbox.claiming(picking)),
                    .walkingAlongIndexes(only: false),
                ])
                let (claimed, tallies) = try PostgresOutbox.claimed(answers[1], session)
                // A step all of whose rows nobody can read has taken them out of the way.
                if claimed.isEmpty, !tallies.isEmpty { continue }
                let now = try session.now()
                let settlements = claimed.map { $0.group.ended(as: .expired, because: Self.reason, at: now) }
                    .sorted { $0.group.rowKey < $1.group.rowKey }
                _ = try outbox.settle(settlements, telling: [:], session)
                return settlements
            }
        }
    }
}
