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
        guard let channel else { return .nobody }
        switch type {
        case .messageSent, .memberJoined:
            return .members(of: channel.id)
        case .channelCreated:
            return .users(members.map(\.id), in: channel.id)
        case .channelDeleted, .channelUpdated, .memberLeft, .userDeleted, .userUpdated, .other:
            return .nobody
        }
    }
}
