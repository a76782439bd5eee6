import CarillonCore

extension MemoryNetwork {
    /// The next place in the order in which events are accepted and members are made.
    mutating func nextMark() -> Int {
        lastMark += 1
        return lastMark
    }

    /// Takes from an event what it says of users, channels and members, unless something newer was said before.
    mutating func learn(from incoming: IncomingEvent, mark: Int) {
        let event = incoming.event
        guard event.type.describesTheChat else { return }
        if let actor = event.actor {
            if event.type == .userDeleted {
                if (users[actor.id]?.factsAt ?? .epoch) <= event.timestamp { wipeUser(actor.id, at: event.timestamp) }
            } else {
                describe(actor, at: event.timestamp)
            }
        }
        for person in event.people + event.invited + event.existingMembers + event.members {
            describe(person, at: event.timestamp)
        }
        guard let channel = event.channel else { return }
        if event.type == .channelDeleted {
            if (channels[channel.id]?.factsAt ?? .epoch) <= event.timestamp {
                wipeChannel(channel.id, at: event.timestamp)
            }
            return
        }
        // What is over in a channel makes none.
        if ![.memberLeft, .messageDeleted].contains(event.type) {
            describe(channel, at: event.timestamp)
        } else if channels[channel.id]?.isDeleted == false {
            describe(channel, at: event.timestamp)
        }
        if event.endsFallback { channels[channel.id]?.channel.fallbackName = "" }
        switch event.type {
        case .messageDeleted:
            guard let message = event.messageKey else { break }
            deletedMessages[message] = max(incoming.receivedAt, event.timestamp)
            newChanges.append(nil)
        case .channelCreated:
            for person in [event.actor].compactMap(\.self) + event.members {
                join(person.id, channel.id, incoming, mark)
            }
        case .memberJoined:
            for person in event.members { join(person.id, channel.id, incoming, mark) }
            for person in event.existingMembers { join(person.id, channel.id, incoming, mark, isImplied: true) }
        case .memberLeft:
            for person in event.members { leave(person.id, channel.id, incoming, mark) }
        case .messageSent:
            for person in [event.senderIsMember ? event.actor : nil].compactMap(\.self) + event.members {
                join(person.id, channel.id, incoming, mark, isImplied: true)
            }
        case .channelDeleted, .channelInvited, .channelUpdated, .notificationDirect, .userDeleted, .userUpdated, .other:
            break
        }
    }

    /// Who is named by an id alone is only added; facts of the same moment as the known ones replace them.
    private mutating func describe(_ person: Person, at moment: Timestamp) {
        var user = users[person.id] ?? MemoryUser(person: Person(id: person.id), factsAt: .epoch)
        guard user.factsAt <= moment else { return }
        user.isDeleted = false
        if person != Person(id: person.id) { user.factsAt = moment }
        user.person.displayName = person.displayName ?? user.person.displayName
        user.person.locale = person.locale ?? user.person.locale
        user.person.roles = person.roles ?? user.person.roles
        users[person.id] = user
    }

    private mutating func describe(_ channel: Channel, at moment: Timestamp) {
        var known = channels[channel.id] ?? MemoryChannel(channel: Channel(id: channel.id), factsAt: .epoch)
        defer { channels[channel.id] = known }
        if let name = channel.fallbackName, !name.isEmpty || known.channel.fallbackName == nil {
            known.channel.fallbackName = name
        }
        guard known.factsAt <= moment else { return }
        known.isDeleted = false
        if channel.displayName != nil || channel.isDirect != nil { known.factsAt = moment }
        known.channel.displayName = channel.displayName ?? known.channel.displayName
        known.channel.isDirect = channel.isDirect ?? known.channel.isDirect
    }

    /// Of somebody who is a member already a message tells nothing new.
    private mutating func join(
        _ user: UserID,
        _ channel: ChannelID,
        _ incoming: IncomingEvent,
        _ mark: Int,
        isImplied: Bool = false
    ) {
        let moment = incoming.event.timestamp
        let key = MemoryMemberKey(channel: channel, user: user)
        var member =
            members[key] ?? MemoryMember(isMember: false, since: mark, factsAt: .epoch)
        if member.isMember {
            members[key]?.since = min(member.since, mark)
            member.since = min(member.since, mark)
            guard !isImplied else { return }
        }
        guard member.factsAt <= moment, !isGone(user, channel, after: moment) else { return }
        if !member.isMember { member.since = mark }
        member.isMember = true
        member.factsAt = moment
        members[key] = member
    }

    private mutating func leave(_ user: UserID, _ channel: ChannelID, _ incoming: IncomingEvent, _ mark: Int) {
        let moment = incoming.event.timestamp
        let key = MemoryMemberKey(channel: channel, user: user)
        var member =
            members[key] ?? MemoryMember(isMember: false, since: mark, factsAt: .epoch)
        guard member.factsAt <= moment else { return }
        member.isMember = false
        member.factsAt = moment
        members[key] = member
    }

    /// Whether user or channel were removed after a moment.
    private func isGone(_ user: UserID, _ channel: ChannelID, after moment: Timestamp) -> Bool {
        let userIsGone = users[user].map { $0.isDeleted && $0.factsAt > moment } ?? false
        let channelIsGone = channels[channel].map { $0.isDeleted && $0.factsAt > moment } ?? false
        return userIsGone || channelIsGone
    }
}
