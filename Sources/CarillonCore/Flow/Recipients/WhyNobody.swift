/// Why an event that notifies concerned nobody.
package enum WhyNobody: String, Sendable, CaseIterable {
    /// Nobody was a member of its channel before it.
    case noMembers
    /// Nobody was a member of its channel before it, of which nothing was ever said.
    case unknownChannel
    /// Only those who caused it.
    case onlyActor
    /// It says whom it is meant for, by names, tags or devices, or as everyone, and none of them is known.
    case noneKnown
    /// It is about nothing but a channel that is stated to have no name: the first message tells of it.
    case noName

    /// Why the last page of an event's recipients concerns nobody, as those before it; `nil` where there is nothing to say.
    package init?(_ event: Event, _ page: RecipientPage, isFirst: Bool) {
        switch event.audience {
        case .members:
            guard !event.isLimited else { return nil }
            switch isFirst ? page.formerMembers : .some {
            case .nobody where !event.saysWhoMayRead: self = .noMembers
            case .noChannel where !event.saysWhoMayRead: self = .unknownChannel
            case .some, .nobody, .noChannel: self = .onlyActor
            }
        case .users(let users, _), .people(let users):
            let named = Set(users).subtracting(event.unconcerned)
            guard !event.isLimited || !named.isEmpty else { return nil }
            self = named.isEmpty ? event.causer == nil ? .noMembers : .onlyActor : .noneKnown
        case .addresses, .devices, .everyone, .tags:
            // Who caused it may be on a page before this one.
            self = page.recipients.isEmpty && (isFirst || event.causer == nil) ? .noneKnown : .onlyActor
        case .nobody:
            return nil
        }
    }

    /// Those that say of a message that nobody is known who could read it.
    package static let withoutMembers: [WhyNobody] = [.noMembers, .unknownChannel, .onlyActor]

    /// What is told.
    package var sentence: String {
        switch self {
        case .noMembers: "the channel has no members"
        case .unknownChannel: "the channel is unknown"
        case .onlyActor: "nobody but the actor"
        case .noneKnown: "everyone named is unknown"
        case .noName: "the channel has no name"
        }
    }
}

extension Event {
    /// Whether it names members of its channel, of whom nobody but its actor is left then; who joins by it was none before.
    fileprivate var saysWhoMayRead: Bool { !type.kind.isOfMembers && !(members + existingMembers).isEmpty }

    /// Whether it is kept from some whom it would concern: that there is nobody else says nothing of who is known.
    fileprivate var isLimited: Bool { visibleTo != nil || !hiddenFrom.isEmpty }
}
