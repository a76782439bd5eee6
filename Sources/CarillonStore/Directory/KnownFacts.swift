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

    /// The marks of what made them members.
    private var since: [MemberKey: EventMark] = [:]
    /// Those who are in the directory and not removed, and whether all is as the events say.
    private var knownUsers: [UserKey: Bool] = [:]
    private var knownChannels: [ChannelKey: Bool] = [:]

    init(about facts: DirectoryFacts) {
        members = facts.implied
        // What is removed is written in any case, and what else is said of it afterwards.
        let hasRemovals = !facts.removesNobody || facts.channels.values.contains { $0.wipedAt != nil }
        users = hasRemovals ? [] : facts.users.sorted { $0.key < $1.key }
        channels = hasRemovals ? [] : facts.channels.sorted { $0.key < $1.key }
    }

    var statements: [SQL] {
        guard !(members.isEmpty && users.isEmpty && channels.isEmpty) else { return [] }
        return [
            """
            SELECT \(Kind.member.rawValue)::integer, n.position, m.since_event, true
            FROM unnest(\(members.map(\.network.rawValue)), \(members.map(\.channel.rawValue)),
                        \(members.map(\.user.rawValue))) WITH ORDINALITY AS n (network_id, channel_id, user_id, position)
            \(sql: .membership)
            CROSS JOIN LATERAL (
                SELECT c.emptied_at FROM channels c
                WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id AND NOT c.deleted
                LIMIT 1
            ) AS c
            CROSS JOIN LATERAL (
                SELECT u.wiped_at FROM users u
                WHERE u.network_id = n.network_id AND u.user_id = n.user_id AND NOT u.deleted
                LIMIT 1
            ) AS u
            WHERE m.is_member
                AND (c.emptied_at IS NULL OR m.facts_at > c.emptied_at) AND (u.wiped_at IS NULL OR m.facts_at > u.wiped_at)
            UNION ALL
            SELECT \(Kind.user.rawValue)::integer, n.position, NULL, (\(sql: .isNewsOfUser)) IS NOT TRUE
            FROM \(sql: .saying(users))
            CROSS JOIN LATERAL (
                SELECT u.facts_at, u.deleted, u.display_name, u.locale, u.roles FROM users u
                WHERE u.network_id = n.network_id AND u.user_id = n.user_id AND NOT u.deleted
                LIMIT 1
            ) AS u
            UNION ALL
            SELECT \(Kind.channel.rawValue)::integer, n.position, NULL, (\(sql: .isNewsOfChannel)) IS NOT TRUE
            FROM \(sql: .saying(channels))
            CROSS JOIN LATERAL (
                SELECT c.facts_at, c.deleted, c.display_name, c.fallback_name, c.direct FROM channels c
                WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id AND NOT c.deleted
                LIMIT 1
            ) AS c
            """
        ]
    }

    mutating func take(_ answers: some Sequence<StatementResult>) throws {
        for answer in answers {
            try answer.forEach { row in
                let position = try row.decode(1, as: Int.self) - 1
                let isAsSaid = try row.decode(3, as: Bool.self)
                switch Kind(rawValue: try row.decode(0)) {
                case .member?: since[members[position]] = try row.decode(2, as: EventMark.self)
                case .user?: knownUsers[users[position].key] = isAsSaid
                case .channel?: knownChannels[channels[position].key] = isAsSaid
                case nil: throw StoreError.unreadable("known facts")
                }
            }
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
        guard areAll else { return rest }
        return rest.without(users: knownUsers.filter(\.value).keys, channels: knownChannels.filter(\.value).keys)
    }

    /// Whether a user has a row, and is not removed.
    func has(_ user: UserKey) -> Bool { knownUsers[user] != nil }

    /// Whether a channel has a row, and is not removed.
    func has(_ channel: ChannelKey) -> Bool { knownChannels[channel] != nil }
}
