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
}

/// A value with the time of the event that stated it; `nil` states that there is none.
struct Stated<Value: Sendable>: Sendable {
    let value: Value?
    let at: Timestamp
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
    var displayName: Stated<String>?

    /// The newest event that states anything: naming a channel by the id alone does not.
    var statedAt: Timestamp? { [wipedAt, displayName?.at].compactMap(\.self).max() }
}

/// What a batch of events says of one membership.
struct MemberFact: Sendable {
    /// The newest event that says anything.
    var at: Timestamp
    /// What it says.
    var isMember: Bool
    /// The event that made the user a member, as far as this batch knows.
    var sinceEvent: UUID
    /// The newest event that ended the membership.
    var leftAt: Timestamp?
}

/// What a batch of events says of users, channels and members, with one row for each.
///
/// Events are taken in the order of their timestamps, later ones of the batch last where those are equal, so that the
/// result does not depend on how they were spread over batches.
struct DirectoryFacts: Sendable {
    private(set) var users: [UserKey: UserFact] = [:]
    private(set) var channels: [ChannelKey: ChannelFact] = [:]
    private(set) var members: [MemberKey: MemberFact] = [:]

    /// Whether no user is removed.
    var removesNobody: Bool { users.values.allSatisfy { $0.wipedAt == nil } }

    init(of events: [IncomingEvent]) {
        // Sorting is stable only by chance: equal timestamps are ordered by position.
        let order = events.indices.sorted { left, right in
            (events[left].event.timestamp, left) < (events[right].event.timestamp, right)
        }
        for index in order { add(events[index]) }
    }

    private mutating func add(_ incoming: IncomingEvent) {
        let event = incoming.event
        let network = incoming.networkID
        let at = event.timestamp
        if let actor = event.actor {
            let key = UserKey(network: network, user: actor.id)
            if event.type == .userDeleted { deleteUser(key, at: at) } else { describe(actor, key, at: at) }
        }
        for member in event.members { describe(member, UserKey(network: network, user: member.id), at: at) }
        guard let channel = event.channel else { return }
        let key = ChannelKey(network: network, channel: channel.id)
        if event.type == .channelDeleted { return deleteChannel(key, at: at) }
        describe(channel, key, at: at)
        switch event.type {
        case .channelCreated:
            if let creator = event.actor { join(key, creator.id, incoming) }
            for member in event.members { join(key, member.id, incoming) }
        case .memberJoined:
            for member in event.members { join(key, member.id, incoming) }
        case .memberLeft:
            for member in event.members { leave(key, member.id, incoming) }
        case .channelDeleted, .channelUpdated, .messageSent, .userDeleted, .userUpdated, .other: break
        }
    }

    private mutating func describe(_ person: Person, _ key: UserKey, at: Timestamp) {
        var fact = users[key] ?? UserFact(seenAt: at)
        fact.seenAt = at
        fact.isDeleted = false
        if let name = person.displayName { fact.displayName = Stated(value: name, at: at) }
        if let locale = person.locale { fact.locale = Stated(value: locale, at: at) }
        if let roles = person.roles { fact.roles = Stated(value: roles, at: at) }
        users[key] = fact
    }

    private mutating func describe(_ channel: Channel, _ key: ChannelKey, at: Timestamp) {
        var fact = channels[key] ?? ChannelFact(seenAt: at)
        fact.seenAt = at
        fact.isDeleted = false
        if let name = channel.displayName { fact.displayName = Stated(value: name, at: at) }
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
        endMemberships(at: at) { $0.network == key.network && $0.user == key.user }
    }

    private mutating func deleteChannel(_ key: ChannelKey, at: Timestamp) {
        channels[key] = ChannelFact(
            seenAt: at,
            wipedAt: at,
            isDeleted: true,
            displayName: Stated(value: nil, at: at)
        )
        endMemberships(at: at) { $0.network == key.network && $0.channel == key.channel }
    }

    private mutating func join(_ channel: ChannelKey, _ user: UserID, _ incoming: IncomingEvent) {
        let key = MemberKey(network: channel.network, channel: channel.channel, user: user)
        let former = members[key]
        members[key] = MemberFact(
            at: incoming.event.timestamp,
            isMember: true,
            sinceEvent: former?.isMember == true ? former?.sinceEvent ?? incoming.id.uuid : incoming.id.uuid,
            leftAt: former?.leftAt
        )
    }

    private mutating func leave(_ channel: ChannelKey, _ user: UserID, _ incoming: IncomingEvent) {
        let key = MemberKey(network: channel.network, channel: channel.channel, user: user)
        let at = incoming.event.timestamp
        members[key] = MemberFact(at: at, isMember: false, sinceEvent: incoming.id.uuid, leftAt: at)
    }

    /// Rare, so a look at every membership of the batch will do.
    private mutating func endMemberships(at: Timestamp, where isMeant: (MemberKey) -> Bool) {
        for (key, fact) in members where isMeant(key) {
            members[key] = MemberFact(at: at, isMember: false, sinceEvent: fact.sinceEvent, leftAt: at)
        }
    }
}
