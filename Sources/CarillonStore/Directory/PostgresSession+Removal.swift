import CarillonCore
import Postgres

extension PostgresSession {
    /// Ends the memberships of removed users and forgets their channel toggles, but for what is newer than the removal.
    func endMemberships(ofUsers users: [(key: UserKey, at: PostgresTimestamp)]) throws {
        guard !users.isEmpty else { return }
        try execute(
            """
            WITH target AS (
                SELECT m.network_id, m.channel_id, m.user_id, n.at
                FROM unnest(\(users.map(\.key.network.rawValue)), \(users.map(\.key.user.rawValue)),
                            \(users.map(\.at))) AS n (network_id, user_id, at)
                JOIN members m ON m.network_id = n.network_id AND m.user_id = n.user_id AND m.facts_at <= n.at
                ORDER BY m.network_id, m.channel_id, m.user_id
                FOR NO KEY UPDATE OF m
            )
            \(sql: Self.endingMemberships)
            """
        )
    }

    /// Ends the memberships in removed channels and forgets their channel toggles, but for what is newer than the removal.
    func endMemberships(ofChannels channels: [(key: ChannelKey, at: PostgresTimestamp)]) throws {
        guard !channels.isEmpty else { return }
        try execute(
            """
            WITH target AS (
                SELECT m.network_id, m.channel_id, m.user_id, n.at
                FROM unnest(\(channels.map(\.key.network.rawValue)), \(channels.map(\.key.channel.rawValue)),
                            \(channels.map(\.at))) AS n (network_id, channel_id, at)
                JOIN members m ON m.network_id = n.network_id AND m.channel_id = n.channel_id AND m.facts_at <= n.at
                ORDER BY m.network_id, m.channel_id, m.user_id
                FOR NO KEY UPDATE OF m
            )
            \(sql: Self.endingMemberships)
            """
        )
    }

    private static let endingMemberships: SQL = """
        UPDATE members m
        SET is_member = false, facts_at = t.at, toggles = NULL, toggles_updated_at = NULL,
            toggles_version = m.toggles_version + CASE WHEN m.toggles IS NULL THEN 0 ELSE 1 END
        FROM target t
        WHERE m.network_id = t.network_id AND m.channel_id = t.channel_id AND m.user_id = t.user_id
        """

    /// Removes the devices of removed users.
    func deleteDevices(of users: [UserKey]) throws {
        guard !users.isEmpty else { return }
        try execute(
            """
            WITH target AS (
                SELECT d.network_id, d.device_id
                FROM unnest(\(users.map(\.network.rawValue)), \(users.map(\.user.rawValue))) AS n (network_id, user_id)
                JOIN devices d ON d.network_id = n.network_id AND d.user_id = n.user_id
                ORDER BY d.network_id, d.device_id
                FOR UPDATE OF d
            )
            DELETE FROM devices d USING target t
            WHERE d.network_id = t.network_id AND d.device_id = t.device_id
            """
        )
    }
}
