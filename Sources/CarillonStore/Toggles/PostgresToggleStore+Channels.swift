package import CarillonCore
import Postgres

extension PostgresToggleStore {
    /// Reads all of the user's memberships for each page, but looks only at the page's channels: the index is by user alone, and
    /// a user has thousands at the most. One in their order would have everything by which a channel's members are walked
    /// through, so that a plan could choose it for that, and read the network.
    package func channels(
        of user: UserID,
        in network: NetworkID,
        after: ChannelID?,
        limit: Int
    ) async throws -> [UserChannel]? {
        try await databases.of(network).pool.snapshot { session in
            let wipedAt = try session.queryFirst(
                """
                SELECT coalesce(wiped_at, '-infinity') FROM users
                WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue) AND NOT deleted
                """
            ) { row in try row.decode(0, as: PostgresTimestamp.self) }
            guard let wipedAt else { return nil }
            // The order of the channels would else be read from the network's whole membership.
            return try session.query(
                """
                WITH mine AS MATERIALIZED (
                    SELECT * FROM members
                    WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue) AND is_member
                        AND facts_at > \(wipedAt)
                )
                SELECT m.channel_id, coalesce(nullif(known.display_name, ''), known.fallback_name), known.direct,
                       \(sql: Self.channelColumns)
                FROM (SELECT * FROM mine WHERE channel_id > \(after?.rawValue ?? "") ORDER BY channel_id OFFSET 0) AS m
                CROSS JOIN LATERAL (SELECT k.display_name, k.fallback_name, k.direct, k.emptied_at FROM channels k
                                    WHERE k.network_id = m.network_id AND k.channel_id = m.channel_id AND NOT k.deleted
                                    LIMIT 1) known
                WHERE m.facts_at > coalesce(known.emptied_at, '-infinity')
                ORDER BY m.channel_id LIMIT \(limit)
                """
            ) { row in
                let channel = Channel(
                    id: try row.id(0),
                    displayName: try row.decode(1),
                    isDirect: try row.decode(2)
                )
                return UserChannel(channel: channel, toggles: try row.toggles(at: 3))
            }
        }
    }
}
