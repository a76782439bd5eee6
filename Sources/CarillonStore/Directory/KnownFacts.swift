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
