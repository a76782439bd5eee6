extension Event {
    /// The user who caused it; of people who joined by themselves, the first.
    package var causer: Person? {
        actor ?? (type.kind.isOfMembers ? members.first : nil)
    }

    /// Whether this user caused it, alone or with others: nobody is notified of their own act.
    package func isCaused(by user: UserID) -> Bool {
        if let actor { return actor.id == user }
        return type.kind.isOfMembers && members.contains { $0.id == user }
    }

    /// The members of the channel whom it does not concern: who caused it and who joined by it.
    package var unconcerned: Set<UserID> {
        var users = hiddenFrom
        if let actor { users.insert(actor.id) }
        if type.kind.isOfMembers { users.formUnion(members.map(\.id)) }
        return users
    }

    /// The people whose name or roles a text or a verdict can need and the event does not say: the directory is asked for
    /// them.
    package var unnamedPeople: [UserID] {
        var people: [UserID] = []
        if let causer, causer.roles == nil || !causer.displayName.isShown { people.append(causer.id) }
        // Which of them is named first depends on who was a member before.
        if asksWhoIsNew {
            return people + members.filter { !$0.displayName.isShown || actor == nil && $0.roles == nil }.map(\.id)
        }
        // Those whom a message lists are not told of.
        if message == nil, let first = members.first, !first.displayName.isShown, !people.contains(first.id) {
            people.append(first.id)
        }
        return people
    }

    /// The memberships of which it has to be known whether they were there before.
    package var questionedMembers: [UserID] { asksWhoIsNew ? members.map(\.id) : [] }

    /// More at a time is somebody's import, and news as it stands: a batch is read at once for all networks that are in it.
    private var asksWhoIsNew: Bool { isOfNewMembersOnly && members.count <= 1_000 }

    /// The event without joiners who were members before, where that is no news.
    package func without(membersFromBefore former: Set<UserID>) -> Event {
        guard asksWhoIsNew, !former.isEmpty else { return self }
        var event = self
        event.members.removeAll { former.contains($0.id) }
        return event
    }

    /// The channel, when the event does not say its name.
    package var unnamedChannel: ChannelID? { channel.flatMap { $0.displayName == nil ? $0.id : nil } }

    /// The channel, when the event leaves out anything of it that a text can need.
    package var undescribedChannel: ChannelID? {
        channel.flatMap { $0.displayName != nil && $0.isDirect != nil ? nil : $0.id }
    }

    /// The event as it would be if it said nothing of whom it is kept from.
    package var unlimited: Event {
        var event = self
        event.visibleTo = nil
        event.hiddenFrom = []
        event.isSilent = false
        return event
    }
}

extension String? {
    /// Whether something of a name is left however it is cleaned; a few names of signs alone are not known to be.
    fileprivate var isShown: Bool {
        self?.unicodeScalars.contains { $0.isASCII ? $0 > " " && $0 != "\u{7F}" : $0.properties.isAlphabetic } ?? false
    }
}

extension ToggleQuestion {
    /// What the toggles are asked about an event: the event's own word on the actor's roles goes before the directory's.
    package init(event: Event, names: DirectoryNames) {
        let causer = event.causer
        self.init(
            eventType: event.type,
            module: event.direct?.module ?? .chat,
            actorRoles: causer?.roles ?? causer.flatMap { names.roles[$0.id] } ?? []
        )
    }
}
