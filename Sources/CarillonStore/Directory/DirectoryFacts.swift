import CarillonCore
import struct Foundation.UUID

/// A user of a network, in the order in which rows are locked.
struct UserKey: Hashable, Sendable, Comparable {
    let network: NetworkID
    let user: UserID

    static func < (left: Self, right: Self) -> Bool { (left.network, left.user) < (right.network, right.user) }
}

/// A channel of a network, in the order in which rows are locked.
struct ChannelKey: Hashable, Sendable, Comparable {
    let network: NetworkID
    let channel: ChannelID

    static func < (left: Self, right: Self) -> Bool { (left.network, left.channel) < (right.network, right.channel) }
}

/// A user's relation to a channel, in the order in which rows are locked.
struct MemberKey: Hashable, Sendable, Comparable {
    let network: NetworkID
    let channel: ChannelID
    let user: UserID

    static func < (left: Self, right: Self) -> Bool {
        (left.network, left.channel, left.user) < (right.network, right.channel, right.user)
    }

    var owner: UserKey { UserKey(network: network, user: user) }

    var channelKey: ChannelKey { ChannelKey(network: network, channel: channel) }
}

/// A value with the time of the event that stated it; `nil` states that there is none.
struct Stated<Value: Sendable>: Sendable {
    let value: Value?
    let at: Timestamp
}

extension Optional {
    /// Takes another value, unless it was stated before this one.
    fileprivate mutating func take<Value>(_ value: Value, at moment: Timestamp) where Wrapped == Stated<Value> {
        if let former = self, former.at > moment { return }
        self = Stated(value: value, at: moment)
    }
}

/// What a batch of events says of one user.
struct UserFact: Sendable {
    /// The newest event that names the user.
    var seenAt: Timestamp
    /// The newest event that says the user is gone.
    var wipedAt: Timestamp?
    /// Whether that is the last word.
    var isDeleted = false
    var displayName: Stated<String>?
    var locale: Stated<String>?
    var roles: Stated<[String]>?

    /// The newest event that states anything: naming somebody by the id alone does not.
    var statedAt: Timestamp? { [wipedAt, displayName?.at, locale?.at, roles?.at].compactMap(\.self).max() }
}

/// What a batch of events says of one channel.
struct ChannelFact: Sendable {
    /// The newest event that names the channel.
    var seenAt: Timestamp
    /// The newest event that says the channel is gone.
    var wipedAt: Timestamp?
    /// Whether that is the last word.
    var isDeleted = false
    /// Whether it is only said what is over in it: that makes no channel.
    var isOnlyMentioned = true
    var displayName: Stated<String>?
    /// The name where no other was ever stated.
    var fallbackName: String?
    /// Whether the one from before the batch is none any more.
    var endsFallback = false
    var isDirect: Stated<Bool>?

    /// The newest event that states anything: naming a channel by the id alone does not.
    var statedAt: Timestamp? { [wipedAt, displayName?.at, isDirect?.at].compactMap(\.self).max() }

    /// Whether it says more than that there is the channel.
    var statesAnything: Bool { statedAt != nil || fallbackName ?? "" != "" || endsFallback }
}

/// What a batch of events says of one membership.
struct MemberFact: Sendable {
    /// The newest event that says anything.
    var at: Timestamp
    var isMember: Bool
    /// The event that made the user a member, as far as this batch knows: of several the one that arrived first.
    var sinceEvent: UUID
    /// At which position of the batch that one arrived.
    var sincePosition: Int
    /// The newest event that ended the membership.
    var leftAt: Timestamp?
    /// Whether it is only that messages say so, which tells nothing new of somebody who is a member already.
    var isImplied = false
}

/// What is taken back: an event, or a message by its key.
struct WithdrawalKey: Hashable, Comparable {
    let network: NetworkID
    let id: UUID

    static func < (left: Self, right: Self) -> Bool {
        (left.network, EventID(left.id)) < (right.network, EventID(right.id))
    }
}

/// What a batch of events says of users, channels and members, with one row for each.
///
/// Events are taken in the order of their timestamps, later ones of the batch last where those are equal, so that the
/// result does not depend on how they were spread over batches.
struct DirectoryFacts: Sendable {
    private(set) var users: [UserKey: UserFact] = [:]
    private(set) var channels: [ChannelKey: ChannelFact] = [:]
    private(set) var members: [MemberKey: MemberFact] = [:]
    /// The memberships by who and what they are of, once something is removed.
    private var index: MemberIndex?
    /// Messages that are gone, and since when by their senders.
    private(set) var deletedMessages: [WithdrawalKey: Timestamp] = [:]

    /// The memberships that only messages speak of. What a removal in the same batch ends is not
    /// among them: whether somebody is a member already can then not be told from what was written before.
    var implied: [MemberKey] {
        members.compactMap { isImplied($0, $1) ? $0 : nil }
    }

    /// Whether nothing but a message speaks of a membership, and nothing in the same batch has ended it before.
    func isImplied(_ key: MemberKey, _ fact: MemberFact) -> Bool {
        fact.isImplied && users[key.owner]?.wipedAt == nil && channels[key.channelKey]?.wipedAt == nil
    }

    var removesNobody: Bool { users.values.allSatisfy { $0.wipedAt == nil } }

    /// The networks of which a user or a channel is said to be gone.
    var networksRemoving: Set<NetworkID> {
        var networks: Set<NetworkID> = []
        for (key, fact) in users where fact.wipedAt != nil { networks.insert(key.network) }
        for (key, fact) in channels where fact.wipedAt != nil { networks.insert(key.network) }
        return networks
    }

    /// Whether nothing is said of users, channels and members.
    var isEmpty: Bool { users.isEmpty && channels.isEmpty && members.isEmpty }

    init(of events: [IncomingEvent]) {
        // Sorting is stable only by chance: equal timestamps are ordered by position.
        let order = events.indices.sorted { left, right in
            (events[left].event.timestamp, left) < (events[right].event.timestamp, right)
        }
        for position in order { add(events[position], at: position) }
        index = nil
    }

    /// Without these memberships, and without their users and channels where nothing but the ids is said of them: for what
    /// is in the directory already.
    func without(_ known: some Sequence<MemberKey>) -> DirectoryFacts {
        var rest = self
        for key in known {
            rest.members[key] = nil
            if let user = rest.users[key.owner], user.statedAt == nil { rest.users[key.owner] = nil }
            let channel = key.channelKey
            if rest.channels[channel]?.statesAnything == false { rest.channels[channel] = nil }
        }
        return rest
    }

    /// Without these users and channels, of which all is in the directory as it is said.
    func without(users: some Sequence<UserKey>, channels: some Sequence<ChannelKey>) -> DirectoryFacts {
        var rest = self
        for key in users { rest.users[key] = nil }
        for key in channels { rest.channels[key] = nil }
        return rest
    }

    private mutating func add(_ incoming: IncomingEvent, at position: Int) {
        let event = incoming.event
        let (kind, fact) = (event.type.kind, event.type.kind.fact)
        guard kind.describesTheChat else { return }
        let network = incoming.networkID
        let at = event.timestamp
        if let actor = event.actor {
            let key = UserKey(network: network, user: actor.id)
            if fact == .userGone { deleteUser(key, at: at) } else { describe(actor, key, at: at) }
        }
        for person in event.people + event.invited + event.existingMembers + event.members {
            describe(person, UserKey(network: network, user: person.id), at: at)
        }
        guard let channel = event.channel else { return }
        let key = ChannelKey(network: network, channel: channel.id)
        if fact == .channelGone { return deleteChannel(key, at: at) }
        describe(channel, key, at: at, isOnlyMentioned: fact == .leave || fact == .messageGone)
        if event.type == .channelUpdated, channel.fallbackName == "" {
            channels[key]?.fallbackName = ""
            channels[key]?.endsFallback = true
        }
        switch fact {
        case .join, .belong:
            let isImplied = fact == .belong
            if !kind.isOfMembers, event.senderIsMember, let actor = event.actor {
                join(key, actor.id, incoming, position, isImplied: isImplied)
            }
            for member in event.members { join(key, member.id, incoming, position, isImplied: isImplied) }
            for member in event.existingMembers { join(key, member.id, incoming, position, isImplied: true) }
        case .leave:
            for member in event.members { leave(key, member.id, incoming, position) }
        case .messageGone:
            if let message = event.messageKey {
                deletedMessages[WithdrawalKey(network: network, id: message.uuid)] = at
            }
        case .channelGone, .userGone, nil:
            break
        }
    }

    private mutating func describe(_ person: Person, _ key: UserKey, at: Timestamp) {
        var fact = users[key] ?? UserFact(seenAt: at)
        fact.seenAt = at
        fact.isDeleted = false
        let since = person.describedAt.map { min($0, at) } ?? at
        if let name = person.displayName { fact.displayName.take(name, at: since) }
        if let locale = person.locale { fact.locale.take(locale, at: since) }
        if let roles = person.roles { fact.roles.take(roles, at: since) }
        users[key] = fact
    }

    private mutating func describe(_ channel: Channel, _ key: ChannelKey, at: Timestamp, isOnlyMentioned: Bool) {
        var fact = channels[key] ?? ChannelFact(seenAt: at)
        fact.seenAt = at
        fact.isDeleted = false
        fact.isOnlyMentioned = fact.isOnlyMentioned && isOnlyMentioned
        let since = channel.describedAt.map { min($0, at) } ?? at
        if let name = channel.displayName { fact.displayName.take(name, at: since) }
        // That there is none is no news where there is one.
        if let name = channel.fallbackName, !name.isEmpty || fact.fallbackName == nil { fact.fallbackName = name }
        if let isDirect = channel.isDirect { fact.isDirect.take(isDirect, at: since) }
        channels[key] = fact
    }

    private mutating func deleteUser(_ key: UserKey, at: Timestamp) {
        users[key] = UserFact(
            seenAt: at,
            wipedAt: at,
            isDeleted: true,
            displayName: Stated(value: nil, at: at),
            locale: Stated(value: nil, at: at),
            roles: Stated(value: nil, at: at)
        )
        endMemberships(at: at) { $0.keys(of: key) }
    }

    private mutating func deleteChannel(_ key: ChannelKey, at: Timestamp) {
        channels[key] = ChannelFact(
            seenAt: at,
            wipedAt: at,
            isDeleted: true,
            isOnlyMentioned: false,
            displayName: Stated(value: nil, at: at),
            isDirect: Stated(value: nil, at: at)
        )
        endMemberships(at: at) { $0.keys(in: key) }
    }

    private mutating func join(
        _ channel: ChannelKey,
        _ user: UserID,
        _ incoming: IncomingEvent,
        _ position: Int,
        isImplied: Bool
    ) {
        let key = MemberKey(network: channel.network, channel: channel.channel, user: user)
        let former = members[key]
        var fact = MemberFact(
            at: incoming.event.timestamp,
            isMember: true,
            sinceEvent: incoming.id.uuid,
            sincePosition: position,
            leftAt: former?.leftAt,
            isImplied: isImplied && former?.isImplied ?? true
        )
        if let former, former.isMember, former.sincePosition < position {
            (fact.sinceEvent, fact.sincePosition) = (former.sinceEvent, former.sincePosition)
        }
        members[key] = fact
        index?.add(key)
    }

    private mutating func leave(_ channel: ChannelKey, _ user: UserID, _ incoming: IncomingEvent, _ position: Int) {
        let key = MemberKey(network: channel.network, channel: channel.channel, user: user)
        let at = incoming.event.timestamp
        members[key] = MemberFact(
            at: at,
            isMember: false,
            sinceEvent: incoming.id.uuid,
            sincePosition: position,
            leftAt: at
        )
        index?.add(key)
    }

    private mutating func endMemberships(at: Timestamp, _ keys: (MemberIndex) -> Set<MemberKey>) {
        let known = index ?? MemberIndex(members.keys)
        index = known
        for key in keys(known) {
            guard let fact = members[key] else { continue }
            members[key] = MemberFact(
                at: at,
                isMember: false,
                sinceEvent: fact.sinceEvent,
                sincePosition: fact.sincePosition,
                leftAt: at
            )
        }
    }
}

/// The memberships of a batch by users and channels. Removals are rare, but there may be many in a batch with many memberships.
private struct MemberIndex: Sendable {
    private var byUser: [UserKey: Set<MemberKey>] = [:]
    private var byChannel: [ChannelKey: Set<MemberKey>] = [:]

    init(_ keys: some Sequence<MemberKey>) {
        for key in keys { add(key) }
    }

    mutating func add(_ key: MemberKey) {
        byUser[key.owner, default: []].insert(key)
        byChannel[key.channelKey, default: []].insert(key)
    }

    func keys(of user: UserKey) -> Set<MemberKey> { byUser[user, default: []] }

    func keys(in channel: ChannelKey) -> Set<MemberKey> { byChannel[channel, default: []] }
}
