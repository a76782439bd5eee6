import CarillonCore
import Postgres

/// What removals leave behind: a user's row says when they were removed last, and how often; a channel's, when it was.
/// Whatever reads relations between them, or devices, leaves out what is older.
extension SQL {
    /// Until when the user's and the channel's removals have ended everything of relation `m`; null where there were none.
    static let wipedUntil: SQL = """
        greatest((SELECT c.wiped_at FROM channels c WHERE c.network_id = m.network_id AND c.channel_id = m.channel_id),
                 (SELECT u.wiped_at FROM users u WHERE u.network_id = m.network_id AND u.user_id = m.user_id))
        """

    /// Whether device `d` was registered since its user was removed last.
    static let isOfTheLiving: SQL = """
        d.user_wipes = coalesce((SELECT u.wipes FROM users u
                                 WHERE u.network_id = d.network_id AND u.user_id = d.user_id), 0)
        """

    /// Ends relation `m` as the removals of `t` did; it counts again from then on, as what it says now.
    static let ending: SQL = """
        is_member = false, facts_at = \(sql: .justAfter("t.over_at")),
        \(sql: .wiping)
        """

    /// Takes the toggles from relation `m` that the removals of `t` have ended.
    static let wiping: SQL = """
        toggles = CASE WHEN m.facts_at <= t.wiped_at THEN NULL ELSE m.toggles END,
        toggles_updated_at = CASE WHEN m.facts_at <= t.wiped_at THEN NULL ELSE m.toggles_updated_at END,
        toggles_version = m.toggles_version
            + CASE WHEN m.facts_at <= t.wiped_at AND m.toggles IS NOT NULL THEN 1 ELSE 0 END
        """
}

extension PostgresSession {
    /// Writes down what removals have ended of these relations, where nobody has swept it yet, so that they can be changed
    /// as if it had been. The keys come sorted.
    func settleRemovals(of members: [MemberKey]) throws {
        try pipeline(.settlingRemovals(of: members))
    }

    /// Ends those of a network's relations `m` that are newer than the removal which has ended the others until `removedAt`: of events whose
    /// sender's clock is ahead. Mostly there are none.
    func endRelations(where areMeant: SQL, of network: NetworkID, after removedAt: PostgresTimestamp) throws {
        let ahead = try query(
            """
            SELECT m.channel_id, m.user_id FROM members m
            WHERE m.network_id = \(network.rawValue) AND \(sql: areMeant) AND m.facts_at > \(removedAt)
                AND (m.is_member OR m.toggles IS NOT NULL)
            """
        ) { row in MemberKey(network: network, channel: try row.id(0), user: try row.id(1)) }
        guard !ahead.isEmpty else { return }
        let keys = ahead.sorted()
        try execute(
            """
            WITH target AS (
                SELECT m.network_id, m.channel_id, m.user_id
                FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.channel.rawValue)), \(keys.map(\.user.rawValue)))
                    AS n (network_id, channel_id, user_id)
                JOIN members m ON m.network_id = n.network_id AND m.channel_id = n.channel_id AND m.user_id = n.user_id
                WHERE m.facts_at > \(removedAt)
                ORDER BY m.network_id, m.channel_id, m.user_id
                FOR NO KEY UPDATE OF m
            )
            UPDATE members m
            SET is_member = false, toggles = NULL, toggles_updated_at = NULL,
                toggles_version = m.toggles_version + CASE WHEN m.toggles IS NULL THEN 0 ELSE 1 END
            FROM target t
            WHERE m.network_id = t.network_id AND m.channel_id = t.channel_id AND m.user_id = t.user_id
            """
        )
    }
}

extension [SQL] {
    static func settlingRemovals(of members: [MemberKey]) -> [SQL] {
        guard !members.isEmpty else { return [] }
        return [
            """
            WITH target AS (
                SELECT m.network_id, m.channel_id, m.user_id, r.over_at, r.wiped_at
                FROM unnest(\(members.map(\.network.rawValue)), \(members.map(\.channel.rawValue)),
                            \(members.map(\.user.rawValue))) AS n (network_id, channel_id, user_id)
                JOIN members m ON m.network_id = n.network_id AND m.channel_id = n.channel_id AND m.user_id = n.user_id
                \(sql: .removals)
                WHERE m.facts_at <= r.over_at
                ORDER BY m.network_id, m.channel_id, m.user_id
                FOR NO KEY UPDATE OF m
            )
            UPDATE members m
            SET \(sql: .ending)
            FROM target t
            WHERE m.network_id = t.network_id AND m.channel_id = t.channel_id AND m.user_id = t.user_id
            """
        ]
    }
}
