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
    private let networks: Set<NetworkID>
    /// The versions at which the cache has read what it gave.
    private let assumed: [NetworkID: Int64]
    private let look: DirectoryLook
    private var rows: DirectoryRows
    private var versions: DirectoryVersions?

    init(about facts: DirectoryFacts, of networks: Set<NetworkID>, in cache: DirectoryCache) {
        (self.facts, self.networks) = (facts, networks)
        (rows, assumed) = cache.rows(about: facts, of: networks)
        look = DirectoryLook(at: facts, without: rows)
    }

    var statements: [SQL] {
        if facts.isEmpty { return [] }
        return [DirectoryVersions.statement(for: networks)] + (look.isEmpty ? [] : [look.statement])
    }

    /// Takes in what the statements answered; looks once more at what somebody has changed since the cache has read it.
    mutating func take(_ answers: ArraySlice<StatementResult>, _ session: borrowing PostgresSession) throws {
        guard let first = answers.first else { return }
        let versions = try DirectoryVersions([first])
        self.versions = versions
        let stale = Set(assumed.filter { versions[$0.key] != $0.value }.keys)
        if !stale.isEmpty { rows.remove(allOf: stale) }
        for answer in answers.dropFirst() { try look.read(answer, into: &rows) }
        guard !stale.isEmpty else { return }
        let again = DirectoryLook(at: facts, without: rows, of: stale)
        guard !again.isEmpty else { return }
        for answer in try session.pipeline([again.statement]) { try again.read(answer, into: &rows) }
    }

    /// Facts without those that tell nothing new.
    ///
    /// - Parameters:
    ///   - facts: What the events say that turned out to be new.
    ///   - mark: The mark of an event. Who became a member by one that stands behind it was none before, as far as is
    ///     written: that has to be put right, for the event to reach them.
    /// - Returns: What is left to be written.
    func leftOut(of facts: DirectoryFacts, mark: (EventID) -> EventMark) -> DirectoryFacts {
        let members = facts.members.filter { key, fact in
            guard facts.isImplied(key, fact), let since = rows.since(key) else { return false }
            return since < mark(EventID(fact.sinceEvent))
        }
        let rest = members.isEmpty ? facts : facts.without(members.keys)
        // What is removed is written in any case, and what else is said of it afterwards.
        guard facts.removesNothing else { return rest }
        let users = rest.users.filter { key, fact in rows.users[key].map { !fact.isNews(of: $0) } ?? false }
        let channels = rest.channels.filter { key, fact in rows.channels[key].map { !fact.isNews(of: $0) } ?? false }
        return rest.without(users: users.keys, channels: channels.keys)
    }

    /// The networks in whose directories `news` change what somebody may have read: names, descriptions, and what is over. Of who is not
    /// known yet it may be that somebody else adds them at this moment, under another name.
    func networksChanged(by news: DirectoryFacts) -> Set<NetworkID> {
        var networks: Set<NetworkID> = []
        for (key, fact) in news.users where fact.statedAt != nil && rows.users[key].map(fact.changes) ?? true {
            networks.insert(key.network)
        }
        for (key, fact) in news.channels where fact.statesAnything && rows.channels[key].map(fact.changes) ?? true {
            networks.insert(key.network)
        }
        for (key, fact) in news.members where !fact.isMember || fact.leftAt != nil { networks.insert(key.network) }
        return networks
    }

    /// What the cache may learn of it when `news` are committed, with the versions that they were counted up to. Only networks that took
    /// something of the batch are learned of: of one that is gone nothing holds, and no version says so.
    func lesson(of news: DirectoryFacts, taking: Set<NetworkID>, counted: DirectoryVersions) -> DirectoryCache.Lesson {
        guard let versions else { return DirectoryCache.Lesson() }
        var lesson = DirectoryCache.Lesson(rows: rows, written: news)
        for network in taking { lesson.versions[network] = versions[network] }
        for network in networksChanged(by: news) { lesson.counted[network] = counted[network] }
        for (key, fact) in news.users {
            guard let row = rows.users[key], !fact.changes(row), fact.wipedAt == nil, let statedAt = fact.statedAt
            else {
                lesson.rows.users[key] = nil
                continue
            }
            lesson.rows.users[key]?.factsAt = max(row.factsAt, statedAt.stored)
        }
        for (key, fact) in news.channels {
            guard let row = rows.channels[key], !fact.changes(row), let statedAt = fact.statedAt else {
                lesson.rows.channels[key] = nil
                continue
            }
            lesson.rows.channels[key]?.factsAt = max(row.factsAt, statedAt.stored)
        }
        for key in news.members.keys { lesson.rows.members[key] = nil }
        lesson.swept = Set(
            news.users.filter { $1.wipedAt != nil }.keys.map(\.network)
                + news.channels.filter { $1.wipedAt != nil }.keys.map(\.network)
        )
        return lesson
    }

    /// Whether a user has a row, and is not removed.
    func has(_ user: UserKey) -> Bool { rows.users[user] != nil }

    /// Whether a channel has a row, and is not removed.
    func has(_ channel: ChannelKey) -> Bool { rows.channels[channel] != nil }
}
