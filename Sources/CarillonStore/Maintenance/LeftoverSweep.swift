import CarillonCore
import Postgres
import Synchronization

/// Removes rows that nothing holds any more and that no moment of theirs makes easy to find: it walks over their tables by
/// key, a page at each sweep, and begins anew at the end.
final class LeftoverSweep: Sendable {
    /// How many rows are looked at in one sweep of a table.
    static let pageSize = 5_000
    /// How long somebody stays of whom nothing is known but the id, in days.
    static let unknownUserDays = 30
    /// How long toggles stay that were set for a channel which nobody ever spoke of, in days.
    static let unknownChannelDays = 400

    private let pool: PostgresPool
    private let chores: Chores
    /// Up to which row tables have been walked over.
    private let cursors = Mutex<[String: [String]]>([:])

    init(pool: PostgresPool, chores: Chores = Chores()) {
        self.pool = pool
        self.chores = chores
    }

    /// Goes one page further in each table.
    /// - Throws: The first error, when all have been tried.
    func sweep(telling listeners: FeedbackListeners = .none) async throws {
        let failures = [
            await chores.attempt("leftovers: users") { try await sweepUsers() },
            await chores.attempt("leftovers: toggles") { try await sweepToggles() },
            await chores.attempt("leftovers: subscriptions") { try await sweepSubscriptions(telling: listeners) },
        ]
        if let failure = failures.compactMap(\.self).first { throw failure }
    }

    /// Goes one page further in a table, which is called by its first letter, in the order of its key, as far as `areWalkedOver`; of the rows
    /// that seem to be over, `remove` looks at these keys once more.
    private func sweep(
        _ table: String,
        by columns: [String],
        where areWalkedOver: SQL = "true",
        ifOver areOver: SQL,
        _ remove: @Sendable ([[String]], borrowing PostgresSession) throws -> Void
    ) async throws {
        let after = cursors.withLock { $0[table] } ?? columns.map { _ in "" }
        let name = table.prefix(1)
        let key = SQL(trusted: columns.map { "\(name).\($0)" }.joined(separator: ", "))
        let start: SQL = after.dropFirst().reduce("\(after[0])") { $0 + ", \($1)" }
        let last = try await pool.withTaskLock(on: "\(table): leftovers") { session -> [String]? in
            var last: [String]?
            var over: [[String]] = []
            try session.forEach(
                """
                SELECT \(sql: areOver), \(sql: key) FROM \(identifier: table) \(identifier: String(name))
                WHERE \(sql: areWalkedOver) AND (\(sql: key)) > (\(sql: start))
                ORDER BY \(sql: key) LIMIT \(Self.pageSize)
                """
            ) { row in
                let found = try columns.indices.map { try row.decode($0 + 1, as: String.self) }
                if try row.decode(0, as: Bool?.self) == true { over.append(found) }
                last = found
            }
            if !over.isEmpty { try remove(over, session) }
            return last
        }
        // Behind the last one it begins anew.
        if let last { cursors.withLock { $0[table] = last } }
    }

    /// Users of whom events and admins never said anything, who have neither devices nor channels nor toggles
    /// nor subscriptions.
    private func sweepUsers() async throws {
        let days = Self.unknownUserDays
        let seemUnknown: SQL = """
            u.facts_at = 'epoch' AND u.toggles IS NULL AND NOT u.deleted AND NOT u.unswept
                AND (u.toggles_updated_at < now() - \(days) * interval '1 day') IS NOT FALSE
                AND u.added_at < now() - \(days) * interval '1 day'
            """
        try await sweep("users", by: ["network_id", "user_id"], ifOver: seemUnknown) { users, session in
            let gone = try session.query(
                """
                DELETE FROM users u
                USING unnest(\(users.map { $0[0] }), \(users.map { $0[1] })) AS n (network_id, user_id)
                WHERE u.network_id = n.network_id AND u.user_id = n.user_id AND u.facts_at = 'epoch'
                    AND u.toggles IS NULL AND NOT u.deleted AND NOT u.unswept
                    AND NOT EXISTS (SELECT FROM devices d WHERE d.network_id = n.network_id AND d.user_id = n.user_id)
                    AND NOT EXISTS (SELECT FROM members m WHERE m.network_id = n.network_id AND m.user_id = n.user_id)
                    AND NOT EXISTS (SELECT FROM subscriptions s
                                    WHERE s.network_id = n.network_id AND s.kind = 'user' AND s.subject_id = n.user_id)
                RETURNING u.network_id
                """
            ) { row in try row.id(0, of: Network.self) }
            if !gone.isEmpty { try session.pipeline([.countingDirectories(of: Set(gone))]) }
        }
    }

    /// Toggles that were set for channels which are gone, or never were.
    private func sweepToggles() async throws {
        let days = Int(Housekeeper.retentionDays)
        try await sweep(
            "members",
            by: ["network_id", "channel_id", "user_id"],
            where: "m.toggles IS NOT NULL",
            ifOver: "NOT m.is_member AND m.toggles_updated_at < now() - \(days) * interval '1 day'"
        ) { members, session in
            try session.execute(
                """
                WITH target AS (
                    SELECT m.network_id, m.channel_id, m.user_id
                    FROM unnest(\(members.map { $0[0] }), \(members.map { $0[1] }), \(members.map { $0[2] }))
                        AS n (network_id, channel_id, user_id)
                    JOIN members m ON m.network_id = n.network_id AND m.channel_id = n.channel_id
                        AND m.user_id = n.user_id
                    LEFT JOIN channels c ON c.network_id = n.network_id AND c.channel_id = n.channel_id
                    WHERE NOT m.is_member
                        AND (c.deleted AND greatest(c.facts_at, m.toggles_updated_at) < now() - \(days) * interval '1 day'
                             OR c.channel_id IS NULL AND m.toggles_updated_at
                                < now() - \(Self.unknownChannelDays) * interval '1 day')
                    ORDER BY m.network_id, m.channel_id, m.user_id
                    FOR UPDATE OF m
                )
                DELETE FROM members m USING target t
                WHERE m.network_id = t.network_id AND m.channel_id = t.channel_id AND m.user_id = t.user_id
                """
            )
        }
    }

    /// Subscriptions of devices that are gone or changed hands, and whatever else is over and was not swept with its cause.
    private func sweepSubscriptions(telling listeners: FeedbackListeners) async throws {
        let columns = ["network_id", "tag", "kind", "subject_id"]
        try await sweep("subscriptions", by: columns, ifOver: "(\(sql: .isInForce)) IS NOT TRUE") { over, session in
            // Looked at once more: somebody may have subscribed anew.
            let ended = try session.query(
                """
                DELETE FROM subscriptions s
                USING unnest(\(over.map { $0[0] }), \(over.map { $0[1] }), \(over.map { $0[2] }), \(over.map { $0[3] }))
                    AS n (network_id, tag, kind, subject_id)
                WHERE s.network_id = n.network_id AND s.tag = n.tag AND s.kind = n.kind
                    AND s.subject_id = n.subject_id AND (\(sql: .isInForce)) IS NOT TRUE
                RETURNING s.network_id, s.kind, s.subject_id, s.tag
                """
            ) { row -> (network: NetworkID, change: DirectoryChange) in
                let subscriber = Subscriber(try row.choice(1), trusted: try row.decode(2))
                let ending: SubscriptionChange.Ending = subscriber.kind == .device ? .deviceGone : .userDeleted
                return (try row.id(0), .subscription(SubscriptionChange(subscriber, try row.id(3), over: ending)))
            }
            try listeners.tell(ended, session)
        }
    }
}
