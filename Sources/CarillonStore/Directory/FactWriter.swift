import CarillonCore
import Postgres

/// Writes what events say into the directory: always users, then channels, then members, each in the order of their
/// keys, so that two transactions never wait for each other in a circle.
///
/// A row is written only when it changes, or when its `facts_at` has to move so that an event which is older than this
/// one but comes later does not overwrite what this one confirmed.
struct FactWriter {
    private let facts: DirectoryFacts
    private let users: [(key: UserKey, value: UserFact)]
    private let channels: [(key: ChannelKey, value: ChannelFact)]
    /// Those who are not known to be in the directory, be it otherwise than the facts say.
    private let newUsers: [(key: UserKey, value: UserFact)]
    private let newChannels: [(key: ChannelKey, value: ChannelFact)]
    /// When they are written, by the database's clock.
    private let moment: PostgresTimestamp
    private let mark: (EventID) -> EventMark

    /// Writes `facts` in a transaction of that `moment`; `mark` tells the marks of the events that state them.
    init(
        facts: DirectoryFacts,
        known: KnownFacts? = nil,
        at moment: PostgresTimestamp,
        mark: @escaping (EventID) -> EventMark
    ) {
        (self.facts, self.moment, self.mark) = (facts, moment, mark)
        users = facts.users.sorted { $0.key < $1.key }
        channels = facts.channels.sorted { $0.key < $1.key }
        newUsers = users.filter { known?.has($0.key) != true }
        newChannels = channels.filter { known?.has($0.key) != true }
    }

    /// All that there is to write when nobody is removed: none of it needs the answer of another.
    var statements: [SQL] { userStatements + channelStatements + memberStatements + deletionStatements }

    /// Whom what is deleted concerns: everybody in its network. Noted last, with whom ``write(_:)`` answers.
    var changes: [(network: NetworkID, user: UserID?)] {
        Set(facts.deletedMessages.keys.map(\.network)).map { ($0, nil) }
    }

    /// What became of the rows that were there, by the answers to ``statements``.
    func outcome(_ answers: some Collection<StatementResult>) throws -> WrittenFacts {
        let ofUsers = users.isEmpty ? 0 : newUsers.isEmpty ? 1 : 2
        let ofChannels = channels.isEmpty ? 0 : newChannels.isEmpty ? 1 : 2
        return try WrittenFacts(
            users: answers.prefix(ofUsers).suffix(1),
            channels: answers.dropFirst(ofUsers).prefix(ofChannels).suffix(1)
        )
    }

    /// Writes facts that may remove somebody; answers who was removed, and what became of the rows that were there.
    func write(
        _ session: borrowing PostgresSession
    ) throws -> (removed: [(network: NetworkID, user: UserID?)], written: WrittenFacts) {
        let users = try session.pipeline(userStatements)
        let rest = try session.pipeline(channelStatements + memberStatements + deletionStatements)
        let removed = try users.last?.map { row in
            try row.decode(4) ? UserKey(network: try row.id(0), user: try row.id(1)) : nil
        }
        return ((removed ?? []).compactMap(\.self).map { ($0.network, $0.user) }, try outcome(users + rest))
    }

    /// The last one answers which of the users it changed were removed.
    private var userStatements: [SQL] {
        guard !users.isEmpty else { return [] }
        return newUserStatements + [
            """
            WITH target AS (
                SELECT n.*, u.display_name AS former_name, u.locale AS former_locale, u.roles AS former_roles,
                       \(sql: .endsOlder("u.wiped_at")) AS ends_older
                FROM \(sql: .saying(users))
                JOIN users u ON u.network_id = n.network_id AND u.user_id = n.user_id
                WHERE \(sql: .isNewsOfUser)
                ORDER BY u.network_id, u.user_id
                FOR NO KEY UPDATE OF u
            )
            UPDATE users u
            SET display_name = CASE WHEN t.name_at >= u.facts_at THEN t.display_name ELSE u.display_name END,
                locale = CASE WHEN t.locale_at >= u.facts_at THEN t.locale ELSE u.locale END,
                roles = CASE WHEN t.roles_at >= u.facts_at THEN t.roles ELSE u.roles END,
                deleted = CASE WHEN t.seen_at >= u.facts_at THEN t.deleted ELSE u.deleted END,
                facts_at = greatest(u.facts_at, t.stated_at),
                wiped_at = greatest(u.wiped_at, t.wiped_at),
                wipes = u.wipes + CASE WHEN t.wiped_at >= u.facts_at THEN 1 ELSE 0 END,
                unswept = u.unswept OR t.ends_older,
                toggles = CASE WHEN t.wiped_at >= u.facts_at THEN NULL ELSE u.toggles END,
                toggles_updated_at = CASE WHEN t.wiped_at >= u.facts_at THEN NULL ELSE u.toggles_updated_at END,
                toggles_version = u.toggles_version
                    + CASE WHEN t.wiped_at >= u.facts_at AND u.toggles IS NOT NULL THEN 1 ELSE 0 END
            FROM target t
            WHERE u.network_id = t.network_id AND u.user_id = t.user_id
            RETURNING t.network_id, t.user_id, u.facts_at,
                (u.display_name, u.locale, u.roles) IS DISTINCT FROM (t.former_name, t.former_locale, t.former_roles),
                t.ends_older
            """
        ]
    }

    private var newUserStatements: [SQL] {
        guard !newUsers.isEmpty else { return [] }
        return [
            """
            INSERT INTO users (network_id, user_id, display_name, locale, roles, facts_at, deleted, added_at)
            SELECT n.network_id, n.user_id, n.display_name, n.locale, n.roles, coalesce(n.stated_at, 'epoch'), n.deleted,
                   \(moment)
            FROM \(sql: .saying(newUsers))
            \(sql: .ofNetworks)
            ON CONFLICT (network_id, user_id) DO NOTHING
            """
        ]
    }

    private var newChannelStatements: [SQL] {
        guard !newChannels.isEmpty else { return [] }
        return [
            """
            INSERT INTO channels (network_id, channel_id, display_name, fallback_name, direct, facts_at, deleted)
            SELECT n.network_id, n.channel_id, n.display_name, n.fallback, n.direct, coalesce(n.stated_at, 'epoch'), n.deleted
            FROM \(sql: .saying(newChannels))
            \(sql: .ofNetworks)
            WHERE n.seen_at IS NOT NULL
            ON CONFLICT (network_id, channel_id) DO NOTHING
            """
        ]
    }

    private var channelStatements: [SQL] {
        guard !channels.isEmpty else { return [] }
        return newChannelStatements + [
            """
            WITH target AS (
                SELECT n.*, c.display_name AS former_name, c.fallback_name AS former_fallback, c.direct AS former_direct,
                       \(sql: .endsOlder("c.emptied_at")) AS ends_older
                FROM \(sql: .saying(channels))
                JOIN channels c ON c.network_id = n.network_id AND c.channel_id = n.channel_id
                WHERE \(sql: .isNewsOfChannel)
                ORDER BY c.network_id, c.channel_id
                FOR NO KEY UPDATE OF c
            )
            UPDATE channels c
            SET display_name = CASE WHEN t.name_at >= c.facts_at THEN t.display_name ELSE c.display_name END,
                fallback_name = CASE WHEN t.deleted AND t.wiped_at >= c.facts_at THEN NULL
                                     WHEN t.ends_fallback THEN t.fallback
                                     ELSE coalesce(nullif(t.fallback, ''), c.fallback_name, t.fallback) END,
                direct = CASE WHEN t.direct_at >= c.facts_at THEN t.direct ELSE c.direct END,
                deleted = CASE WHEN t.seen_at >= c.facts_at THEN t.deleted ELSE c.deleted END,
                facts_at = greatest(c.facts_at, t.stated_at),
                wiped_at = greatest(c.wiped_at, t.wiped_at),
                emptied_at = greatest(c.emptied_at, t.wiped_at),
                unswept = c.unswept OR t.ends_older
            FROM target t
            WHERE c.network_id = t.network_id AND c.channel_id = t.channel_id
            RETURNING t.network_id, t.channel_id, c.facts_at,
                (c.display_name, c.fallback_name, c.direct) IS DISTINCT FROM (t.former_name, t.former_fallback, t.former_direct)
            """
        ]
    }

    /// What is taken back is known to the fan-out, and to whoever looks once more at what is about to be sent.
    private var deletionStatements: [SQL] {
        let messages = facts.deletedMessages.sorted { $0.key < $1.key }
        guard !messages.isEmpty else { return [] }
        let networks = messages.map(\.key.network.rawValue)
        return [
            """
            INSERT INTO withdrawals (network_id, event_id, withdrawn_at)
            SELECT n.network_id, n.message, n.deleted_at
            FROM unnest(\(networks), \(messages.map(\.key.id)), \(messages.map { max(moment, $0.value.stored) }))
                AS n (network_id, message, deleted_at)
            \(sql: .ofNetworks)
            ON CONFLICT (network_id, event_id) DO UPDATE SET withdrawn_at = EXCLUDED.withdrawn_at
            """
        ]
    }

    /// What is older than the removal of user or channel states nothing; what is of the same time comes after it.
    ///
    /// Who is a member already has been one since the first event that says so: of two that are accepted at the same time
    /// the later mark may be written first.
    private var memberStatements: [SQL] {
        let members = facts.members.sorted { $0.key < $1.key }
        guard !members.isEmpty else { return [] }
        let networks = members.map(\.key.network.rawValue)
        let channels = members.map(\.key.channel.rawValue)
        let users = members.map(\.key.user.rawValue)
        let at = members.map(\.value.at.stored)
        let isMember = members.map(\.value.isMember)
        let since = members.map { mark(EventID($0.value.sinceEvent)).rawValue }
        let leftAt = members.map(\.value.leftAt?.stored)
        return [
            """
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT n.network_id, n.channel_id, n.user_id, n.is_member, n.since,
                   greatest(n.at, \(sql: .justAfter("r.over_at")))
            FROM unnest(\(networks), \(channels), \(users), \(at), \(isMember), \(since))
                AS n (network_id, channel_id, user_id, at, is_member, since)
            \(sql: .ofNetworks)
            \(sql: .removals)
            WHERE r.over_at IS NULL OR n.at >= r.over_at
            ON CONFLICT (network_id, channel_id, user_id) DO NOTHING
            """,
            """
            WITH target AS (
                SELECT n.network_id, n.channel_id, n.user_id, n.is_member, n.since, n.left_at, r.over_at, r.wiped_at,
                       greatest(n.at, r.over_at + interval '1 microsecond') AS at
                FROM unnest(\(networks), \(channels), \(users), \(at), \(isMember), \(since), \(leftAt))
                    AS n (network_id, channel_id, user_id, at, is_member, since, left_at)
                JOIN members m
                    ON m.network_id = n.network_id AND m.channel_id = n.channel_id AND m.user_id = n.user_id
                \(sql: .removals)
                WHERE (r.over_at IS NULL OR n.at >= r.over_at)
                    AND (greatest(n.at, r.over_at + interval '1 microsecond') > m.facts_at
                         OR greatest(n.at, r.over_at + interval '1 microsecond') = m.facts_at
                            AND n.is_member <> m.is_member
                         OR n.is_member AND m.is_member AND n.since < m.since_event)
                ORDER BY m.network_id, m.channel_id, m.user_id
                FOR NO KEY UPDATE OF m
            )
            UPDATE members m
            SET is_member = t.is_member,
                facts_at = greatest(m.facts_at, t.at),
                since_event = CASE WHEN NOT t.is_member THEN m.since_event
                                   WHEN NOT m.is_member OR t.left_at >= m.facts_at OR m.facts_at <= t.over_at
                                   THEN t.since
                                   ELSE least(m.since_event, t.since) END,
                \(sql: .wiping)
            FROM target t
            WHERE m.network_id = t.network_id AND m.channel_id = t.channel_id AND m.user_id = t.user_id
                AND (m.facts_at <= t.at OR t.is_member AND m.is_member)
            """,
        ]
    }
}

/// Rows that were there before facts were written, when they were stated then, and whether they say something else now.
struct WrittenFacts {
    private(set) var users: [UserKey: (factsAt: PostgresTimestamp, isChanged: Bool)] = [:]
    private(set) var channels: [ChannelKey: (factsAt: PostgresTimestamp, isChanged: Bool)] = [:]

    init(users: some Sequence<StatementResult>, channels: some Sequence<StatementResult>) throws {
        for answer in users {
            try answer.forEach { row in
                let key = UserKey(network: try row.id(0), user: try row.id(1))
                self.users[key] = (factsAt: try row.decode(2), isChanged: try row.decode(3))
            }
        }
        for answer in channels {
            try answer.forEach { row in
                let key = ChannelKey(network: try row.id(0), channel: try row.id(1))
                self.channels[key] = (factsAt: try row.decode(2), isChanged: try row.decode(3))
            }
        }
    }

    /// The networks in which a description was changed.
    var networksChanged: Set<NetworkID> {
        Set(users.filter(\.value.isChanged).keys.map(\.network))
            .union(channels.filter(\.value.isChanged).keys.map(\.network))
    }
}

extension SQL {
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
}
