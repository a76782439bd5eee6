package import CarillonCore
import struct Foundation.UUID

extension MemoryStore: DirectoryStore {
    /// Replaces a user's description; `true` when the user is new.
    package func putUser(_ person: Person, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { $0.put(person, at: now) }
    }

    /// A user; `nil` when unknown.
    package func user(_ id: UserID, in network: NetworkID) async throws -> Person? {
        try withNetwork(network) { $0.knownUser(id)?.person }
    }

    /// Removes a user with devices, memberships and toggles; `false` when unknown.
    package func deleteUser(_ id: UserID, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { network in
            guard network.knownUser(id) != nil else { return false }
            network.wipeUser(id, at: now)
            return true
        }
    }

    /// Replaces a channel's description; `true` when the channel is new.
    package func putChannel(_ channel: Channel, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { $0.put(channel, at: now) }
    }

    /// A channel; `nil` when unknown.
    package func channel(_ id: ChannelID, in network: NetworkID) async throws -> Channel? {
        try withNetwork(network) { $0.knownChannel(id)?.channel }
    }

    /// Removes a channel with its memberships and its channel toggles; `false` when unknown.
    package func deleteChannel(_ id: ChannelID, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { network in
            guard network.knownChannel(id) != nil else { return false }
            network.wipeChannel(id, at: now)
            return true
        }
    }

    /// The members of a channel in the order of their ids; `nil` when the channel is unknown.
    package func members(
        of channel: ChannelID,
        in network: NetworkID,
        after: UserID?,
        limit: Int
    ) async throws -> [UserID]? {
        try withNetwork(network) { network in
            guard network.knownChannel(channel) != nil else { return nil }
            let rest = network.memberIDs(of: channel).filter { id in after.map { $0 < id } ?? true }
            return Array(rest.sorted().prefix(limit))
        }
    }

    /// Makes exactly these users the members; adds users and channel to the directory where they are new.
    package func replaceMembers(of channel: ChannelID, with users: [UserID], in network: NetworkID) async throws {
        let now = clock.now()
        try withNetwork(network) { network in
            network.mention(channel)
            for user in network.memberIDs(of: channel) where !users.contains(user) {
                network.endMembership(of: user, in: channel, at: now)
            }
            for user in Set(users) { _ = network.makeMember(user, of: channel, at: now) }
        }
    }

    /// Makes a user a member; `true` when they were none. Adds user and channel to the directory where they are new.
    package func addMember(_ user: UserID, to channel: ChannelID, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { $0.makeMember(user, of: channel, at: now) }
    }

    /// Ends a membership; `false` when there was none.
    package func removeMember(_ user: UserID, from channel: ChannelID, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { $0.endMembership(of: user, in: channel, at: now) }
    }

    /// Applies records in their order, a batch at a time.
    package func apply(
        _ next: @escaping @Sendable () throws -> [ImportRecord]?,
        in network: NetworkID
    ) async throws {
        while let records = try next() {
            let now = clock.now()
            try withNetwork(network) { network in
                for record in records {
                    switch record {
                    case .user(let person): _ = network.put(person, at: now)
                    case .channel(let channel): _ = network.put(channel, at: now)
                    case .member(let channel, let user):
                        _ = network.makeMember(user, of: channel, at: now)
                    case .device(let device): _ = try network.register(device, at: now, ids: ids)
                    case .tag(let tag): _ = try network.declare(tag, at: now)
                    case .subscription(let subscriber, let tag):
                        _ = network.subscribe(subscriber, to: tag, at: now, ids: ids)
                    }
                }
            }
        }
    }
}

extension MemoryNetwork {
    func knownUser(_ id: UserID) -> MemoryUser? { users[id].flatMap { $0.isDeleted ? nil : $0 } }

    func knownChannel(_ id: ChannelID) -> MemoryChannel? { channels[id].flatMap { $0.isDeleted ? nil : $0 } }

    func memberIDs(of channel: ChannelID) -> [UserID] {
        members.compactMap { $0.key.channel == channel && $0.value.isMember ? $0.key.user : nil }
    }

    /// Adds a user of whom nothing is known, or brings one back; states nothing.
    mutating func mention(_ user: UserID) {
        users[user, default: MemoryUser(person: Person(id: user), factsAt: .epoch)].isDeleted = false
    }

    /// Adds a channel of which nothing is known, or brings one back; states nothing.
    mutating func mention(_ channel: ChannelID) {
        channels[channel, default: MemoryChannel(channel: Channel(id: channel), factsAt: .epoch)].isDeleted = false
    }

    /// Replaces a description; `true` when the user is new.
    mutating func put(_ person: Person, at now: Timestamp) -> Bool {
        let isNew = knownUser(person.id) == nil
        mention(person.id)
        let former = users[person.id]?.factsAt ?? now
        users[person.id]?.person = person
        users[person.id]?.factsAt = max(now, former)
        return isNew
    }

    /// Replaces a description; `true` when the channel is new.
    mutating func put(_ channel: Channel, at now: Timestamp) -> Bool {
        let isNew = knownChannel(channel.id) == nil
        mention(channel.id)
        let former = channels[channel.id]?.factsAt ?? now
        channels[channel.id]?.channel = channel
        channels[channel.id]?.factsAt = max(now, former)
        return isNew
    }

    /// Makes somebody a member, whatever events said; `true` when they were none.
    mutating func makeMember(_ user: UserID, of channel: ChannelID, at now: Timestamp) -> Bool {
        mention(user)
        mention(channel)
        let key = MemoryMemberKey(channel: channel, user: user)
        var member = members[key] ?? MemoryMember(isMember: false, since: 0, factsAt: now)
        let isNew = !member.isMember
        if isNew { member.since = nextMark() }
        member.isMember = true
        member.factsAt = max(member.factsAt, now)
        members[key] = member
        return isNew
    }

    /// Ends a membership; `false` when there was none.
    @discardableResult
    mutating func endMembership(of user: UserID, in channel: ChannelID, at now: Timestamp) -> Bool {
        let key = MemoryMemberKey(channel: channel, user: user)
        guard var member = members[key], member.isMember else { return false }
        member.isMember = false
        member.factsAt = max(member.factsAt, now)
        members[key] = member
        return true
    }

    /// Leaves a tombstone of a user, and removes what was theirs.
    mutating func wipeUser(_ id: UserID, at moment: Timestamp) {
        var user = users[id] ?? MemoryUser(person: Person(id: id), factsAt: moment)
        user.person = Person(id: id)
        user.isDeleted = true
        user.factsAt = max(user.factsAt, moment)
        user.toggles.clear()
        users[id] = user
        endMemberships(at: user.factsAt) { $0.user == id }
        devices = devices.filter { $0.value.userID != id }
        for tag in subscriptions.keys { subscriptions[tag]?[.user(id)] = nil }
        newChanges.append(id)
    }

    /// Leaves a tombstone of a channel, and ends its memberships.
    mutating func wipeChannel(_ id: ChannelID, at moment: Timestamp) {
        var channel = channels[id] ?? MemoryChannel(channel: Channel(id: id), factsAt: moment)
        channel.channel = Channel(id: id)
        channel.isDeleted = true
        channel.factsAt = max(channel.factsAt, moment)
        channels[id] = channel
        endMemberships(at: channel.factsAt) { $0.channel == id }
    }

    private mutating func endMemberships(at moment: Timestamp, where isMeant: (MemoryMemberKey) -> Bool) {
        for (key, member) in members where isMeant(key) && member.factsAt <= moment {
            members[key]?.isMember = false
            members[key]?.factsAt = moment
            members[key]?.toggles.clear()
        }
    }
}
