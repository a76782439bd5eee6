package import CarillonCore
package import Postgres
import Synchronization

/// The database's clock, as looks at it tell.
///
/// What one replica writes down is compared with what others wrote, so all go by one clock. Between looks it goes on by a clock
/// that nobody sets; a look moves it only as far as it has surely been wrong.
package final class DatabaseClock: Sendable {
    private struct Point {
        var moment: Timestamp
        var instant: ContinuousClock.Instant

        func moment(at instant: ContinuousClock.Instant) -> Timestamp { moment + (instant - self.instant) }
    }

    private let local: WallClock
    private let point = Mutex<Point?>(nil)

    /// A clock that shows this machine's time, `local`, until the first look.
    package init(local: WallClock = .system) {
        self.local = local
    }

    /// The same clock for those who only want to know what time it is.
    package var wallClock: WallClock { WallClock { self.now() } }

    /// The database's time; before the first look this machine's.
    package func now() -> Timestamp {
        point.withLock { $0?.moment(at: .now) } ?? local.now()
    }

    /// Asks the database for the time, and whether it accepts writes.
    ///
    /// - Returns: How far this machine's clock is off.
    /// - Throws: `PostgresError`, with `readOnlySQLTransaction` for a standby.
    @discardableResult
    package func look(_ pool: PostgresPool) async throws -> ClockSkew {
        try await pool.withConnection { session in
            let start = ContinuousClock.now
            let before = local.now()
            let answer = try session.queryFirst(
                "SELECT clock_timestamp(), current_setting('transaction_read_only')"
            ) { row in (moment: try row.timestamp(0), isReadOnly: try row.decode(1, as: String.self) == "on") }
            let after = local.now()
            if answer?.isReadOnly == true { throw PostgresError(.server(.readOnlySQLTransaction)) }
            let moment = answer?.moment ?? before
            correct(between: start, and: .now, showing: moment)
            return ClockSkew(before: before, database: moment, after: after)
        }
    }

    /// The database's clock showed `moment`, cut to milliseconds, between two instants.
    func correct(
        between start: ContinuousClock.Instant,
        and end: ContinuousClock.Instant,
        showing moment: Timestamp
    ) {
        let took = end - start
        point.withLock { point in
            let earliest = moment
            let latest = moment + took + .milliseconds(1)
            let present = point?.moment(at: end) ?? moment + took / 2
            guard point == nil || present < earliest || present > latest else { return }
            point = Point(moment: min(max(present, earliest), latest), instant: end)
        }
    }
}
