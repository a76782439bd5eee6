/// Whom something is meant for: what the directory is asked, whatever kind of event asks.
package enum Audience: Sendable, Hashable {
    /// Nobody.
    case nobody
    /// The members of a channel from before the event.
    case members(of: ChannelID)
    /// Those of these users who are members of a channel, be it by the event itself.
    case users([UserID], in: ChannelID)
}

extension Event {
    /// Whom it concerns, before it is asked who caused it.
    package var audience: Audience {
        guard let channel, !isSilent else { return .nobody }
        switch type {
        case .messageSent, .memberJoined:
            return visibleTo.map { .users($0.sorted(), in: channel.id) } ?? .members(of: channel.id)
        case .channelCreated:
            let listed = members.map(\.id)
            return .users(visibleTo.map { listed.filter($0.contains) } ?? listed, in: channel.id)
        case .channelDeleted, .channelUpdated, .memberLeft, .userDeleted, .userUpdated, .other:
            return .nobody
        }
    }
}
