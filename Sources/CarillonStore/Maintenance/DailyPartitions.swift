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

    init(of event: UUID) {
        self.init(containing: Timestamp(milliseconds: EventID(event).milliseconds))
    }

    private init(number: Int64) {
        self.number = number
    }

    /// `20261120`.
    var suffix: String { start.description.prefix(10).filter { $0 != "-" } }

    /// The smallest id of an event of this day.
    var firstID: UUID { .version7Floor(of: start) }

    /// The same as it is written where no parameter may be.
    fileprivate var literal: SQL { SQL(trusted: "'\(firstID.canonicalText)'") }

    private var start: Timestamp { Timestamp(milliseconds: number * Self.length) }

    func advanced(by days: Int64) -> PartitionDay { PartitionDay(number: number + days) }

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// The partitions of a table by day, named after it and their last day: `events_20261120`.
///
/// Mostly that is the only one. What comes before its day's partition is there lands in the default partition. A few rows are
/// moved when that is made; many stay, and ``GrownDefault`` makes them a partition.
struct DailyPartitions: Sendable {
    struct Partition: Sendable {
        let name: String
        let days: Range<PartitionDay>
    }

    static let tables = ["events", "outcomes", "relayed", "relays"]
    /// How large a default partition may be, in bytes, for its rows to be looked through and moved while writers wait: some
    /// ten thousand rows, and tens of milliseconds.
    static let smallSize = 1 << 20
    /// How many blocks of a default partition are swept at once: so many rows at most.
    static let sweptBlocks = 128
    /// A day is written once and read for two weeks: frozen on the first visit, it needs none later.
    static let settings: SQL = "autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_freeze_min_age = 0"

    let table: String

    var defaultName: String { "\(table)_default" }

    func name(of day: PartitionDay) -> String { "\(table)_\(day.suffix)" }

    /// All but the default partition, the oldest first.
    func partitions(_ session: borrowing PostgresSession) throws -> [Partition] {
        let partitions = try session.query(
            """
            SELECT c.relname::text, pg_get_expr(c.relpartbound, c.oid)
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = \(table)::regclass
            """
        ) { row -> Partition? in
            // FOR VALUES FROM ('…') TO ('…'), or DEFAULT.
            let words = try row.decode(1, as: String.self).split(separator: "'")
            let bounds = words.compactMap { UUID(uuidString: String($0)) }
            guard bounds.count == 2 else { return nil }
            let (first, end) = (PartitionDay(of: bounds[0]), PartitionDay(of: bounds[1]))
            return first < end ? Partition(name: try row.decode(0), days: first..<end) : nil
        }
        return partitions.compactMap(\.self).sorted { $0.days.lowerBound < $1.days.lowerBound }
    }

    /// Whether the default partition can be looked through in a moment.
    func isDefaultSmall(_ session: borrowing PostgresSession) throws -> Bool {
        try session.first("SELECT \(sql: .bytes(of: defaultName, wholly: true)) <= \(Self.smallSize)") ?? false
    }

    /// Makes the partition of a day unless it is there; to be done while the default partition is small.
    ///
    /// It is attached, not created in place: attaching lets others go on reading and writing the table meanwhile. Only
    /// the default partition is locked against writes, so that nothing can slip in behind the move.
    func make(_ day: PartitionDay, _ session: borrowing PostgresSession) throws {
        guard try !partitions(session).contains(where: { $0.days.contains(day) }) else { return }
        let name = name(of: day)
        let days = day..<day.advanced(by: 1)
        try session.execute("LOCK TABLE \(identifier: defaultName) IN SHARE ROW EXCLUSIVE MODE")
        try session.execute(
            "CREATE TABLE \(identifier: name) (LIKE \(identifier: table) INCLUDING ALL) WITH (\(sql: Self.settings))"
        )
        // Rows of a network that moves to another placement stay what they are.
        try session.passMoveFence()
        try session.execute(
            """
            WITH moved AS (DELETE FROM \(identifier: defaultName) WHERE \(sql: Self.condition(of: days)) RETURNING *)
            INSERT INTO \(identifier: name) SELECT * FROM moved
            """
        )
        try attach(name, of: days, session)
    }

    func attach(_ name: String, of days: Range<PartitionDay>, _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            ALTER TABLE \(identifier: table) ATTACH PARTITION \(identifier: name)
            FOR VALUES FROM (\(sql: days.lowerBound.literal)) TO (\(sql: days.upperBound.literal))
            """
        )
    }

    func drop(_ partition: Partition, _ session: borrowing PostgresSession) throws {
        try session.execute("DROP TABLE IF EXISTS \(identifier: partition.name)")
    }

    /// Deletes what is older than a day from some blocks of the default partition; answers how many blocks that has.
    func clear(
        before oldest: PartitionDay,
        fromBlock block: Int,
        _ session: borrowing PostgresSession
    ) throws -> Int {
        try session.execute(
            """
            DELETE FROM \(identifier: defaultName) WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM \(identifier: defaultName)
                WHERE ctid >= \("(\(block),0)")::tid AND ctid < \("(\(block + Self.sweptBlocks),0)")::tid
                    AND event_id < \(oldest.firstID)
                FOR UPDATE SKIP LOCKED))
            """
        )
        return try session.first(
            "SELECT \(sql: .bytes(of: defaultName)) / current_setting('block_size')::bigint"
        ) ?? 0
    }

    static func condition(of days: Range<PartitionDay>) -> SQL {
        "event_id >= \(sql: days.lowerBound.literal) AND event_id < \(sql: days.upperBound.literal)"
    }
}
