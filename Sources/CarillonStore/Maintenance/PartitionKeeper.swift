import CarillonCore
import Logging
import Postgres
import Synchronization

/// Makes and drops the daily partitions, and never lets anybody wait for it.
///
/// Both need locks that stop writers, for a moment; but while somebody reads for hours, as a backup does, they would stop
/// those behind for as long as they wait. So they wait for 50 ms, and then some minutes until they try again.
final class PartitionKeeper: Sendable {
    static let lockTimeout = Duration.milliseconds(50)
    /// How long it is left alone after a first failure; each further one doubles it.
    private static let firstPause = Duration.seconds(60)
    private static let longestPause = Duration.seconds(30 * 60)
    /// For how long it may fail before somebody should know.
    private static let patience = Duration.seconds(86_400)

    /// What is to be done to a table, or has been tried in vain.
    private enum Work: String {
        case make, drop
    }

    private struct Failures {
        var since: Timestamp
        var count = 0
        var pausedUntil: Timestamp
        var reportedAt: Timestamp?
    }

    private let pool: PostgresPool
    private let clock: WallClock
    private let logger: Logger
    private let failures = Mutex<[String: Failures]>([:])

    init(pool: PostgresPool, clock: WallClock, logger: Logger) {
        self.pool = pool
        self.clock = clock
        self.logger = logger
    }

    /// Makes the partitions of today and the next days. Where one cannot be made now, rows wait in the default partition.
    func make(daysAhead: Int64) async throws {
        let today = PartitionDay(containing: clock.now())
        for table in DailyPartitions.tables {
            let partitions = DailyPartitions(table: table)
            let days = try await pool.withConnection { session in try partitions.days(session) }
            for day in (0...daysAhead).map(today.advanced(by:)) where !days.contains(day) {
                guard try await attempt(.make, of: table, { try partitions.make(day, $0) }) else { break }
            }
        }
    }

    /// Drops the partitions of the days before `oldest`.
    func drop(before oldest: PartitionDay) async throws {
        for table in DailyPartitions.tables {
            let partitions = DailyPartitions(table: table)
            let days = try await pool.withConnection { session in try partitions.days(session) }
            for day in days where day < oldest {
                guard try await attempt(.drop, of: table, { try partitions.drop(day, $0) }) else { break }
                logger.info("Dropped an old partition", metadata: ["partition": "\(partitions.name(of: day))"])
            }
        }
    }

    /// Whether it was done, here or by another replica.
    private func attempt(
        _ work: Work,
        of table: String,
        _ body: @Sendable (borrowing PostgresSession) throws -> Void
    ) async throws -> Bool {
        let name = "\(table): \(work.rawValue)"
        let now = clock.now()
        guard failures.withLock({ $0[name].map { $0.pausedUntil <= now } ?? true }) else { return false }
        do {
            let isOurs: Void? = try await pool.takingTurn(at: name, lockTimeout: Self.lockTimeout, body)
            if isOurs != nil { failures.withLock { $0[name] = nil } }
            return isOurs != nil
        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
            noteFailure(of: name, at: now)
            return false
        }
    }

    private func noteFailure(of name: String, at now: Timestamp) {
        let lasts = failures.withLock { failures -> Duration? in
            var failure = failures[name] ?? Failures(since: now, pausedUntil: now)
            failure.pausedUntil = now + min(Self.longestPause, Self.firstPause * (1 << min(failure.count, 10)))
            failure.count += 1
            defer { failures[name] = failure }
            let lasts = now - failure.since
            guard lasts >= Self.patience, failure.reportedAt.map({ now - $0 >= Self.patience }) ?? true else {
                return nil
            }
            failure.reportedAt = now
            return lasts
        }
        guard let lasts else { return }
        logger.warning(
            "Somebody has been reading a table for so long that its partitions can neither be made nor dropped",
            metadata: ["task": "\(name)", "hours": "\(lasts.components.seconds / 3600)"]
        )
    }
}
