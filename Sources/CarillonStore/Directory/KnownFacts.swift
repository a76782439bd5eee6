import CarillonCore
import Postgres

/// What of that which events say is in the directory already. Nothing has to be written of it, so that a message from and to people who are
/// known costs a look at them and not a row; and no look where ``DirectoryCache`` knows them.
///
/// The look is taken in the round trip that claims the events' ids, a moment before what follows from them is written. Who leaves, is
/// removed or gets another name in between does so at the same time as the event was sent, and either order is right: what is known needs
/// no write, so that looking at it is all that the event would have done.
struct KnownFacts {
    private let facts: DirectoryFacts
    private let remembered: DirectoryCache.KnownRows
    private let look: DirectoryLook
    private var rows: DirectoryRows
    /// Those of them that the batch has read itself.
    private var found = DirectoryRows()
    private var versions: DirectoryVersions?
    /// Networks whose version is below what the cache has seen: the database has lost its last commits.
    private var fallenBack: Set<NetworkID> = []

    init(about facts: DirectoryFacts, of networks: Set<NetworkID>, in cache: DirectoryCache) {
        self.facts = facts
        remembered = cache.rows(about: facts, of: networks)
        rows = remembered.rows
        look = DirectoryLook(at: facts, without: rows)
    }

    var statements: [SQL] {
        let asked = remembered.watched
        return (asked.isEmpty ? [] : [DirectoryVersions.statement(for: asked)]) + (look.isEmpty ? [] : [look.statement])
    }

    /// Takes in what the statements answered; looks once more at what somebody has changed since the cache has read it.
    mutating func take(_ answers: ArraySlice<StatementResult>, _ session: borrowing PostgresSession) throws {
        let asked = remembered.watched.isEmpty ? 0 : 1
        let versions = try DirectoryVersions(answers.prefix(asked))
        self.versions = versions
        let stale = Set(remembered.versions.filter { versions[$0.key] != $0.value }.keys)
        fallenBack = stale.filter { versions[$0] < remembered.versions[$0, default: 0] }
        if !stale.isEmpty { rows.remove(allOf: stale) }
        for answer in answers.dropFirst(asked) { try look.read(answer, into: &found) }
        rows.take(found)
        guard !stale.isEmpty else { return }
        let again = DirectoryLook(at: facts, without: rows, of: stale)
        guard !again.isEmpty else { return }
        for answer in try session.pipeline([again.statement]) { try again.read(answer, into: &found) }
        rows.take(found)
    }

    /// Facts of new events without those that tell nothing new. Who became a member by an event whose `mark` stands behind theirs was none
    /// before, as far as is written: that has to be put right, for the event to reach them.
    func leftOut(of facts: DirectoryFacts, mark: (EventID) -> EventMark) -> DirectoryFacts {
        let members = facts.members.filter { key, fact in
            guard facts.isImplied(key, fact), let since = rows.since(key) else { return false }
            return since < mark(EventID(fact.sinceEvent))
        }
        let rest = members.isEmpty ? facts : facts.without(members.keys)
        // What is removed is written in any case, and what else is said of it afterwards.
        let removing = facts.networksRemoving
        func isKnown(_ network: NetworkID, _ isNews: Bool?) -> Bool { isNews == false && !removing.contains(network) }
        let users = rest.users.filter { key, fact in isKnown(key.network, rows.users[key].map(fact.isNews)) }
        let channels = rest.channels.filter { key, fact in isKnown(key.network, rows.channels[key].map(fact.isNews)) }
        return rest.without(users: users.keys, channels: channels.keys)
    }

    /// The networks in whose directories `news` change what somebody has read: names, descriptions, and what is over.
    func networksChanged(by news: DirectoryFacts) -> Set<NetworkID> {
        var networks = news.networksRemoving
        for (key, fact) in news.users where rows.users[key].map(fact.changes) ?? false { networks.insert(key.network) }
        for (key, fact) in news.channels where rows.channels[key].map(fact.changes) ?? false {
            networks.insert(key.network)
        }
        for (key, fact) in news.members where !fact.isMember || fact.leftAt != nil { networks.insert(key.network) }
        return networks
    }

    /// What the cache may learn of it when `news` are committed. Only networks that took something of the batch are learned of: of one
    /// that is gone nothing holds, and no version says so.
    func committedBatch(
        of news: DirectoryFacts,
        _ written: WrittenFacts,
        taking: Set<NetworkID>,
        counted: DirectoryVersions
    ) -> DirectoryCache.CommittedBatch {
        var batch = DirectoryCache.CommittedBatch(networks: taking, rows: found, written: news)
        // What was written may stand there as somebody else has written it at the same time.
        batch.rows.remove(news)
        for (key, outcome) in written.users where !outcome.isChanged {
            batch.rows.users[key] = rows.users[key]
            batch.rows.users[key]?.factsAt = outcome.factsAt
        }
        for (key, outcome) in written.channels where !outcome.isChanged {
            batch.rows.channels[key] = rows.channels[key]
            batch.rows.channels[key]?.factsAt = outcome.factsAt
        }
        if let versions { for network in remembered.watched { batch.versions[network] = versions[network] } }
        for network in taking where counted[network] != 0 { batch.counted[network] = counted[network] }
        batch.swept = fallenBack.union(news.networksRemoving)
        return batch
    }

    /// Whether a user has a row, and is not removed.
    func has(_ user: UserKey) -> Bool { rows.users[user] != nil }

    /// Whether a channel has a row, and is not removed.
    func has(_ channel: ChannelKey) -> Bool { rows.channels[channel] != nil }
}

/// A look at the rows that facts are about, each by its key: one statement, which reads no row twice.
///
/// Whether a row is removed is asked of what was found: it is a condition of indexes that serve searches, and of a table that nobody has
/// analysed yet the planner would walk along one of these.
private struct DirectoryLook {
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
