package import CarillonCore
import Postgres

extension PostgresDirectoryStore {
    package func members(
        of channel: ChannelID,
        in network: NetworkID,
        after: UserID?,
        limit: Int
    ) async throws -> [UserID]? {
        try await databases.of(network).pool.snapshot { session in
            let emptiedAt = try session.queryFirst(
                """
                SELECT coalesce(emptied_at, '-infinity') FROM channels
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue) AND NOT deleted
                """
            ) { row in try row.decode(0, as: PostgresTimestamp.self) }
            guard let emptiedAt else { return nil }
            return try session.query(
                """
                SELECT m.user_id FROM members m
                WHERE m.network_id = \(network.rawValue) AND m.channel_id = \(channel.rawValue) AND m.is_member
                    AND m.user_id > \(after?.rawValue ?? "") AND m.facts_at > \(emptiedAt)
                    AND NOT EXISTS (SELECT FROM users u
                                    WHERE u.network_id = m.network_id AND u.user_id = m.user_id
                                        AND u.wiped_at >= m.facts_at)
                ORDER BY m.channel_id, m.user_id LIMIT \(limit)
                """
            ) { row in try row.id(0) }
        }
    }

    /// Writes no more rows the more members there were: they are ended as by a removal of the channel that spares the
    /// toggles.
    package func replaceMembers(of channel: ChannelID, with users: [UserID], in network: NetworkID) async throws {
        let ids = Set(users).sorted()
        try await databases.toWrite(network).pool.write { session in
            try session.mention(users: ids, in: network)
            try session.mention(channels: [channel], in: network)
            let keys = ids.map { MemberKey(network: network, channel: channel, user: $0) }
            let start = try session.start(with: .settlingRemovals(of: keys)).start
            let emptiedAt = try session.queryFirst(
                """
                UPDATE channels SET emptied_at = greatest(emptied_at, now()), unswept = true
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                RETURNING emptied_at
                """
            ) { row in try row.decode(0, as: PostgresTimestamp.self) }
            guard let emptiedAt else { throw try session.absence(of: network) }
            // Of events whose sender's clock is ahead; mostly none.
            try session.execute(
                """
                WITH target AS (
                    SELECT m.user_id FROM members m
                    WHERE m.network_id = \(network.rawValue) AND m.channel_id = \(channel.rawValue) AND m.is_member
                        AND m.facts_at > \(emptiedAt) AND m.user_id <> ALL (\(ids.map(\.rawValue)))
                    ORDER BY m.channel_id, m.user_id
                    FOR NO KEY UPDATE
                )
                UPDATE members m SET is_member = false FROM target t
                WHERE m.network_id = \(network.rawValue) AND m.channel_id = \(channel.rawValue) AND m.user_id = t.user_id
                """
            )
            try session.makeMembers(keys, as: start)
            try session.countDirectory(of: network)
        }
    }

    package func addMember(_ user: UserID, to channel: ChannelID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            try session.mention(users: [user], in: network)
            try session.mention(channels: [channel], in: network)
            let key = MemberKey(network: network, channel: channel, user: user)
            let former: SQL = """
                SELECT is_member FROM members
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                    AND user_id = \(user.rawValue)
                FOR NO KEY UPDATE
                """
            let (start, answers) = try session.start(with: [SQL].settlingRemovals(of: [key]) + [former])
            try session.makeMembers([key], as: start)
            return try answers.last?.map { row in try row.decode(0, as: Bool.self) }.first != true
        }
    }

    package func removeMember(_ user: UserID, from channel: ChannelID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            try session.settleRemovals(of: [MemberKey(network: network, channel: channel, user: user)])
            let removed = try session.execute(
                """
                UPDATE members SET is_member = false, facts_at = greatest(facts_at, now())
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                    AND user_id = \(user.rawValue) AND is_member
                """
            )
            guard removed > 0 else {
                try session.refuseDeparted(network)
                return false
            }
            try session.countDirectory(of: network)
            return true
        }
    }
}

extension PostgresSession {
    /// Makes users members as of the transaction's start, whatever events said; those who are members already keep the beginning.
    ///
    /// The keys come sorted and each once, and are settled.
    func makeMembers(_ keys: [MemberKey], as start: TransactionStart) throws {
        guard !keys.isEmpty else { return }
        try execute(
            """
            INSERT INTO members AS m (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT n.network_id, n.channel_id, n.user_id, true, \(start.mark.rawValue),
                   greatest(\(start.moment), \(sql: .justAfter("c.emptied_at")), \(sql: .justAfter("u.wiped_at")))
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.channel.rawValue)), \(keys.map(\.user.rawValue)))
                AS n (network_id, channel_id, user_id)
            \(sql: .ofNetworks)
            \(sql: .endOfBoth)
            ON CONFLICT (network_id, channel_id, user_id) DO UPDATE
            SET is_member = true, facts_at = greatest(m.facts_at, EXCLUDED.facts_at),
                since_event = CASE WHEN m.is_member THEN m.since_event ELSE EXCLUDED.since_event END
            """
        )
    }
}
