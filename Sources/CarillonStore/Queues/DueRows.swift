import CarillonCore
import Postgres
import Synchronization

/// What one replica knows of where rows of a queue's table are due.
///
/// What is known may be wrong: a claim looks at the rows themselves, and what is missed is found by the next round through the table.
final class DueRows: Sendable {
    /// How long entries are served before somebody looks for others.
    private static let interval = Duration.milliseconds(300)
    /// How many rows a look takes in that have become due lately; if there are more, it asks network by network.
    private static let rowsAtOnce = 100

    private struct State {
        var walk = TableWalk()
        var index = DueIndex()
        var lookedAt: ContinuousClock.Instant?
        /// When a glance saw nothing, for the look that comes behind it.
        var quietAt: ContinuousClock.Instant?
        /// How often others have said that they have left something.
        var calls = 0
        var last: NetworkID?
    }

    private struct Finding: Sendable {
        var network: NetworkID
        /// The lane, where it is one of those that were asked about.
        var lane: Lane?
        /// Since when something is due that nobody has in hand.
        var since: Timestamp?
        /// Since when something is due whose lease has ended.
        var abandonedSince: Timestamp?
        var abandoned: [String]
    }

    private let table: String
    private let condition: SQL
    private let haveLanes: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    init(
        of table: String,
        where condition: SQL = "true",
        haveLanes: Bool = false,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.now = now
        self.table = table
        self.condition = condition
        self.haveLanes = haveLanes
    }

    /// The entries of the next networks in turn that are not full, after a look for others if it is time for one; whether they are
    /// remembered from an earlier look. When nothing is found there then, it is time for one.
    func next(
        _ limit: Int,
        excluding full: ClaimExclusions = ClaimExclusions(),
        in pool: PostgresPool
    ) async throws -> (entries: [DueIndex.Entry], areRemembered: Bool) {
        func entries() -> (entries: [DueIndex.Entry], isFresh: Bool) {
            state.withLock { state in
                let age = state.lookedAt.map { now() - $0 } ?? .seconds(Int64.max)
                return (state.index.next(limit, after: state.last, excluding: full), age < Self.interval)
            }
        }
        let known = entries()
        if known.isFresh, !known.entries.isEmpty { return (known.entries, true) }
        if known.entries.isEmpty, try await isQuiet(in: pool) { return ([], false) }
        let (findings, walk) = try await look(for: full.lanes + lanesApart, in: pool)
        try await release(findings.flatMap(\.abandoned), in: pool)
        note(findings, walk) { .earlier($0.since, $0.abandonedSince) }
        return (entries().entries, false)
    }

    /// Whether a row called `row` waits, is of the network of `n`, and has been due since then or later.
    static func areDue(_ row: SQL) -> SQL {
        """
        NOT \(sql: row).leased AND \(sql: row).network_id = n.network_id AND \(sql: row).run_at >= n.since
        AND \(sql: row).run_at <= now()
        """
    }

    /// The lanes that have entries of their own.
    var lanesApart: [Lane] { state.withLock { $0.index.lanesApart } }

    /// Notes how far entries have been walked through; whether something is left in any that is not full.
    func walked(
        _ entries: [(entry: DueIndex.Entry, first: Timestamp?)],
        passing full: ClaimExclusions = ClaimExclusions()
    ) -> Bool {
        state.withLock { state in
            for (entry, first) in entries { state.index.walked(entry, leaving: first, passing: full.lanes) }
            state.last = entries.last?.entry.network ?? state.last
            return !state.index.next(1, after: nil, excluding: full).isEmpty
        }
    }

    /// Since when the row of each network is due that has been for longest, by a column of it.
    func oldest(_ column: SQL, in pool: PostgresPool) async throws -> [NetworkID: Timestamp] {
        let findings = try await findings(in: pool)
        let entries = state.withLock { $0.index.next(.max, after: nil) }
        let abandoned = findings.map { ($0.network, $0.abandonedSince) }
        guard !entries.isEmpty else { return .earliest(abandoned) }
        let waiting = try await pool.snapshot { session in
            try session.walkAlongIndexes()
            return try session.queryQueue(
                """
                SELECT first.run_at, first.since
                FROM unnest(\(entries.map(\.network.rawValue)), \(entries.map(\.since.stored))) WITH ORDINALITY
                    AS n (network_id, since, place)
                LEFT JOIN LATERAL (
                    SELECT t.run_at, \(sql: column) AS since FROM \(identifier: table) t
                    WHERE \(sql: Self.areDue("t")) AND \(sql: condition)
                    ORDER BY t.run_at LIMIT 1
                ) AS first ON true
                ORDER BY n.place
                """
            ) { row in (dueAt: try row.timestampIfAny(0), since: try row.timestampIfAny(1)) }
        }
        _ = walked(zip(entries, waiting).map { ($0, $1.dueAt) })
        return .earliest(zip(entries, waiting).map { ($0.network, $1.since) } + abandoned)
    }

    /// What a look finds, as far as anything is known, or to be found.
    private func findings(in pool: PostgresPool) async throws -> [Finding] {
        let isAnyKnown = state.withLock { !$0.index.next(1, after: nil).isEmpty }
        if !isAnyKnown, try await isQuiet(in: pool) { return [] }
        let (findings, walk) = try await look(for: [], in: pool)
        note(findings, walk, since: \.since)
        return findings
    }

    /// How long it is until the first row's time comes, leased or not, of those whose time comes within `limit`. The look that follows
    /// sees what this has seen: what becomes due in between is told.
    ///
    /// What has died beyond that is passed over with what lives: so it is not asked while rows come and go.
    func nextDue(within limit: Duration, in pool: PostgresPool) async throws -> Duration? {
        let calls = state.withLock(\.calls)
        let glance = try await glance(within: limit, in: pool)
        if !glance.isAny {
            state.withLock { state in
                if state.calls == calls { state.quietAt = now() }
            }
        }
        return glance.next
    }

    /// Others say that they have left something: what has been seen before, or is being seen, says nothing of that.
    func callForLook() {
        state.withLock { state in
            state.calls += 1
            state.quietAt = nil
        }
    }

    /// Whether a look would find nothing: as a glance says that has just been cast, or another one.
    private func isQuiet(in pool: PostgresPool) async throws -> Bool {
        let isSaid = state.withLock { state in
            defer { state.quietAt = nil }
            return state.quietAt.map { now() - $0 < Self.interval } ?? false
        }
        if isSaid { return true }
        return try await !glance(within: .zero, in: pool).isAny
    }

    /// Takes in what a look would; what it finds nothing in need not be looked through.
    private func glance(within limit: Duration, in pool: PostgresPool) async throws -> DueGlance {
        var walk = state.withLock(\.walk)
        // A rest follows, in which nobody looks.
        walk.rest(for: limit, insteadOf: Self.interval)
        let glance = try await DueGlance.cast(at: table, where: condition, walk, within: limit, in: pool)
        if !glance.isAny {
            walk.went(on: glance.now, pages: glance.pages)
            note([], walk) { $0.since }
        }
        return glance
    }

    /// Remembers what a look found, and that it need not be looked for again.
    private func note(_ findings: [Finding], _ walk: TableWalk, since: (Finding) -> Timestamp?) {
        state.withLock { state in
            state.walk = walk
            state.lookedAt = now()
            for finding in findings {
                guard let since = since(finding) else { continue }
                state.index.add(DueIndex.Entry(network: finding.network, lane: finding.lane, since: since))
            }
        }
    }

    /// Looks where something is due: in which networks, apart from some lanes, and in which of these.
    private func look(for lanes: [Lane], in pool: PostgresPool) async throws -> ([Finding], TableWalk) {
        var walk = state.withLock(\.walk)
        let lane: SQL = haveLanes ? "t.provider, t.app_id" : "NULL AS provider, NULL AS app_id"
        let columns: SQL = "t.ctid, t.network_id, t.run_at, t.leased, \(sql: lane)"
        let late = walk.rowsOfLate(
            of: table,
            dueBy: "greatest(t.run_at)",
            where: condition,
            columns,
            limit: Self.rowsAtOnce
        )
        // The first row of a network stands for all its lanes.
        let rows: SQL = """
            SELECT * FROM late
            UNION ALL
            (SELECT \(sql: columns) FROM \(sql: walk.rowsOfPages(of: table)) AS t
             WHERE \(sql: condition) AND t.run_at <= now())
            UNION ALL
            SELECT first.ctid, n.network_id, first.run_at, false, NULL, NULL
            FROM (SELECT n.network_id, \(sql: walk.beginning) AS since FROM networks n
                  WHERE (SELECT count(*) FROM late) = \(Self.rowsAtOnce)) AS n
            CROSS JOIN LATERAL (
                SELECT t.ctid, t.run_at FROM \(identifier: table) t
                WHERE \(sql: Self.areDue("t")) AND \(sql: condition)
                ORDER BY t.run_at LIMIT 1
            ) AS first
            """
        let isApart: SQL = """
            (r.network_id, r.provider, r.app_id) IN (
                SELECT * FROM unnest(\(lanes.map(\.networkID.rawValue)), \(lanes.map(\.provider.rawValue)),
                                     \(lanes.map(\.appID))))
            """
        let answers = try await pool.withConnection { session in
            try session.queryQueue(
                """
                WITH late AS MATERIALIZED \(sql: late)
                SELECT \(sql: TableWalk.position(in: table)), found.*
                FROM (VALUES (1)) AS one LEFT JOIN (
                    SELECT r.network_id, CASE WHEN \(sql: isApart) THEN r.provider END AS provider,
                           CASE WHEN \(sql: isApart) THEN r.app_id END AS app_id,
                           min(r.run_at) FILTER (WHERE NOT r.leased), min(r.run_at) FILTER (WHERE r.leased),
                           coalesce(array_agg(r.ctid::text) FILTER (WHERE r.leased), '{}')
                    FROM (\(sql: rows)) AS r GROUP BY 1, 2, 3
                ) AS found ON true
                """
            ) { row in
                let network = try row.decode(2, as: String?.self)
                let finding = try network.map { network in
                    Finding(
                        network: NetworkID(trusted: network),
                        lane: try row.decode(4, as: String?.self).map { app in
                            Lane(networkID: NetworkID(trusted: network), provider: try row.choice(3), appID: app)
                        },
                        since: try row.timestampIfAny(5),
                        abandonedSince: try row.timestampIfAny(6),
                        abandoned: try row.decode(7)
                    )
                }
                return (now: try row.timestamp(0), pages: try row.decode(1, as: Int64.self), finding: finding)
            }
        }
        if let position = answers.first { walk.went(on: position.now, pages: position.pages) }
        return (answers.compactMap(\.finding), walk)
    }

    /// Takes rows from those who have not held on to their leases.
    private func release(_ abandoned: [String], in pool: PostgresPool) async throws {
        guard !abandoned.isEmpty else { return }
        try await pool.write { session in
            _ = try session.executeOnQueue(
                """
                UPDATE \(identifier: table) SET leased = false, rescues = rescues + 1
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM \(identifier: table)
                    WHERE ctid = ANY (\(abandoned)::tid[]) AND leased AND run_at <= now()
                    FOR UPDATE SKIP LOCKED))
                """
            )
        }
    }
}

extension [NetworkID: Timestamp] {
    /// The first moment of each network that has any.
    fileprivate static func earliest(_ moments: [(network: NetworkID, since: Timestamp?)]) -> Self {
        Self(moments.compactMap { network, since in since.map { (network, $0) } }, uniquingKeysWith: Swift.min)
    }
}
