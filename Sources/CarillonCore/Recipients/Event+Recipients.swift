extension Event {
    /// The user who caused it; of people who joined by themselves, the first.
    package var causer: Person? {
        actor ?? (type == .memberJoined ? members.first : nil)
    }

    /// Whether this user caused it, alone or with others: nobody is notified of their own act.
    package func isCaused(by user: UserID) -> Bool {
        if let actor { return actor.id == user }
        return type == .memberJoined && members.contains { $0.id == user }
    }

    /// The members of the channel whom it does not concern: who caused it and who joined by it.
    package var unconcerned: Set<UserID> {
        var users = Set<UserID>()
        if let actor { users.insert(actor.id) }
        if type == .memberJoined { users.formUnion(members.map(\.id)) }
        return users
    }
}

extension ToggleQuestion {
    /// What the toggles are asked about an event: the event's own word on the actor's roles goes before the directory's.
    package init(event: Event, names: DirectoryNames) {
        let causer = event.causer
        self.init(
            eventType: event.type,
            actorRoles: causer?.roles ?? causer.flatMap { names.roles[$0.id] } ?? []
        )
    }
}
