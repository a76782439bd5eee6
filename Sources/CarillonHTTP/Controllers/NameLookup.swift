import CarillonCore

/// Looks up what the directory knows of the channel and the people that an event's text names.
struct NameLookup: Sendable {
    let directory: any DirectoryStore

    /// The names and roles that the fan-out of this event would work with.
    func names(of event: Event, in networkID: NetworkID) async throws -> DirectoryNames {
        var names = DirectoryNames()
        if let channel = event.channel {
            names.channel = try await directory.channel(channel.id, in: networkID)?.displayName
        }
        // A text names who caused the event and the first who joined.
        for person in [event.actor, event.members.first].compactMap(\.self) where names.people[person.id] == nil {
            guard let known = try await directory.user(person.id, in: networkID) else { continue }
            names.people[person.id] = known.displayName
            names.roles[person.id] = known.roles
        }
        return names
    }

    /// Whether somebody is a member of a channel.
    func isMember(_ user: UserID, of channel: ChannelID, in networkID: NetworkID) async throws -> Bool {
        let page = try await directory.members(of: channel, in: networkID, after: user.justBefore, limit: 1)
        return page?.first == user
    }
}

extension UserID {
    /// A value that sorts before this id with no other id between: the last scalar lowered by one, then the highest.
    ///
    /// For asking a sorted list whether it holds exactly this id.
    fileprivate var justBefore: UserID? {
        var scalars = rawValue.unicodeScalars
        guard let last = scalars.popLast() else { return nil }
        let lower = last.value == 0xE000 ? 0xD7FF : last.value &- 1
        guard let before = Unicode.Scalar(lower), let highest = Unicode.Scalar(0x10FFFF) else { return nil }
        scalars.append(before)
        scalars.append(highest)
        return UserID(trusted: String(scalars))
    }
}
