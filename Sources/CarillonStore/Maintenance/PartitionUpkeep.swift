import CarillonCore
import Logging
import Postgres
import Synchronization

/// Makes and drops the daily partitions, and never lets anybody wait for it.
///
/// Both need locks that stop writers, for a moment; but while somebody reads for hours, as a backup does, they would stop
/// those behind for as long as they wait. So they wait for 50 ms, and then some minutes until they try again.
final class PartitionUpkeep: Sendable {
    static let lockTimeout = Duration.milliseconds(50)
    /// For how long it may fail before somebody should know.
    private static let patience = Duration.seconds(86_400)
    /// How long after a pause a failure is one that follows: what somebody else has done since is not tried again.
    private static let memory = Duration.seconds(3_600)
    /// How long the whole of a default partition may be looked through, with nobody waiting.
    private static let longestLook = Duration.seconds(600)

    /// What is to be done to a table, or has been tried in vain.
    private enum Work: String {
        case make, drop, adopt
    }

    private enum Obstacle {
        case reader, scattered

        var message: Logger.Message {
            switch self {
            case .reader:
                "Somebody has been reading a table for so long that its partitions can neither be made nor dropped"
            case .scattered:
                "Rows of days far apart are in a default partition, so new days get no partition of their own"
            }
        }
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
    /// Before which day there is nothing left in the default partition of a table.
    private let cleared = Mutex<[String: PartitionDay]>([:])

    init(pool: PostgresPool, clock: WallClock, logger: Logger) {
        self.pool = pool
        self.clock = clock
        self.logger = logger
    }

    /// Makes the partitions of today and the next days. Where one cannot be made now, rows wait in the default partition.
    func make(daysAhead: Int64) async throws {
        let today = PartitionDay(containing: clock.now())
        for partitions in DailyPartitions.tables.map(DailyPartitions.init) {
            let (present, isSmall) = try await pool.withConnection { session in
                (try partitions.partitions(session), try partitions.isDefaultSmall(session))
            }
            guard isSmall else {
                let grown = GrownDefault(partitions: partitions)
                _ = try await attempt(.make, of: partitions) { try grown.admit(from: today, $0) }
                continue
            }
            let days = (0...daysAhead).map(today.advanced(by:))
            for day in days where !present.contains(where: { $0.days.contains(day) }) {
                guard try await attempt(.make, of: partitions, { try partitions.make(day, $0) }) else { break }
            }
        }
    }

    /// Makes default partitions that have grown partitions of their days, of which none is before `oldest`.
    func adopt(from oldest: PartitionDay) async throws {
        for partitions in DailyPartitions.tables.map(DailyPartitions.init) {
            let isSmall = try await pool.withConnection { session in try partitions.isDefaultSmall(session) }
            if !isSmall { try await adopt(GrownDefault(partitions: partitions), from: oldest) }
        }
    }

    private func adopt(_ grown: GrownDefault, from oldest: PartitionDay) async throws {
        let name = name(of: .adopt, of: grown.partitions)
        let now = clock.now()
        guard !isPaused(name, at: now) else { return }
        let options = TransactionOptions(readOnly: true, statementTimeout: Self.longestLook)
        let days = try await pool.withTransaction(options) { session in
            try grown.days(from: oldest, today: PartitionDay(containing: now), session)
        }
        guard let days else { return noteFailure(of: name, because: .scattered, at: now) }
        do {
            let steps: [@Sendable (borrowing PostgresSession) throws -> Void] = [
                { try grown.admit(only: days, $0) }, { try grown.prove(days, $0) },
                { try grown.become(partitionOf: days, $0) },
            ]
            for step in steps {
                guard try await attempt(.adopt, of: grown.partitions, step) else { break }
            }
        } catch {
            _ = try? await take(name) { try grown.admitAll($0) }
            throw error
        }
        guard isPaused(name, at: now) else { return }
        _ = try? await take(name) { try grown.admitAll($0) }
    }

    /// Drops the partitions of the days before `oldest`, and deletes what is older from the default partitions.
    func drop(before oldest: PartitionDay) async throws {
        for partitions in DailyPartitions.tables.map(DailyPartitions.init) {
            let present = try await pool.withConnection { session in try partitions.partitions(session) }
            for partition in present where partition.days.upperBound <= oldest {
                guard try await attempt(.drop, of: partitions, { try partitions.drop(partition, $0) }) else { break }
                logger.info("Dropped an old partition", metadata: ["partition": "\(partition.name)"])
            }
            try await clear(partitions, before: oldest)
        }
    }

    /// Once a day: what is not old now will not be before tomorrow.
    private func clear(_ partitions: DailyPartitions, before oldest: PartitionDay) async throws {
        guard cleared.withLock({ $0[partitions.table] != oldest }) else { return }
        var (block, end) = (0, 1)
        while block < end {
            let size = try await pool.withTaskLock(on: partitions.defaultName) { [block] session in
                try partitions.clear(before: oldest, fromBlock: block, session)
            }
            guard let size else { return }
            (block, end) = (block + DailyPartitions.sweptBlocks, size)
        }
        cleared.withLock { $0[partitions.table] = oldest }
    }

    /// Whether it was done, here or by another replica.
    private func attempt(
        _ work: Work,
        of partitions: DailyPartitions,
        _ body: @Sendable (borrowing PostgresSession) throws -> Void
    ) async throws -> Bool {
        let name = name(of: work, of: partitions)
        let now = clock.now()
        guard !isPaused(name, at: now) else { return false }
        do {
            let isOurs: Void? = try await take(name, body)
            if isOurs != nil { failures.withLock { $0[name] = nil } }
            return isOurs != nil
        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
            noteFailure(of: name, because: .reader, at: now)
            return false
        }
    }

    private func take(
        _ name: String,
        _ body: @Sendable (borrowing PostgresSession) throws -> Void
    ) async throws -> Void? {
        try await pool.withTaskLock(
            on: name,
            lockTimeout: Self.lockTimeout,
            statementTimeout: Self.longestLook,
            body
        )
    }

    private func name(of work: Work, of partitions: DailyPartitions) -> String {
        "\(partitions.table): \(work.rawValue)"
    }

    private func isPaused(_ name: String, at now: Timestamp) -> Bool {
        failures.withLock { $0[name].map { $0.pausedUntil > now } ?? false }
    }

    private func noteFailure(of name: String, because obstacle: Obstacle, at now: Timestamp) {
        let lasts = failures.withLock { failures -> Duration? in
            let former = failures[name].flatMap { now - $0.pausedUntil < Self.memory ? $0 : nil }
            var failure = former ?? Failures(since: now, pausedUntil: now)
            failure.pausedUntil = now + Chores.pause(afterFurther: failure.count)
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
            obstacle.message,
            metadata: ["task": "\(name)", "hours": "\(lasts.components.seconds / 3600)"]
        )
    }
}
