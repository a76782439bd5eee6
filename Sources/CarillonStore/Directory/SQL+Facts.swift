import CarillonCore
import Postgres

/// What events say as rows, and what of it is news.
extension SQL {
    /// By how much `facts_at` may lag behind what merely confirmed a row. Moving it with every message
    /// would write the rows of busy people and channels in every commit, and let the commits of replicas wait for each
    /// other: half of the throughput, measured.
    static let tolerance = Duration.seconds(1)

    /// What is said of users, as rows `n`.
    static func saying(_ users: [(key: UserKey, value: UserFact)]) -> SQL {
        """
        unnest(\(users.map(\.key.network.rawValue)), \(users.map(\.key.user.rawValue)), \(users.map(\.value.seenAt.stored)),
               \(users.map(\.value.statedAt?.stored)), \(users.map(\.value.wipedAt?.stored)),
               \(users.map(\.value.isDeleted)), \(users.map(\.value.displayName?.value)),
               \(users.map(\.value.displayName?.at.stored)), \(users.map(\.value.locale?.value)),
               \(users.map(\.value.locale?.at.stored)),
               \(users.map { $0.value.roles?.value.map(StoredRoles.text) }), \(users.map(\.value.roles?.at.stored)))
            WITH ORDINALITY
            AS n (network_id, user_id, seen_at, stated_at, wiped_at, deleted, display_name, name_at, locale, locale_at,
                  roles, roles_at, position)
        """
    }

    /// Whether row `n` changes user `u`.
    static let isNewsOfUser: SQL = """
        n.stated_at >= u.facts_at + \(tolerance.wholeMilliseconds) * interval '1 millisecond'
            OR n.seen_at >= u.facts_at AND n.deleted <> u.deleted
            OR n.wiped_at >= u.facts_at
            OR n.name_at >= u.facts_at AND n.display_name IS DISTINCT FROM u.display_name
            OR n.locale_at >= u.facts_at AND n.locale IS DISTINCT FROM u.locale
            OR n.roles_at >= u.facts_at AND n.roles IS DISTINCT FROM u.roles
        """

    /// What is said of channels, as rows `n`.
    static func saying(_ channels: [(key: ChannelKey, value: ChannelFact)]) -> SQL {
        """
        unnest(\(channels.map(\.key.network.rawValue)), \(channels.map(\.key.channel.rawValue)),
               \(channels.map { $0.value.isOnlyMentioned ? nil : $0.value.seenAt.stored }),
               \(channels.map(\.value.statedAt?.stored)), \(channels.map(\.value.wipedAt?.stored)),
               \(channels.map(\.value.isDeleted)), \(channels.map(\.value.displayName?.value)),
               \(channels.map(\.value.displayName?.at.stored)), \(channels.map(\.value.fallbackName)),
               \(channels.map(\.value.endsFallback)), \(channels.map(\.value.isDirect?.value)),
               \(channels.map(\.value.isDirect?.at.stored)))
            WITH ORDINALITY
            AS n (network_id, channel_id, seen_at, stated_at, wiped_at, deleted, display_name, name_at, fallback,
                  ends_fallback, direct, direct_at, position)
        """
    }

    /// Whether row `n` changes channel `c`.
    static let isNewsOfChannel: SQL = """
        n.stated_at >= c.facts_at + \(tolerance.wholeMilliseconds) * interval '1 millisecond'
            OR n.seen_at >= c.facts_at AND n.deleted <> c.deleted
            OR n.wiped_at >= c.facts_at
            OR n.name_at >= c.facts_at AND n.display_name IS DISTINCT FROM c.display_name
            OR n.fallback IS NOT NULL AND (c.fallback_name IS NULL OR n.fallback NOT IN ('', c.fallback_name)
                                           OR n.ends_fallback AND n.fallback <> c.fallback_name)
            OR n.direct_at >= c.facts_at AND n.direct IS DISTINCT FROM c.direct
        """
}
