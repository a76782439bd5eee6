package import CarillonCore
import struct Foundation.UUID
package import Logging
package import Postgres
import ServiceLifecycle

/// Keeps the database small: makes and drops the daily partitions, forgets what has aged, sweeps what removals have ended.
///
/// Any number of replicas may sweep at once; what one is doing the others leave out.
package final class Housekeeper: Service {
    /// How long events, outcomes, dead letters and tombstones are kept, in days.
    static let retentionDays: Int64 = 14
    /// How long unregistered devices are kept, in days: until then they can be restored.
    static let unregisteredRetentionDays: Int64 = 30
    /// How long quarantined devices are kept, in days: what was wrong may have been ours.
    static let quarantinedRetentionDays: Int64 = 400
    /// How long it is kept what was answered to posts and requests.
    static let journalRetention = Duration.seconds(7 * 86_400)
    static let daysAhead: Int64 = 3

    private static let batchSize = 5000
    /// In one of how many sweeps it is looked for dead letters beyond those that are kept.
    private static let sweepsForSurplus = 20
    private static let pace = PollPace(
        interval: .seconds(60),
        jitter: 0.1,
        growth: 5,
        longest: .seconds(300),
        isCalled: false
    )

    private let pool: PostgresPool
    private let clock: WallClock
    private let databaseClock: DatabaseClock?
    /// The time of journals, which is the same in all placements.
    private let journalClock: WallClock
    private let feedback: FeedbackWriter?
    private let partitions: PartitionUpkeep
    private let chores: Chores
    private let removals = RemovalSweep.Cursors()
    private let leftovers: LeftoverSweep
    private let relays: RelaySweep
    private let former: FormerNetworks
    private let orphans: OrphanSweep
    private let activity: Activity
    private let logger: Logger

    /// A housekeeper for the database of `pool` that takes the date from `clock`, and tells `feedback` what becomes of devices
    /// and subscriptions. Partitions are made and dropped through `tables`, where that is another way to the same database. Nothing is
    /// deleted while the database's clock, as `databaseClock` sees it, and this machine's do not agree: what is old by a clock that is
    /// wrong may be new, and is gone for good.
    package init(
        pool: PostgresPool,
        tables: PostgresPool? = nil,
        clock: WallClock = .system,
        comparing databaseClock: DatabaseClock? = nil,
        journalClock: WallClock? = nil,
        feedback: FeedbackWriter? = nil,
        activity: Activity = Activity(),
        logger: Logger
    ) {
        self.pool = pool
        self.clock = clock
        self.databaseClock = databaseClock
        self.journalClock = journalClock ?? clock
        self.feedback = feedback
        partitions = PartitionUpkeep(pool: tables ?? pool, clock: clock, logger: logger)
        chores = Chores(clock: clock)
        leftovers = LeftoverSweep(pool: pool, chores: chores)
        relays = RelaySweep(pool: pool, chores: chores)
        former = FormerNetworks(pool: pool)
        orphans = OrphanSweep(pool: pool)
        self.activity = activity
        self.logger = logger
    }

    /// Sweeps every minute, and more rarely while nothing happens, until graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await self.tidyUp()
            await self.activity.repeating(Self.pace) { await self.tidyUp() }
        }
    }

    private func tidyUp() async {
        do {
            try await Activity.$isRoutine.withValue(true) { try await sweep() }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("Could not tidy up the database", metadata: ["error": "\(error)"])
        }
    }

    /// Does all that is due, in transactions of bounded size. Meant to be run every minute or so.
    ///
    /// What fails does not keep the rest from being done, and is left alone for a while.
    /// - Throws: ``UntidyError`` that names what failed, when all has been tried; `PostgresError` when the clock cannot be asked for.
    package func sweep() async throws {
        var failures: [UntidyError.Failure] = []
        func note(_ error: (any Error)?, _ task: String) {
            if let error { failures.append(UntidyError.Failure(task: task, reason: "\(error)")) }
        }
        func attempt(_ task: String, as name: String? = nil, _ step: () async throws -> Void) async {
            note(await chores.attempt(name ?? task, step), task)
        }
        // What has pieces of its own tries them one by one.
        func attemptPieces(_ task: String, _ sweep: () async throws -> Void) async {
            do { try await sweep() } catch { note(error, task) }
        }
        if let skew = try await databaseClock?.look(pool), skew.isTooLarge {
            await attempt("new partitions") { try await makePartitions() }
            let reason = "\(skew.description): nothing is deleted until both follow the same time server"
            throw UntidyError(failures: failures + [UntidyError.Failure(task: "clock", reason: reason)])
        }
        await attempt("old partitions") { try await partitions.drop(before: oldestDay) }
        await attempt("default partitions") { try await partitions.adopt(from: oldestDay) }
        await attempt("new partitions") { try await makePartitions() }
        for (table, condition) in outOfDate { await attempt(table) { try await sweep(table, where: condition) } }
        var listeners: FeedbackListeners?
        await attempt("endpoints") { listeners = try await feedback.listeners() }
        if let listeners {
            await attemptPieces("removals") {
                try await RemovalSweep(pool: pool, listeners: listeners, chores: chores, cursors: removals).sweep()
            }
            for (number, condition) in Self.agedDevices.enumerated() {
                await attempt("devices", as: "devices: \(number)") {
                    try await sweepDevices(where: condition, telling: listeners)
                }
            }
            await attemptPieces("leftovers") { try await leftovers.sweep(telling: listeners) }
        }
        await attempt("statistics") { try await StatisticsSweep(pool: pool, clock: clock, logger: logger).sweep() }
        for (table, condition) in Self.aged { await attempt(table) { try await sweep(table, where: condition) } }
        // To find a surplus all that stays is walked over.
        if Int.random(in: 0..<Self.sweepsForSurplus) == 0 {
            await attempt("surplus of dead letters") { try await DeadLetterSweep(pool: pool).sweep() }
        }
        await attemptPieces("relayed") { try await relays.sweep() }
        await attempt("former removals") { try await sweepAgain() }
        await attempt("rows of no network") { try await orphans.sweep() }
        var isDone = true
        await attemptPieces("deleted networks") { isDone = try await former.sweep(chores) }
        // What was left is gone on with in a minute, also where nothing else happens.
        if !isDone || removals.areLeft { activity.note() }
        if !failures.isEmpty { throw UntidyError(failures: failures) }
    }

    /// Makes the partitions of today and the next days; to be done before the first row for them is written, too.
    ///
    /// Where that cannot be done in a moment, it is done later, and rows of these days wait in the default partition.
    package func makePartitions() async throws {
        try await partitions.make(daysAhead: Self.daysAhead)
    }

    private var oldestDay: PartitionDay { PartitionDay(containing: clock.now()).advanced(by: -Self.retentionDays) }

    /// What goes by the age of its ids, which are times.
    private var outOfDate: [(table: String, condition: SQL)] {
        let oldestEntry = UUID.version7Floor(of: journalClock.now() - Self.journalRetention)
        let oldestText = UUID.version7Floor(of: clock.now() - FaceTexts.retention)
        // What a clock that was wrong has made would count as the latest until its time has come.
        let lead = UUIDv7Generator.longestLead * 2
        let latestText = UUID.version7Floor(of: clock.now() + lead)
        let latestEntry = UUID.version7Floor(of: journalClock.now() + lead)
        return [
            ("stopped_users", "event_id < \(oldestDay.firstID)"),
            ("message_texts", "event_id < \(oldestText) OR event_id > \(latestText)"),
            ("journal", "entry_id < \(oldestEntry) OR entry_id > \(latestEntry)"),
        ]
    }

    private static var aged: [(table: String, condition: SQL)] {
        let window = Int(idempotencyWindow.components.seconds / 86_400)
        let days = Int(retentionDays)
        return [
            ("changes", "changed_at < now() - interval '10 minutes'"),
            ("event_keys", "received_at < now() - \(window) * interval '1 day'"),
            ("withdrawals", "withdrawn_at < now() - \(days) * interval '1 day'"),
            ("dead_letters", "at < now() - \(days) * interval '1 day'"),
            ("provider_tokens", "issued_at < now() - interval '1 day'"),
            (
                "lanes",
                "changed_at < now() - interval '25 hours' AND braked_since IS NULL AND (believed_until < now()) IS NOT FALSE"
            ),
            ("statistics_minutes", "rolled AND at < now() - interval '8 days'"),
            ("statistics_hours", "at < now() - interval '90 days'"),
            ("idempotency_keys", "created_at < now() - interval '1 day'"),
            ("network_requests", "created_at < now() - interval '1 day'"),
            ("deleted_networks", "deleted_at < now() - \(days) * interval '1 day'"),
            ("used_nonces", "expires_at < now()"),
            (
                "members",
                """
                NOT is_member AND toggles IS NULL AND \(sql: isOld)
                    AND (toggles_updated_at < now() - \(days) * interval '1 day') IS NOT FALSE
                """
            ),
            ("channels", isOldRemoval + " AND NOT EXISTS (SELECT FROM members m WHERE \(sql: isOfChannel))"),
            (
                "users",
                isOldRemoval + """
                     AND NOT EXISTS (SELECT FROM members m
                                    WHERE m.network_id = users.network_id AND m.user_id = users.user_id)
                    AND NOT EXISTS (SELECT FROM devices d
                                    WHERE d.network_id = users.network_id AND d.user_id = users.user_id)
                    AND NOT EXISTS (SELECT FROM subscriptions s
                                    WHERE s.network_id = users.network_id AND s.kind = 'user'
                                        AND s.subject_id = users.user_id)
                    """
            ),
        ]
    }

    private static let isOld: SQL = "facts_at < now() - \(Int(retentionDays)) * interval '1 day'"

    /// Whether a removal goes: when it has ended everything, or what is older would come back to life. It is found by what the index of
    /// tombstones knows, so that no index has to know when anybody was last spoken of.
    private static let isOldRemoval: SQL = """
        deleted AND NOT unswept AND coalesce(wiped_at, 'epoch') < now() - \(Int(retentionDays)) * interval '1 day'
        AND \(sql: isOld)
        """

    private static var agedDevices: [SQL] {
        let unregistered = Int(unregisteredRetentionDays)
        let quarantined = Int(quarantinedRetentionDays)
        return [
            "state = 'unregistered' AND state_at < now() - \(unregistered) * interval '1 day'",
            "state = 'quarantined' AND state_at < now() - \(quarantined) * interval '1 day'",
            // Nobody registered these; the next notification to such an address makes them again.
            "transient AND state = 'active' AND seen_at < now() - interval '60 days'",
            // Anybody could make up such addresses; homeservers were told to forget them a day ago.
            "state = 'quarantined' AND transient AND state_at < now() - interval '2 days'",
            """
            transient AND state = 'active' AND error = 'not delivered to yet'
                AND registered_at < now() - interval '1 day'
            """,
        ]
    }

    private static let isOfChannel: SQL = """
        m.network_id = channels.network_id AND m.channel_id = channels.channel_id
        """

    private func sweep(_ table: String, where condition: SQL) async throws {
        try await pool.repeatingWithTaskLock(on: table, batchSize: Self.batchSize) { session in
            try session.execute(Self.deleting(from: table, where: condition))
        }
    }

    /// Forgets devices, and tells who asks for it; of those that came with a notification nobody was told before.
    private func sweepDevices(where condition: SQL, telling listeners: FeedbackListeners) async throws {
        let deleting = Self.deleting(from: "devices", where: condition)
        let isHeard = listeners.want([.deviceDeleted])
        try await pool.repeatingWithTaskLock(on: "devices", batchSize: Self.batchSize) { session in
            guard isHeard else { return try session.execute(deleting) }
            let deleted = try session.query(
                deleting + " RETURNING network_id, device_id, user_id, provider, app_id"
            ) { row -> (network: NetworkID, change: DirectoryChange)? in
                let network: NetworkID = try row.id(0)
                return try row.change(.deleted(.aged), in: network, at: 1).map { (network, $0) }
            }
            try listeners.tell(deleted.compactMap(\.self), session)
            return deleted.count
        }
    }

    private static func deleting(from table: String, where condition: SQL) -> SQL {
        """
        DELETE FROM \(identifier: table) WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM \(identifier: table) WHERE \(sql: condition) LIMIT \(batchSize)
            FOR UPDATE SKIP LOCKED))
        """
    }

    /// Has removals swept once more that are old but still hold something: what was written beside their first sweep.
    private func sweepAgain() async throws {
        _ = try await pool.withTaskLock(on: "removals: again") { session in
            try session.execute(
                """
                UPDATE channels SET unswept = true
                WHERE \(sql: Self.isOldRemoval) AND EXISTS (SELECT FROM members m
                                                WHERE \(sql: Self.isOfChannel) AND m.facts_at <= channels.emptied_at)
                """
            )
            try session.execute(
                """
                UPDATE users SET unswept = true
                WHERE \(sql: Self.isOldRemoval)
                    AND (EXISTS (SELECT FROM devices d
                                 WHERE d.network_id = users.network_id AND d.user_id = users.user_id
                                     AND d.user_wipes < users.wipes)
                         OR EXISTS (SELECT FROM subscriptions s
                                    WHERE s.network_id = users.network_id AND s.kind = 'user'
                                        AND s.subject_id = users.user_id AND s.user_wipes < users.wipes)
                         OR EXISTS (SELECT FROM members m
                                    WHERE m.network_id = users.network_id AND m.user_id = users.user_id
                                        AND m.facts_at <= users.wiped_at))
                """
            )
        }
    }
}
