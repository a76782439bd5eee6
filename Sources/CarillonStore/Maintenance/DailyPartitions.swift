import CarillonCore
import Foundation
import Postgres

/// A day in UTC, by its number since 1970.
struct PartitionDay: Hashable, Comparable, Sendable {
    private static let length: Int64 = 86_400_000

    let number: Int64

    init(containing moment: Timestamp) {
        number = moment.milliseconds / Self.length
    }

    private init(number: Int64) {
        self.number = number
    }

    /// Reads the last eight characters of a partition's name, `20261120`.
    init?(suffix: Substring) {
        guard suffix.utf8.count == 8, Int(suffix) != nil else { return nil }
        let year = suffix.prefix(4)
        let month = suffix.dropFirst(4).prefix(2)
        guard let midnight = Timestamp(rfc3339: "\(year)-\(month)-\(suffix.suffix(2))T00:00:00Z") else { return nil }
        self.init(containing: midnight)
    }

    /// `20261120`.
    var suffix: String { start.description.prefix(10).filter { $0 != "-" } }

    /// The smallest id of an event of this day.
    var firstID: UUID { .version7Floor(of: start) }

    private var start: Timestamp { Timestamp(milliseconds: number * Self.length) }

    func advanced(by days: Int64) -> PartitionDay { PartitionDay(number: number + days) }

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// The partitions of a table by day, named after it: `events_20261120`.
///
/// What comes before its day's partition is there lands in the default partition, and is moved when it is made.
struct DailyPartitions: Sendable {
    static let tables = ["events", "outcomes", "relayed", "relays"]

    let table: String

    var defaultName: String { "\(table)_default" }

    func name(of day: PartitionDay) -> String { "\(table)_\(day.suffix)" }

    /// The days that have a partition, the oldest first.
    func days(_ session: borrowing PostgresSession) throws -> [PartitionDay] {
        let names = try session.query(
            """
            SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = \(table)::regclass
            """
        ) { row in try row.decode(0, as: String.self) }
        return names.compactMap { PartitionDay(suffix: $0.suffix(8)) }.sorted()
    }

    /// Makes the partition of a day unless it is there.
    ///
    /// It is attached, not created in place: attaching lets others go on reading and writing the table meanwhile. Only
    /// the default partition is locked against writes, so that nothing can slip in behind the move.
    func make(_ day: PartitionDay, _ session: borrowing PostgresSession) throws {
        guard try !days(session).contains(day) else { return }
        let partition = name(of: day)
        let first = day.firstID
        let end = day.advanced(by: 1).firstID
        try session.execute("LOCK TABLE \(identifier: defaultName) IN SHARE ROW EXCLUSIVE MODE")
        // A day is written once and read for two weeks: frozen on the first visit, it needs none later.
        try session.execute(
            """
            CREATE TABLE \(identifier: partition) (LIKE \(identifier: table) INCLUDING ALL)
            WITH (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_freeze_min_age = 0)
            """
        )
        try session.execute(
            """
            WITH moved AS (
                DELETE FROM \(identifier: defaultName) WHERE event_id >= \(first) AND event_id < \(end) RETURNING *
            )
            INSERT INTO \(identifier: partition) SELECT * FROM moved
            """
        )
        try session.execute(
            """
            ALTER TABLE \(identifier: table) ATTACH PARTITION \(identifier: partition)
            FOR VALUES FROM ('\(sql: SQL(trusted: first.canonicalText))') TO ('\(sql: SQL(trusted: end.canonicalText))')
            """
        )
    }

    /// Drops a day with all its rows.
    func drop(_ day: PartitionDay, _ session: borrowing PostgresSession) throws {
        try session.execute("DROP TABLE IF EXISTS \(identifier: name(of: day))")
    }
}
