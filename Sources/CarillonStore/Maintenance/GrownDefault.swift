import CarillonCore
import Foundation
import Postgres

/// A default partition that has grown: rows came for days that had no partition, while somebody kept them from being made.
///
/// To look through it takes seconds, and to move its rows minutes, so its rows stay where they are. The table becomes the
/// partition of the days that they are of, and an empty one takes its place. That takes a moment, since a constraint has
/// proven before, beside the work, that there are rows of no other day.
struct GrownDefault: Sendable {
    /// How many days there are at least, today included, before the constraint could refuse anybody's row: should somebody
    /// keep it from being dropped, that lasts for no longer than a day and its night.
    private static let daysAhead: Int64 = 2
    private static let settings: SQL = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000"

    let partitions: DailyPartitions

    private var name: String { partitions.defaultName }
    private var prefix: String { "\(partitions.table)_days_" }

    /// Which days it can be the partition of; `nil` where it has rows of days far apart, or none.
    func days(
        from oldest: PartitionDay,
        today: PartitionDay,
        _ session: borrowing PostgresSession
    ) throws -> Range<PartitionDay>? {
        // All of it is read, and not in the order of an index.
        try session.execute("SELECT set_config('enable_seqscan', 'on', true)")
        // There is no smallest UUID before PostgreSQL 18; as text they have the same order.
        let bounds = try session.queryFirst(
            """
            SELECT min(event_id::text COLLATE "C")::uuid, max(event_id::text COLLATE "C")::uuid FROM \(identifier: name)
            """
        ) { row in (try row.decode(0, as: UUID?.self), try row.decode(1, as: UUID?.self)) }
        guard let first = bounds?.0.map(PartitionDay.init(of:)), let last = bounds?.1.map(PartitionDay.init(of:)) else {
            return nil
        }
        let others = try partitions.partitions(session).map(\.days)
        let start = max(oldest, others.map(\.upperBound).filter { $0 <= first }.max() ?? oldest)
        let limit = today.advanced(by: Self.daysAhead)
        let end = min(limit, others.map(\.lowerBound).filter { $0 > last }.min() ?? limit)
        guard start <= first, last < end, !others.contains(where: (start..<end).overlaps) else { return nil }
        return start..<end
    }

    /// Lets in no more rows but of these days, unless another replica has made their partition meanwhile. Takes a moment, as it does
    /// not look at those that are there.
    func admit(only days: Range<PartitionDay>, _ session: borrowing PostgresSession) throws {
        guard try !partitions.partitions(session).contains(where: { $0.days.overlaps(days) }) else { return }
        let constraint = constraint(of: days)
        let present = try constraints(session)
        try lift(present.filter { $0 != constraint }, session)
        guard !present.contains(constraint) else { return }
        try session.execute(
            """
            ALTER TABLE \(identifier: name) ADD CONSTRAINT \(identifier: constraint)
            CHECK (\(sql: DailyPartitions.condition(of: days))) NOT VALID
            """
        )
    }

    /// Looks at those that are there. Takes long, and keeps nobody from reading and writing.
    func prove(_ days: Range<PartitionDay>, _ session: borrowing PostgresSession) throws {
        guard try constraints(session).contains(constraint(of: days)) else { return }
        try session.execute(
            "ALTER TABLE \(identifier: name) VALIDATE CONSTRAINT \(identifier: constraint(of: days))"
        )
    }

    /// Makes it the partition of these days, for which that has been proven, and puts an empty one in its place. Takes a moment.
    func become(partitionOf days: Range<PartitionDay>, _ session: borrowing PostgresSession) throws {
        let table = partitions.table
        let last = days.upperBound.advanced(by: -1)
        let partition = partitions.name(of: last)
        try session.execute("LOCK TABLE ONLY \(identifier: table), ONLY \(identifier: name) IN ACCESS EXCLUSIVE MODE")
        // Another replica may have been here in the meantime.
        guard try isProven(days, session) else { return }
        try session.execute("ALTER TABLE \(identifier: table) DETACH PARTITION \(identifier: name)")
        try session.execute("ALTER TABLE \(identifier: name) RENAME TO \(identifier: partition)")
        try partitions.attach(partition, of: days, session)
        try session.execute(
            "CREATE TABLE \(identifier: name) (LIKE \(identifier: table) INCLUDING ALL) WITH (\(sql: Self.settings))"
        )
        try session.execute("ALTER TABLE \(identifier: table) ATTACH PARTITION \(identifier: name) DEFAULT")
        try session.execute(
            """
            ALTER TABLE \(identifier: partition) DROP CONSTRAINT \(identifier: constraint(of: days)),
                SET (\(sql: DailyPartitions.settings))
            """
        )
    }

    /// Lets in rows of a day and of those behind it, should a process have ended in between that let in those before it only.
    func admit(from day: PartitionDay, _ session: borrowing PostgresSession) throws {
        try lift(constraints(session).filter { $0.suffix(8) <= day.suffix }, session)
    }

    /// Lets in rows of all days again.
    func admitAll(_ session: borrowing PostgresSession) throws {
        try lift(constraints(session), session)
    }

    private func constraint(of days: Range<PartitionDay>) -> String {
        "\(prefix)\(days.lowerBound.suffix)_\(days.upperBound.suffix)"
    }

    private func constraints(_ session: borrowing PostgresSession) throws -> [String] {
        try session.query(
            """
            SELECT conname::text FROM pg_constraint
            WHERE conrelid = \(name)::regclass AND contype = 'c' AND starts_with(conname::text, \(prefix))
            """
        ) { row in try row.decode(0) }
    }

    private func isProven(_ days: Range<PartitionDay>, _ session: borrowing PostgresSession) throws -> Bool {
        try session.queryFirst(
            """
            SELECT FROM pg_constraint
            WHERE conrelid = \(name)::regclass AND conname = \(constraint(of: days)) AND convalidated
            """
        ) { _ in true } ?? false
    }

    private func lift(_ constraints: [String], _ session: borrowing PostgresSession) throws {
        for constraint in constraints {
            try session.execute("ALTER TABLE \(identifier: name) DROP CONSTRAINT \(identifier: constraint)")
        }
    }
}
