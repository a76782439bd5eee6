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

    private struct Cursors {
        var users = ("", "")
        var members = ("", "", "")
        var subscriptions = ("", "", "", "")
    }

    private let pool: PostgresPool
    private let chores: Chores
    private let cursors = Mutex(Cursors())

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

    /// Users of whom events and admins never said anything, who have neither devices nor channels nor toggles
    /// nor subscriptions.
    private func sweepUsers() async throws {
        let after = cursors.withLock { $0.users }
        let last = try await pool.withTaskLock(on: "users: leftovers") { session -> (String, String)? in
            var last: (String, String)?
            var unknown: [(network: String, user: String)] = []
            try session.forEach(
                """
                SELECT u.network_id, u.user_id,
                       u.facts_at = 'epoch' AND u.toggles IS NULL AND NOT u.deleted AND NOT u.unswept
                           AND (u.toggles_updated_at < now() - \(Self.unknownUserDays) * interval '1 day') IS NOT FALSE
                           AND u.added_at < now() - \(Self.unknownUserDays) * interval '1 day'
                FROM users u WHERE (u.network_id, u.user_id) > (\(after.0), \(after.1))
                ORDER BY u.network_id, u.user_id LIMIT \(Self.pageSize)
                """
            ) { row in
                let key = (try row.decode(0, as: String.self), try row.decode(1, as: String.self))
                if try row.decode(2) { unknown.append((key.0, key.1)) }
                last = key
            }
            guard !unknown.isEmpty else { return last }
            let gone = try session.query(
                """
                DELETE FROM users u
                USING unnest(\(unknown.map(\.network)), \(unknown.map(\.user))) AS n (network_id, user_id)
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
            return last
        }
        if let last { cursors.withLock { $0.users = last ?? ("", "") } }
    }

    /// Toggles that were set for channels which are gone, or never were.
    private func sweepToggles() async throws {
        let after = cursors.withLock { $0.members }
        let days = Int(Housekeeper.retentionDays)
        let last = try await pool.withTaskLock(on: "members: leftovers") { session -> (String, String, String)? in
            var last: (String, String, String)?
            var old: [(network: String, channel: String, user: String)] = []
            try session.forEach(
                """
                SELECT m.network_id, m.channel_id, m.user_id,
                       NOT m.is_member AND m.toggles_updated_at < now() - \(days) * interval '1 day'
                FROM members m
                WHERE m.toggles IS NOT NULL
                    AND (m.network_id, m.channel_id, m.user_id) > (\(after.0), \(after.1), \(after.2))
                ORDER BY m.network_id, m.channel_id, m.user_id LIMIT \(Self.pageSize)
                """
            ) { row in
                let key = (
                    try row.decode(0, as: String.self), try row.decode(1, as: String.self),
                    try row.decode(2, as: String.self)
                )
                if try row.decode(3, as: Bool?.self) == true { old.append((key.0, key.1, key.2)) }
                last = key
            }
            guard !old.isEmpty else { return last }
            try session.execute(
                """
                WITH target AS (
                    SELECT m.network_id, m.channel_id, m.user_id
                    FROM unnest(\(old.map(\.network)), \(old.map(\.channel)), \(old.map(\.user)))
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
            return last
        }
        if let last { cursors.withLock { $0.members = last ?? ("", "", "") } }
    }

    /// Subscriptions of devices that are gone or changed hands, and whatever else is over and was not swept with its cause.
    private func sweepSubscriptions(telling listeners: FeedbackListeners) async throws {
        let after = cursors.withLock { $0.subscriptions }
        let last = try await pool.withTaskLock(on: "subscriptions: leftovers") {
            session -> (String, String, String, String)? in
            var last: (String, String, String, String)?
            var over: [(network: String, tag: String, kind: String, subject: String)] = []
            try session.forEach(
                """
                SELECT s.network_id, s.tag, s.kind, s.subject_id, \(sql: .isInForce)
                FROM subscriptions s
                WHERE (s.network_id, s.tag, s.kind, s.subject_id) > (\(after.0), \(after.1), \(after.2), \(after.3))
                ORDER BY s.network_id, s.tag, s.kind, s.subject_id LIMIT \(Self.pageSize)
                """
            ) { row in
                let key = (
                    network: try row.decode(0, as: String.self), tag: try row.decode(1, as: String.self),
                    kind: try row.decode(2, as: String.self), subject: try row.decode(3, as: String.self)
                )
                if try row.decode(4, as: Bool?.self) != true { over.append(key) }
                last = (key.network, key.tag, key.kind, key.subject)
            }
            guard !over.isEmpty else { return last }
            // Looked at once more: somebody may have subscribed anew.
            let ended = try session.query(
                """
                DELETE FROM subscriptions s
                USING unnest(\(over.map(\.network)), \(over.map(\.tag)), \(over.map(\.kind)), \(over.map(\.subject)))
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
            return last
        }
        if let last { cursors.withLock { $0.subscriptions = last ?? ("", "", "", "") } }
    }
}
