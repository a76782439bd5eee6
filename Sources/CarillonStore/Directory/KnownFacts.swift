import CarillonCore
import Postgres

/// What of that which events say is in the directory already. Nothing has to be written of it, so that a message from and to people who are
/// known costs a look at them and not a row.
///
/// The look is taken in the round trip that claims the events' ids, a moment before what follows from them is written. Who leaves, is
/// removed or gets another name in between does so at the same time as the event was sent, and either order is right: what is known needs
/// no write, so that looking at it is all that the event would have done.
struct KnownFacts {
    private enum Kind: Int32 {
        case member
        case user
        case channel
    }

    private let members: [MemberKey]
    private let users: [(key: UserKey, value: UserFact)]
    private let channels: [(key: ChannelKey, value: ChannelFact)]
    /// Whether users and channels that are as the events say may be left out. What is removed is written in any case, and what else is
    /// said of it afterwards.
    private let areComparable: Bool

    /// The marks of what made them members.
    private var since: [MemberKey: EventMark] = [:]
    private var knownUsers: [UserKey: Found] = [:]
    private var knownChannels: [ChannelKey: Found] = [:]

    /// A user or a channel that is in the directory and not removed.
    private struct Found {
        let isAsSaid: Bool
        /// What is older of its memberships is over.
        let over: PostgresTimestamp?
    }

    init(about facts: DirectoryFacts) {
        members = facts.implied
        users = facts.users.sorted { $0.key < $1.key }
        channels = facts.channels.sorted { $0.key < $1.key }
        areComparable = facts.removesNobody && facts.channels.values.allSatisfy { $0.wipedAt == nil }
    }

    /// One statement, which looks each row up once. Whether a row is removed is asked of what was found: it is a condition of indexes that
    /// serve searches, and of a table that nobody has analysed yet the planner would walk along one of these.
    var statements: [SQL] {
        guard !(members.isEmpty && users.isEmpty && channels.isEmpty) else { return [] }
        return [
            """
            SELECT \(Kind.member.rawValue)::integer, n.position, m.since_event, m.facts_at, true
            FROM unnest(\(members.map(\.network.rawValue)), \(members.map(\.channel.rawValue)),
                        \(members.map(\.user.rawValue))) WITH ORDINALITY AS n (network_id, channel_id, user_id, position)
            \(sql: .membership)
            WHERE m.is_member
            UNION ALL
            SELECT \(Kind.user.rawValue)::integer, n.position, NULL, u.wiped_at, (\(sql: .isNewsOfUser)) IS NOT TRUE
            FROM \(sql: .saying(users))
            CROSS JOIN LATERAL (
                SELECT u.facts_at, u.wiped_at, u.deleted, u.display_name, u.locale, u.roles FROM users u
                WHERE u.network_id = n.network_id AND u.user_id = n.user_id
                LIMIT 1
            ) AS u
            WHERE NOT u.deleted
            UNION ALL
            SELECT \(Kind.channel.rawValue)::integer, n.position, NULL, c.emptied_at, (\(sql: .isNewsOfChannel)) IS NOT TRUE
            FROM \(sql: .saying(channels))
            CROSS JOIN LATERAL (
                SELECT c.facts_at, c.emptied_at, c.deleted, c.display_name, c.fallback_name, c.direct FROM channels c
                WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id
                LIMIT 1
            ) AS c
            WHERE NOT c.deleted
            """
        ]
    }

    mutating func take(_ answers: some Sequence<StatementResult>) throws {
        var memberships: [(key: MemberKey, since: EventMark, stated: PostgresTimestamp)] = []
        for answer in answers {
            try answer.forEach { row in
                let position = try row.decode(1, as: Int.self) - 1
                let moment = try row.decode(3, as: PostgresTimestamp?.self)
                switch (Kind(rawValue: try row.decode(0)), moment) {
                case (.member?, let stated?):
                    memberships.append((members[position], try row.decode(2, as: EventMark.self), stated))
                case (.user?, let over):
                    knownUsers[users[position].key] = Found(isAsSaid: try row.decode(4), over: over)
                case (.channel?, let over):
                    knownChannels[channels[position].key] = Found(isAsSaid: try row.decode(4), over: over)
                case (.member?, nil), (nil, _): throw StoreError.unreadable("known facts")
                }
            }
        }
        for (key, mark, stated) in memberships {
            guard let user = knownUsers[key.owner], let channel = knownChannels[key.place] else { continue }
            if let over = user.over, stated <= over { continue }
            if let over = channel.over, stated <= over { continue }
            since[key] = mark
        }
    }

    /// Facts without those that tell nothing new.
    ///
    /// - Parameters:
    ///   - facts: What the events say that turned out to be new.
    ///   - areAll: Whether that is all of what was looked for.
    ///   - mark: The mark of an event. Who became a member by one that stands behind it was none before, as far as is
    ///     written: that has to be put right, for the event to reach them.
    /// - Returns: What is left to be written.
    func leftOut(of facts: DirectoryFacts, areAll: Bool, mark: (EventID) -> EventMark) -> DirectoryFacts {
        let known = since.filter { key, since in
            facts.members[key].map { $0.isImplied && since < mark(EventID($0.sinceEvent)) } ?? false
        }
        let rest = known.isEmpty ? facts : facts.without(known.keys)
        guard areAll, areComparable else { return rest }
        return rest.without(
            users: knownUsers.filter(\.value.isAsSaid).keys,
            channels: knownChannels.filter(\.value.isAsSaid).keys
        )
    }

    /// Whether a user has a row, and is not removed.
    func has(_ user: UserKey) -> Bool { areComparable && knownUsers[user] != nil }

    /// Whether a channel has a row, and is not removed.
    func has(_ channel: ChannelKey) -> Bool { areComparable && knownChannels[channel] != nil }
}
