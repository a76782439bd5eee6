package import CarillonCore
import Postgres

extension PostgresDirectoryStore {
    /// The members of a channel in the order of their ids; `nil` when the channel is unknown.
    package func members(
        of channel: ChannelID,
        in network: NetworkID,
        after: UserID?,
        limit: Int
    ) async throws -> [UserID]? {
        try await pool.snapshot { session in
            let isKnown = try session.queryFirst(
                """
                SELECT true FROM channels
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue) AND NOT deleted
                """
            ) { row in try row.decode(0, as: Bool.self) }
            guard isKnown != nil else { return nil }
            return try session.query(
                """
                SELECT user_id FROM members
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue) AND is_member
                    AND user_id > \(after?.rawValue ?? "")
                ORDER BY user_id LIMIT \(limit)
                """
            ) { row in try row.id(0) }
        }
    }

    /// Makes exactly these users the members; adds users and channel to the directory where they are new.
    package func replaceMembers(of channel: ChannelID, with users: [UserID], in network: NetworkID) async throws {
        let ids = Set(users).sorted()
        try await pool.write { session in
            try session.mention(users: ids, in: network)
            try session.mention(channels: [channel], in: network)
            // All at once and in one order, the leaving and the staying.
            try session.execute(
                """
                SELECT FROM members WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                ORDER BY network_id, channel_id, user_id FOR NO KEY UPDATE
                """
            )
            try session.execute(
                """
                UPDATE members SET is_member = false, facts_at = greatest(facts_at, now())
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue) AND is_member
                    AND user_id <> ALL (\(ids.map(\.rawValue)))
                """
            )
            let keys = ids.map { MemberKey(network: network, channel: channel, user: $0) }
            try session.makeMembers(keys)
        }
    }

    /// Makes a user a member; `true` when they were none. Adds user and channel to the directory where they are new.
    package func addMember(_ user: UserID, to channel: ChannelID, in network: NetworkID) async throws -> Bool {
        return try await pool.write { session in
            try session.mention(users: [user], in: network)
            try session.mention(channels: [channel], in: network)
            let former = try session.queryFirst(
                """
                SELECT is_member FROM members
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                    AND user_id = \(user.rawValue)
                FOR NO KEY UPDATE
                """
            ) { row in try row.decode(0, as: Bool.self) }
            try session.makeMembers([MemberKey(network: network, channel: channel, user: user)])
            return former != true
        }
    }

    /// Ends a membership; `false` when there was none.
    package func removeMember(_ user: UserID, from channel: ChannelID, in network: NetworkID) async throws -> Bool {
        try await pool.write { session in
            try session.execute(
                """
                UPDATE members SET is_member = false, facts_at = greatest(facts_at, now())
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                    AND user_id = \(user.rawValue) AND is_member
                """
            ) > 0
        }
    }
}

extension PostgresSession {
    /// Makes users members as of now, whatever events said; those who are members already keep the beginning.
    ///
    /// The keys come sorted and each once.
    func makeMembers(_ keys: [MemberKey]) throws {
        guard !keys.isEmpty else { return }
        try execute(
            """
            INSERT INTO members AS m (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT n.network_id, n.channel_id, n.user_id, true, next_mark(), now()
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.channel.rawValue)), \(keys.map(\.user.rawValue)))
                AS n (network_id, channel_id, user_id)
            ON CONFLICT (network_id, channel_id, user_id) DO UPDATE
            SET is_member = true, facts_at = greatest(m.facts_at, EXCLUDED.facts_at),
                since_event = CASE WHEN m.is_member THEN m.since_event ELSE EXCLUDED.since_event END
            """
        )
    }
}
