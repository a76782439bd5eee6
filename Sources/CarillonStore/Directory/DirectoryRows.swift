import CarillonCore
import Postgres

/// A user who is in the directory, and not removed.
struct UserRow: Sendable {
    var factsAt: PostgresTimestamp
    /// What is older of the memberships is over.
    let wipedAt: PostgresTimestamp?
    let displayName: String?
    let locale: String?
    let roles: String?
}

/// A channel that is in the directory, and not removed.
struct ChannelRow: Sendable {
    var factsAt: PostgresTimestamp
    /// What is older of the memberships is over.
    let emptiedAt: PostgresTimestamp?
    let displayName: String?
    let fallbackName: String?
    let isDirect: Bool?
}

/// A membership that no event or admin has ended; what ends all of a user's or a channel's may have.
struct MemberRow: Sendable {
    /// The mark of what made it.
    let since: EventMark
    let factsAt: PostgresTimestamp
}

/// Rows of the directory by their keys; what is missing is not there, or nobody asked for it.
struct DirectoryRows: Sendable {
    var users: [UserKey: UserRow] = [:]
    var channels: [ChannelKey: ChannelRow] = [:]
    var members: [MemberKey: MemberRow] = [:]

    var count: Int { users.count + channels.count + members.count }

    /// The mark of what made somebody a member, if they are one.
    func since(_ key: MemberKey) -> EventMark? {
        guard let member = members[key], let user = users[key.owner], let channel = channels[key.channelKey] else {
            return nil
        }
        if let over = user.wipedAt, member.factsAt <= over { return nil }
        if let over = channel.emptiedAt, member.factsAt <= over { return nil }
        return member.since
    }

    /// Takes over rows from others, in place of its own.
    mutating func take(_ others: DirectoryRows) {
        users.merge(others.users) { $1 }
        channels.merge(others.channels) { $1 }
        members.merge(others.members) { $1 }
    }

    /// Forgets the rows that facts are about.
    mutating func remove(_ facts: DirectoryFacts) {
        for key in facts.users.keys { users[key] = nil }
        for key in facts.channels.keys { channels[key] = nil }
        for key in facts.members.keys { members[key] = nil }
    }

    /// Forgets all rows of these networks.
    mutating func remove(allOf networks: Set<NetworkID>) {
        users = users.filter { !networks.contains($0.key.network) }
        channels = channels.filter { !networks.contains($0.key.network) }
        members = members.filter { !networks.contains($0.key.network) }
    }
}

/// Memberships in the database, and what ends them as ``DirectoryRows/since(_:)`` says of rows that are known here.
extension SQL {
    /// Membership `m` with the key of `n`; none where there is none.
    ///
    /// The comparison of rows says where the walk begins, and no index other than the primary key can serve it, as that of somebody's
    /// memberships could, of which there may be thousands. Beside an equality of channels PostgreSQL would begin at the channel's first
    /// member, and read all up to the one that is looked for; so the channel is bounded, and the user compared with what was found.
    static let membership: SQL = """
        CROSS JOIN LATERAL (
            SELECT m.* FROM (
                SELECT m.user_id, m.is_member, m.since_event, m.facts_at FROM members m
                WHERE m.network_id = n.network_id AND m.channel_id <= n.channel_id
                    AND (m.channel_id, m.user_id) >= (n.channel_id, n.user_id)
                ORDER BY m.channel_id, m.user_id
                LIMIT 1
            ) AS m
            WHERE m.user_id = n.user_id
        ) AS m
        """

    /// What removals have ended of the channel and the user of `n`, each looked up by its key: see `docs/decisions/0009`.
    static let endOfBoth: SQL = """
        LEFT JOIN LATERAL (
            SELECT c.emptied_at, c.wiped_at FROM channels c
            WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id
            LIMIT 1
        ) AS c ON true
        LEFT JOIN LATERAL (
            SELECT u.wiped_at FROM users u WHERE u.network_id = n.network_id AND u.user_id = n.user_id LIMIT 1
        ) AS u ON true
        """

    /// Until when removals have ended what `n` is about: the membership, or all of it.
    static let removals: SQL = """
        \(sql: .endOfBoth)
        CROSS JOIN LATERAL (
            SELECT greatest(c.emptied_at, u.wiped_at) AS over_at, greatest(c.wiped_at, u.wiped_at) AS wiped_at
        ) AS r
        """
}

/// Which of what events say is news.
extension SQL {
    /// By how much `facts_at` may lag behind what merely confirmed a row. Moving it with every message
    /// would write the rows of busy people and channels in every commit, and let the commits of replicas wait for each
    /// other: half of the throughput, measured.
    static let tolerance = Duration.seconds(1)

    /// Whether removal `n` ends relations that no former one did. What is newer in the row, as a name, is no reason why those that are older
    /// than the removal should go on.
    static func endsOlder(_ former: SQL) -> SQL {
        "coalesce(n.wiped_at >= coalesce(\(sql: former), '-infinity'), false)"
    }

    /// Whether row `n` changes user `u`.
    static let isNewsOfUser: SQL = """
        n.stated_at >= u.facts_at + \(tolerance.wholeMilliseconds) * interval '1 millisecond'
            OR n.seen_at >= u.facts_at AND n.deleted <> u.deleted
            OR \(sql: endsOlder("u.wiped_at"))
            OR n.name_at >= u.facts_at AND n.display_name IS DISTINCT FROM u.display_name
            OR n.locale_at >= u.facts_at AND n.locale IS DISTINCT FROM u.locale
            OR n.roles_at >= u.facts_at AND n.roles IS DISTINCT FROM u.roles
        """

    /// Whether row `n` changes channel `c`.
    static let isNewsOfChannel: SQL = """
        n.stated_at >= c.facts_at + \(tolerance.wholeMilliseconds) * interval '1 millisecond'
            OR n.seen_at >= c.facts_at AND n.deleted <> c.deleted
            OR \(sql: endsOlder("c.emptied_at"))
            OR n.name_at >= c.facts_at AND n.display_name IS DISTINCT FROM c.display_name
            OR n.fallback IS NOT NULL AND (c.fallback_name IS NULL OR n.fallback NOT IN ('', c.fallback_name)
                                           OR n.ends_fallback AND n.fallback <> c.fallback_name)
            OR n.direct_at >= c.facts_at AND n.direct IS DISTINCT FROM c.direct
        """
}

/// What ``CarillonStore/SQL/isNewsOfUser`` says where the row is known here.
extension UserFact {
    /// Whether a row has to be written because of it.
    func isNews(of row: UserRow) -> Bool {
        if let statedAt, statedAt.stored >= row.factsAt + SQL.tolerance { return true }
        return changes(row)
    }

    /// Whether that changes more than when the row was confirmed.
    func changes(_ row: UserRow) -> Bool {
        isDeleted && seenAt.stored >= row.factsAt || wipedAt.endsOlder(than: row.wipedAt)
            || displayName.differs(from: row.displayName, of: row.factsAt)
            || locale.differs(from: row.locale, of: row.factsAt)
            || roles.map { Stated(value: $0.value.map(StoredRoles.text), at: $0.at) }
                .differs(from: row.roles, of: row.factsAt)
    }
}

/// What ``CarillonStore/SQL/isNewsOfChannel`` says where the row is known here.
extension ChannelFact {
    /// Whether a row has to be written because of it.
    func isNews(of row: ChannelRow) -> Bool {
        if let statedAt, statedAt.stored >= row.factsAt + SQL.tolerance { return true }
        return changes(row)
    }

    /// Whether that changes more than when the row was confirmed.
    func changes(_ row: ChannelRow) -> Bool {
        isDeleted && !isOnlyMentioned && seenAt.stored >= row.factsAt || wipedAt.endsOlder(than: row.emptiedAt)
            || displayName.differs(from: row.displayName, of: row.factsAt) || changesFallback(row.fallbackName)
            || isDirect.map { $0.at.stored >= row.factsAt && $0.value != row.isDirect } ?? false
    }

    private func changesFallback(_ former: String?) -> Bool {
        guard let fallbackName else { return false }
        guard let former else { return true }
        let isOther = !fallbackName.hasSameBytes(as: former)
        return isOther && (!fallbackName.isEmpty || endsFallback)
    }
}

extension Timestamp? {
    fileprivate func endsOlder(than former: PostgresTimestamp?) -> Bool {
        map { end in former.map { end.stored >= $0 } ?? true } ?? false
    }
}

extension Stated<String>? {
    /// Whether another value was stated, no earlier than the row's. Other bytes are another value, as in the database.
    fileprivate func differs(from value: String?, of moment: PostgresTimestamp) -> Bool {
        guard let stated = self, stated.at.stored >= moment else { return false }
        switch (stated.value, value) {
        case (let new?, let old?): return !new.hasSameBytes(as: old)
        case (nil, nil): return false
        default: return true
        }
    }
}
