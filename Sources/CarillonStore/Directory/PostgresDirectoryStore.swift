package import CarillonCore
import Postgres

/// The users, channels and members of networks, as their admins correct them, in the tables that events write to.
package struct PostgresDirectoryStore: DirectoryStore, MemberStore {
    let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func putUser(_ person: Person, in network: NetworkID) async throws -> Bool {
        let roles = person.roles.map(StoredRoles.text)
        return try await databases.toWrite(network).pool.write { session in
            try session.put(
                """
                SELECT deleted,
                       NOT deleted AND (display_name, locale, roles) IS NOT DISTINCT FROM
                           (\(person.displayName as String?), \(person.locale as String?), \(roles as String?))
                FROM users WHERE network_id = \(network.rawValue) AND user_id = \(person.id.rawValue)
                FOR NO KEY UPDATE
                """,
                """
                INSERT INTO users AS u (network_id, user_id, display_name, locale, roles, facts_at)
                VALUES (\(network.rawValue), \(person.id.rawValue), \(person.displayName as String?),
                        \(person.locale as String?), \(roles as String?), now())
                ON CONFLICT (network_id, user_id) DO UPDATE
                SET display_name = EXCLUDED.display_name, locale = EXCLUDED.locale, roles = EXCLUDED.roles,
                    facts_at = greatest(u.facts_at, EXCLUDED.facts_at), deleted = false
                """,
                in: network
            )
        }
    }

    package func user(_ id: UserID, in network: NetworkID) async throws -> Person? {
        try await databases.of(network).pool.queryFirst(
            """
            SELECT user_id, display_name, locale, roles FROM users
            WHERE network_id = \(network.rawValue) AND user_id = \(id.rawValue) AND NOT deleted
            """
        ) { row in try row.person(localeAt: 2) }
    }

    /// Writes no more the more there is: what the removal ends is swept by the ``Housekeeper``.
    package func deleteUser(_ id: UserID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            let removedAt = try session.first(
                """
                UPDATE users
                SET display_name = NULL, locale = NULL, roles = NULL, deleted = true,
                    facts_at = greatest(facts_at, now()), toggles = NULL, toggles_updated_at = NULL,
                    toggles_version = toggles_version + CASE WHEN toggles IS NULL THEN 0 ELSE 1 END,
                    wiped_at = greatest(wiped_at, facts_at, now()), wipes = wipes + 1, unswept = true
                WHERE network_id = \(network.rawValue) AND user_id = \(id.rawValue) AND NOT deleted
                RETURNING wiped_at
                """,
                as: PostgresTimestamp.self
            )
            guard let removedAt else {
                try session.refuseDeparted(network)
                return false
            }
            try session.endRelations(where: "m.user_id = \(id.rawValue)", of: network, after: removedAt)
            try session.recordChange(of: id, in: network)
            try session.countDirectory(of: network)
            return true
        }
    }

    package func putChannel(_ channel: Channel, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            try session.put(
                """
                SELECT deleted,
                       NOT deleted AND (display_name, direct) IS NOT DISTINCT FROM
                           (\(channel.displayName as String?), \(channel.isDirect as Bool?))
                FROM channels
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.id.rawValue)
                FOR NO KEY UPDATE
                """,
                """
                INSERT INTO channels AS c (network_id, channel_id, display_name, direct, facts_at)
                VALUES (\(network.rawValue), \(channel.id.rawValue), \(channel.displayName as String?),
                        \(channel.isDirect as Bool?), now())
                ON CONFLICT (network_id, channel_id) DO UPDATE
                SET display_name = EXCLUDED.display_name, direct = EXCLUDED.direct, facts_at = greatest(c.facts_at, EXCLUDED.facts_at),
                    deleted = false
                """,
                in: network
            )
        }
    }

    package func channel(_ id: ChannelID, in network: NetworkID) async throws -> Channel? {
        try await databases.of(network).pool.queryFirst(
            """
            SELECT channel_id, display_name, direct, fallback_name FROM channels
            WHERE network_id = \(network.rawValue) AND channel_id = \(id.rawValue) AND NOT deleted
            """
        ) { row in
            Channel(
                id: try row.id(0),
                displayName: try row.decode(1),
                fallbackName: try row.decode(3),
                isDirect: try row.decode(2)
            )
        }
    }

    /// Writes no more the more there is: what the removal ends is swept by the ``Housekeeper``.
    package func deleteChannel(_ id: ChannelID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            let removedAt = try session.first(
                """
                UPDATE channels
                SET display_name = NULL, fallback_name = NULL, direct = NULL, deleted = true, facts_at = greatest(facts_at, now()),
                    wiped_at = greatest(wiped_at, facts_at, now()),
                    emptied_at = greatest(emptied_at, wiped_at, facts_at, now()), unswept = true
                WHERE network_id = \(network.rawValue) AND channel_id = \(id.rawValue) AND NOT deleted
                RETURNING wiped_at
                """,
                as: PostgresTimestamp.self
            )
            guard let removedAt else {
                try session.refuseDeparted(network)
                return false
            }
            try session.endRelations(where: "m.channel_id = \(id.rawValue)", of: network, after: removedAt)
            try session.countDirectory(of: network)
            return true
        }
    }

    package func members(
        of channel: ChannelID,
        in network: NetworkID,
        after: UserID?,
        limit: Int
    ) async throws -> [UserID]? {
        try await databases.of(network).pool.snapshot { session in
            let emptiedAt = try session.first(
                """
                SELECT coalesce(emptied_at, '-infinity') FROM channels
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue) AND NOT deleted
                """,
                as: PostgresTimestamp.self
            )
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
            let emptiedAt = try session.first(
                """
                UPDATE channels SET emptied_at = greatest(emptied_at, now()), unswept = true
                WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                RETURNING emptied_at
                """,
                as: PostgresTimestamp.self
            )
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
    /// Writes a description in a network, after a look at whether what it is about was deleted, and whether all is as described; `true` when
    /// there was no such, or it was deleted.
    fileprivate func put(_ look: SQL, _ description: SQL, in network: NetworkID) throws -> Bool {
        let answers = try pipeline([look, description, .isThere(network)])
        guard answers[2].affectedRows > 0 else { throw try absence(of: network) }
        let former = try answers[0].map { row in
            (isDeleted: try row.decode(0, as: Bool.self), isSame: try row.decode(1, as: Bool.self))
        }
        // Where there was none, somebody else may have added it a moment ago, under another name.
        if former.first?.isSame != true { try commit(after: [.countingDirectories(of: [network])]) }
        return former.first?.isDeleted ?? true
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
