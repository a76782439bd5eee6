extension EventType {
    /// What Amity's webhooks call it; `nil` for what they have no name for here (FACES section C4).
    package var amityName: String? {
        switch self {
        case .channelCreated: "channel.didCreate"
        case .memberJoined: "channel.didJoin"
        case .messageSent: "message.didCreate"
        default: nil
        }
    }
}
