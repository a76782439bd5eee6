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

/// What ``CarillonStore/SQL/isNewsOfUser`` says where the row is known here.
extension UserFact {
    /// Whether a row has to be written because of it.
    func isNews(of row: UserRow) -> Bool {
        if let statedAt, statedAt.stored >= row.factsAt + SQL.tolerance { return true }
        return changes(row)
    }

    /// Whether that changes more than when the row was confirmed.
    func changes(_ row: UserRow) -> Bool {
        isDeleted && seenAt.stored >= row.factsAt || wipedAt.isSaid(of: row.factsAt)
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
        isDeleted && !isOnlyMentioned && seenAt.stored >= row.factsAt || wipedAt.isSaid(of: row.factsAt)
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
    fileprivate func isSaid(of moment: PostgresTimestamp) -> Bool { map { $0.stored >= moment } ?? false }
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
