import CarillonCore
import Postgres

extension PostgresSession {
    /// Adds users who are not in the directory, knowing nothing of them, and brings back those who were removed.
    ///
    /// States nothing: events older than this may still describe them.
    /// - Throws: ``PlacementProblem/moving`` where the network has left.
    func mention(users: some Sequence<UserID>, in network: NetworkID) throws {
        let ids = Set(users).sorted().map(\.rawValue)
        guard !ids.isEmpty else { return }
        // Mostly nobody is new, and then no row is touched.
        let new = try query(
            """
            SELECT n.user_id, now() FROM unnest(\(ids)) AS n (user_id)
            WHERE (SELECT k.deleted FROM users k
                   WHERE k.network_id = \(network.rawValue) AND k.user_id = n.user_id LIMIT 1) IS DISTINCT FROM false
            """
        ) { row in (id: try row.decode(0, as: String.self), moment: try row.decode(1, as: PostgresTimestamp.self)) }
        guard let moment = new.first?.moment else { return }
        let added = try execute(
            """
            INSERT INTO users AS u (network_id, user_id, facts_at, added_at)
            SELECT n.network_id, n.user_id, 'epoch', \(moment)
            FROM unnest(\(new.map { _ in network.rawValue }), \(new.map(\.id))) AS n (network_id, user_id)
            \(sql: .ofNetworks)
            ON CONFLICT (network_id, user_id) DO UPDATE SET deleted = false WHERE u.deleted
            """
        )
        if added == 0 { try refuseDeparted(network) }
    }

    /// Adds channels that are not in the directory, knowing nothing of them, and brings back those that were removed.
    func mention(channels: some Sequence<ChannelID>, in network: NetworkID) throws {
        let ids = Set(channels).sorted().map(\.rawValue)
        guard !ids.isEmpty else { return }
        try execute(
            """
            INSERT INTO channels AS c (network_id, channel_id, facts_at)
            SELECT n.network_id, n.channel_id, 'epoch'
            FROM unnest(\(ids.map { _ in network.rawValue }), \(ids)) AS n (network_id, channel_id)
            \(sql: .ofNetworks)
            WHERE NOT EXISTS (SELECT FROM channels k
                              WHERE k.network_id = n.network_id AND k.channel_id = n.channel_id AND NOT k.deleted)
            ON CONFLICT (network_id, channel_id) DO UPDATE SET deleted = false WHERE c.deleted
            """
        )
    }

    /// Notes that something was written that may forbid deliveries to a user, or to everybody when `nil`; as the last that the
    /// transaction writes.
    func recordChange(of user: UserID?, in network: NetworkID) throws {
        try recordChanges(of: [(network, user)])
    }

    /// Notes that something was written that may forbid deliveries to these users; as the last that the transaction writes.
    func recordChanges(of users: [(network: NetworkID, user: UserID?)]) throws {
        try pipeline(.recordingChanges(of: users))
    }
}

extension SQL {
    /// What counts up the counters of `rows`, which are those of counters that begin.
    static func countingUp(_ rows: SQL) -> SQL {
        """
        INSERT INTO change_counters AS c (network_id, slot, seq, changed_at) \(sql: rows)
        ON CONFLICT (network_id, slot) DO UPDATE SET seq = c.seq + 1, changed_at = EXCLUDED.changed_at
        """
    }
}

extension [SQL] {
    /// What notes that something was written that may forbid deliveries to these users, or to everybody where one is `nil`.
    ///
    /// The networks' counters, in their order, are locked until the end of the transaction: whoever changes something else in one of them
    /// waits for it. So nothing that others may have locked is to follow, see `docs/decisions/0037`.
    static func recordingChanges(of users: [(network: NetworkID, user: UserID?)]) -> [SQL] {
        guard !users.isEmpty else { return [] }
        let counting = Set(users.map(\.network)).sorted().map { network in
            SQL.countingUp("VALUES (\(network.rawValue), 0, 1, now())")
        }
        return counting + [
            """
            INSERT INTO changes (network_id, slot, seq, place, user_id, changed_at)
            SELECT c.network_id, c.slot, c.seq, n.place::integer, n.user_id, c.changed_at
            FROM unnest(\(users.map(\.network.rawValue)), \(users.map(\.user?.rawValue)))
                WITH ORDINALITY AS n (network_id, user_id, place)
            CROSS JOIN LATERAL (
                SELECT c.network_id, c.slot, c.seq, c.changed_at FROM change_counters c
                WHERE c.network_id = n.network_id AND c.slot = 0
                LIMIT 1
            ) AS c
            """
        ]
    }
}
