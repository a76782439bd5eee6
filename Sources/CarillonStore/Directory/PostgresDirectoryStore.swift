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
            let removedAt = try session.queryFirst(
                """
                UPDATE users
                SET display_name = NULL, locale = NULL, roles = NULL, deleted = true,
                    facts_at = greatest(facts_at, now()), toggles = NULL, toggles_updated_at = NULL,
                    toggles_version = toggles_version + CASE WHEN toggles IS NULL THEN 0 ELSE 1 END,
                    wiped_at = greatest(wiped_at, facts_at, now()), wipes = wipes + 1, unswept = true
                WHERE network_id = \(network.rawValue) AND user_id = \(id.rawValue) AND NOT deleted
                RETURNING wiped_at
                """
            ) { row in try row.decode(0, as: PostgresTimestamp.self) }
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
            let removedAt = try session.queryFirst(
                """
                UPDATE channels
                SET display_name = NULL, fallback_name = NULL, direct = NULL, deleted = true, facts_at = greatest(facts_at, now()),
                    wiped_at = greatest(wiped_at, facts_at, now()),
                    emptied_at = greatest(emptied_at, wiped_at, facts_at, now()), unswept = true
                WHERE network_id = \(network.rawValue) AND channel_id = \(id.rawValue) AND NOT deleted
                RETURNING wiped_at
                """
            ) { row in try row.decode(0, as: PostgresTimestamp.self) }
            guard let removedAt else {
                try session.refuseDeparted(network)
                return false
            }
            try session.endRelations(where: "m.channel_id = \(id.rawValue)", of: network, after: removedAt)
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
