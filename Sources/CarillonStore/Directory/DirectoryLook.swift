import CarillonCore
import Postgres

/// A look at the rows that facts are about, each by its key: one statement, which reads no row twice.
///
/// Whether a row is removed is asked of what was found: it is a condition of indexes that serve searches, and of a table that nobody has
/// analysed yet the planner would walk along one of these.
struct DirectoryLook {
    private enum Kind: Int32 {
        case member
        case user
        case channel
    }

    private let members: [MemberKey]
    private let users: [UserKey]
    private let channels: [ChannelKey]

    /// A look at what is not among `known`, of all networks or of some.
    init(at facts: DirectoryFacts, without known: DirectoryRows, of networks: Set<NetworkID>? = nil) {
        func isAsked(_ network: NetworkID) -> Bool { networks?.contains(network) ?? true }
        members = facts.implied.filter { known.members[$0] == nil && isAsked($0.network) }.sorted()
        users = facts.users.keys.filter { known.users[$0] == nil && isAsked($0.network) }.sorted()
        channels = facts.channels.keys.filter { known.channels[$0] == nil && isAsked($0.network) }.sorted()
    }

    var isEmpty: Bool { members.isEmpty && users.isEmpty && channels.isEmpty }

    var statement: SQL {
        """
        SELECT \(Kind.member.rawValue)::integer, n.position, m.facts_at, m.since_event, NULL::timestamptz, NULL::text, NULL::text,
               NULL::text, NULL::boolean
        FROM unnest(\(members.map(\.network.rawValue)), \(members.map(\.channel.rawValue)),
                    \(members.map(\.user.rawValue))) WITH ORDINALITY AS n (network_id, channel_id, user_id, position)
        \(sql: .membership)
        WHERE m.is_member
        UNION ALL
        SELECT \(Kind.user.rawValue)::integer, n.position, u.facts_at, NULL, u.wiped_at, u.display_name, u.locale, u.roles, NULL
        FROM unnest(\(users.map(\.network.rawValue)), \(users.map(\.user.rawValue)))
            WITH ORDINALITY AS n (network_id, user_id, position)
        CROSS JOIN LATERAL (
            SELECT u.facts_at, u.wiped_at, u.deleted, u.display_name, u.locale, u.roles FROM users u
            WHERE u.network_id = n.network_id AND u.user_id = n.user_id
            LIMIT 1
        ) AS u
        WHERE NOT u.deleted
        UNION ALL
        SELECT \(Kind.channel.rawValue)::integer, n.position, c.facts_at, NULL, c.emptied_at, c.display_name, c.fallback_name, NULL,
               c.direct
        FROM unnest(\(channels.map(\.network.rawValue)), \(channels.map(\.channel.rawValue)))
            WITH ORDINALITY AS n (network_id, channel_id, position)
        CROSS JOIN LATERAL (
            SELECT c.facts_at, c.emptied_at, c.deleted, c.display_name, c.fallback_name, c.direct FROM channels c
            WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id
            LIMIT 1
        ) AS c
        WHERE NOT c.deleted
        """
    }

    /// Adds the rows that were found.
    func read(_ answer: StatementResult, into rows: inout DirectoryRows) throws {
        try answer.forEach { row in
            let position = try row.decode(1, as: Int.self) - 1
            let factsAt = try row.decode(2, as: PostgresTimestamp.self)
            switch Kind(rawValue: try row.decode(0)) {
            case .member?: rows.members[members[position]] = MemberRow(since: try row.decode(3), factsAt: factsAt)
            case .user?:
                rows.users[users[position]] = UserRow(
                    factsAt: factsAt,
                    wipedAt: try row.decode(4),
                    displayName: try row.decode(5),
                    locale: try row.decode(6),
                    roles: try row.decode(7)
                )
            case .channel?:
                rows.channels[channels[position]] = ChannelRow(
                    factsAt: factsAt,
                    emptiedAt: try row.decode(4),
                    displayName: try row.decode(5),
                    fallbackName: try row.decode(6),
                    isDirect: try row.decode(8)
                )
            case nil: throw StoreError.unreadable("known facts")
            }
        }
    }
}
