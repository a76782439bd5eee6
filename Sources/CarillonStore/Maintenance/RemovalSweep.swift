import CarillonCore
package import Postgres
import Synchronization

/// Sweeps what the removals of users, channels and tags have ended, in small transactions that lock rows in the order of events.
package struct RemovalSweep {
    static let batchSize = 2_000
    /// How many removals of one network are swept at a time, so that others' get their turn.
    static let share = 100

    struct RemovedChannel: Sendable {
        var network: NetworkID
        var channel: ChannelID
        var wipedAt: PostgresTimestamp
        var emptiedAt: PostgresTimestamp
    }

    struct RemovedUser: Sendable {
        var network: NetworkID
        var user: UserID
        var wipedAt: PostgresTimestamp
        var wipes: Int
    }

    /// Where removals of one network were swept last of which there are more: the next ones have their turn before those that are removed
    /// over and over again.
    final class Cursors: Sendable {
        fileprivate let keys = Mutex<[String: [NetworkID: String]]>([:])

        /// Whether the last sweep has left any for want of time.
        var areLeft: Bool { keys.withLock { $0.values.contains { !$0.isEmpty } } }
    }

    let pool: PostgresPool
    /// Who is told of what ends by it.
    var listeners = FeedbackListeners.none
    var chores = Chores()
    var cursors = Cursors()
    /// How long one sweep of a table goes on with networks that have more than their share.
    var furtherTime = Duration.seconds(10)

    /// Sweeps some removals of every network in the database of `pool`, and tells the listeners of `feedback` what ends by it.
    package static func sweep(_ pool: PostgresPool, telling feedback: FeedbackWriter?) async throws {
        try await RemovalSweep(pool: pool, listeners: feedback.listeners()).sweep()
    }

    /// Sweeps some removals of every network, and more while there is time. What others hold is left for another time.
    ///
    /// One that fails does not keep the others from being swept.
    /// - Throws: An error, when all have been tried.
    func sweep() async throws {
        var failure: (any Error)?
        func attempt(_ name: String, _ sweep: () async throws -> Void) async -> Bool {
            // Where PostgreSQL is away, or each step takes too long, the next would only wait as well.
            guard failure?.isTransient != true else { return false }
            let error = await chores.attempt("removal of \(name)") {
                do {
                    try await sweep()
                } catch let error as PostgresError where error.sqlState == .lockNotAvailable {}
            }
            failure = error ?? failure
            return true
        }
        try await forEach(of: Self.channels) { removed in
            await attempt("channel \(removed.network) \(removed.channel)") { try await sweep(removed) }
        }
        try await forEach(of: Self.users) { removed in
            await attempt("user \(removed.network) \(removed.user)") { try await sweep(removed) }
        }
        try await forEach(of: Self.tags) { removed in
            await attempt("tag \(removed.network) \(removed.tag)") { try await sweep(removed) }
        }
        if let failure { throw failure }
    }

    /// A table with removals, which are found by the network and a key of its own.
    struct Kind<Removal: Sendable>: Sendable {
        let table: String
        let key: String
        /// Those behind the network and the key.
        let columns: SQL
        let read: @Sendable (borrowing Row) throws -> Removal
    }

    private static let channels = Kind(
        table: "channels",
        key: "channel_id",
        columns: "coalesce(t.wiped_at, '-infinity'), coalesce(t.emptied_at, '-infinity')"
    ) { row in
        RemovedChannel(
            network: try row.id(0),
            channel: try row.id(1),
            wipedAt: try row.decode(2),
            emptiedAt: try row.decode(3)
        )
    }

    private static let users = Kind(
        table: "users",
        key: "user_id",
        columns: "coalesce(t.wiped_at, '-infinity'), t.wipes"
    ) { row in
        RemovedUser(network: try row.id(0), user: try row.id(1), wipedAt: try row.decode(2), wipes: try row.decode(3))
    }

    /// Has removals of a kind swept until `sweep` answers `false`: a share of each network's, and then more of those that have more.
    private func forEach<Removal>(of kind: Kind<Removal>, _ sweep: (Removal) async -> Bool) async throws {
        let end = ContinuousClock.now + furtherTime
        var list: SQL = """
            SELECT w.network_id, c.after FROM walk w LEFT JOIN \(sql: places(in: kind.table)) ON c.network_id = w.network_id
            """
        while true {
            let found = try await removals(kind, of: list)
            for (_, _, removed) in found {
                guard await sweep(removed) else { return }
            }
            let shares = Dictionary(grouping: found, by: \.network).filter { $1.count == Self.share }
            cursors.keys.withLock { $0[kind.table] = shares.compactMapValues(\.last?.key) }
            guard !shares.isEmpty, .now < end, !Task.isCancelled else { return }
            list = "SELECT c.network_id, c.after FROM \(sql: places(in: kind.table))"
        }
    }

    /// Behind which keys of which networks it is gone on.
    private func places(in table: String) -> SQL {
        let keys = cursors.keys.withLock { $0[table] ?? [:] }.sorted { $0.key < $1.key }
        return "unnest(\(keys.map(\.key.rawValue)), \(keys.map(\.value))) AS c (network_id, after)"
    }

    /// What is not swept of a table: from network to network by the index of that, some of each in `list`.
    private func removals<Removal>(
        _ kind: Kind<Removal>,
        of list: SQL
    ) async throws -> [(network: NetworkID, key: String, removed: Removal)] {
        let key = kind.key
        return try await pool.query(
            """
            WITH RECURSIVE walk AS (\(sql: .walk(overNetworksIn: kind.table, where: "t.unswept")))
            SELECT s.* FROM (\(sql: list)) AS n CROSS JOIN LATERAL (
                SELECT t.network_id, t.\(identifier: key), \(sql: kind.columns)
                FROM \(identifier: kind.table) t
                WHERE t.unswept AND t.network_id = n.network_id AND t.\(identifier: key) > coalesce(n.after, '')
                ORDER BY t.network_id, t.\(identifier: key) LIMIT \(Self.share)
            ) AS s
            ORDER BY s.network_id, s.\(identifier: key)
            """
        ) { row in (try row.id(0), try row.decode(1), try kind.read(row)) }
    }

    func sweep(_ removed: RemovedChannel) async throws {
        var last: String? = ""
        while let after = last {
            guard let next = try await pool.withTaskLock(on: "removals", { try $0.sweep(removed, after: after) }) else {
                return
            }
            last = next
        }
        try await finish(removed)
    }

    func sweep(_ removed: RemovedUser) async throws {
        while let count = try await pool.withTaskLock(on: "removals", { try $0.sweep(removed, telling: listeners) }) {
            guard count > 0 else { return try await finish(removed) }
        }
    }

    /// The row of a channel as it was found, of the same network: not of one that was made under its name meanwhile.
    fileprivate static func isStill(_ removed: RemovedChannel) -> SQL {
        """
        network_id = \(removed.network.rawValue) AND channel_id = \(removed.channel.rawValue)
            AND coalesce(wiped_at, '-infinity') = \(removed.wipedAt)
            AND coalesce(emptied_at, '-infinity') = \(removed.emptiedAt)
        """
    }

    /// The same of a user.
    fileprivate static func isStill(_ removed: RemovedUser) -> SQL {
        """
        network_id = \(removed.network.rawValue) AND user_id = \(removed.user.rawValue) AND wipes = \(removed.wipes)
            AND coalesce(wiped_at, '-infinity') = \(removed.wipedAt)
        """
    }

    /// Unless it was removed again meanwhile.
    private func finish(_ removed: RemovedChannel) async throws {
        try await pool.write(
            "UPDATE channels SET unswept = false WHERE \(sql: Self.isStill(removed))"
        )
    }

    private func finish(_ removed: RemovedUser) async throws {
        try await pool.write(
            "UPDATE users SET unswept = false WHERE \(sql: Self.isStill(removed))"
        )
    }
}

extension PostgresSession {
    /// Sweeps the next of a channel's members; answers up to which one, `nil` behind the last one.
    fileprivate func sweep(_ removed: RemovalSweep.RemovedChannel, after: String) throws -> String? {
        guard try execute("SELECT FROM channels WHERE \(sql: RemovalSweep.isStill(removed)) FOR KEY SHARE") == 1 else {
            return nil
        }
        let network = removed.network.rawValue
        let channel = removed.channel.rawValue
        let page = try members(of: removed, behind: after)
        guard let last = page.last?.user else { return nil }
        let over = page.filter(\.isOver).map(\.user)
        guard !over.isEmpty else { return last }
        let ended = try query(
            """
            SELECT m.user_id FROM members m
            WHERE m.network_id = \(network) AND m.channel_id = \(channel) AND m.user_id = ANY (\(over))
                AND m.facts_at <= \(removed.emptiedAt)
            ORDER BY m.channel_id, m.user_id
            FOR NO KEY UPDATE
            """
        ) { row in try row.decode(0, as: String.self) }
        guard !ended.isEmpty else { return last }
        try end(
            where: "m.network_id = \(network) AND m.channel_id = \(channel) AND m.user_id = ANY (\(ended))",
            over: removed.emptiedAt,
            wiped: removed.wipedAt
        )
        return last
    }

    /// Ends the relations `m` that are meant, and held, as a removal did.
    ///
    /// What carries nothing that an older event could overwrite is deleted: the removal itself keeps those out. Where
    /// toggles were set, the row stays with the number of the next version.
    private func end(where areMeant: SQL, over: PostgresTimestamp, wiped: PostgresTimestamp) throws {
        try execute(
            """
            DELETE FROM members m
            WHERE \(sql: areMeant) AND m.facts_at <= \(over) AND m.toggles IS NULL AND m.toggles_version = 0
            """
        )
        try execute(
            """
            UPDATE members m
            SET \(sql: .ending)
            FROM (SELECT \(over), \(wiped)) AS t (over_at, wiped_at)
            WHERE \(sql: areMeant) AND m.facts_at <= t.over_at AND (m.is_member OR m.facts_at <= t.wiped_at)
            """
        )
    }

    /// The next of a channel's members, and whose relation is over.
    ///
    /// Beside an equality of channels the comparison of rows would not say where the walk begins: PostgreSQL would go along all members of
    /// the former pages.
    private func members(
        of removed: RemovalSweep.RemovedChannel,
        behind user: String
    ) throws -> [(user: String, isOver: Bool)] {
        let channel = removed.channel.rawValue
        let answers = try pipeline([
            .walkingAlongIndexes(only: true),
            """
            SELECT m.user_id, m.facts_at <= \(removed.emptiedAt) FROM members m
            WHERE m.network_id = \(removed.network.rawValue) AND m.channel_id <= \(channel)
                AND (m.channel_id, m.user_id) > (\(channel), \(user))
            ORDER BY m.channel_id, m.user_id LIMIT \(RemovalSweep.batchSize)
            """,
            .walkingAlongIndexes(only: false),
        ])
        return try answers[1].map { row in (try row.decode(0), try row.decode(1)) }
    }

    /// Sweeps some of a user's relations, devices and subscriptions; answers how many rows.
    fileprivate func sweep(_ removed: RemovalSweep.RemovedUser, telling listeners: FeedbackListeners) throws -> Int {
        guard try execute("SELECT FROM users WHERE \(sql: RemovalSweep.isStill(removed)) FOR KEY SHARE") == 1 else {
            return 0
        }
        let network = removed.network.rawValue
        let user = removed.user.rawValue
        let channels = try query(
            """
            SELECT m.channel_id FROM members m
            WHERE m.network_id = \(network) AND m.user_id = \(user) AND m.facts_at <= \(removed.wipedAt)
            LIMIT \(RemovalSweep.batchSize)
            """
        ) { row in try row.id(0, of: Channel.self) }
        let keys = channels.sorted().map(\.rawValue)
        let ended = try query(
            """
            SELECT m.channel_id FROM members m
            WHERE m.network_id = \(network) AND m.channel_id = ANY (\(keys)) AND m.user_id = \(user)
            ORDER BY m.channel_id
            FOR NO KEY UPDATE
            """
        ) { row in try row.decode(0, as: String.self) }
        try end(
            where: "m.network_id = \(network) AND m.channel_id = ANY (\(ended)) AND m.user_id = \(user)",
            over: removed.wipedAt,
            wiped: removed.wipedAt
        )
        let devices = try query(
            """
            WITH picked AS MATERIALIZED (
                SELECT d.device_id FROM devices d
                WHERE d.network_id = \(network) AND d.user_id = \(user) AND d.user_wipes < \(removed.wipes)
                LIMIT \(RemovalSweep.batchSize)
            ), locked AS MATERIALIZED (
                SELECT d.device_id FROM picked p
                JOIN devices d ON d.network_id = \(network) AND d.device_id = p.device_id
                ORDER BY d.device_id
                FOR UPDATE OF d
            )
            DELETE FROM devices d USING locked l
            WHERE d.network_id = \(network) AND d.device_id = l.device_id AND d.user_id = \(user)
                AND d.user_wipes < \(removed.wipes)
            RETURNING d.device_id, d.user_id, d.provider, d.app_id
            """
        ) { row in try row.change(.deleted(.userDeleted), in: removed.network) }
        try listeners.tell(devices.compactMap(\.self), in: removed.network, self)
        return try ended.count + devices.count + sweepSubscriptions(of: removed, telling: listeners)
    }
}
