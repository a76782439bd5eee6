/// What kind of fact an event is: one that Carillon understands, or any other, by its name.
package enum EventType: Sendable, Hashable {
    /// A channel came into being with its first members.
    case channelCreated
    /// A channel's name changed.
    case channelUpdated
    /// A channel is gone, and with it its memberships.
    case channelDeleted
    /// People were invited to a channel; they are no members yet.
    case channelInvited
    /// People became members of a channel.
    case memberJoined
    /// People are no longer members of a channel.
    case memberLeft
    /// Somebody wrote in a channel.
    case messageSent
    /// What somebody wrote is gone: nobody is to be told of it any more.
    case messageDeleted
    /// A person's name, locale or roles changed.
    case userUpdated
    /// A person is gone, with their devices, memberships and toggles.
    case userDeleted
    /// Somebody sends a notification that no fact of the chat caused.
    case notificationDirect
    /// A kind that this release knows nothing of: senders evolve, and so do we.
    case other(String)

    /// The type of that name.
    package init(_ rawValue: String) {
        self =
            switch rawValue {
            case "message.sent": .messageSent
            case "message.deleted": .messageDeleted
            case "member.joined": .memberJoined
            case "channel.created": .channelCreated
            case "channel.updated": .channelUpdated
            case "channel.deleted": .channelDeleted
            case "channel.invited": .channelInvited
            case "member.left": .memberLeft
            case "notification.direct": .notificationDirect
            case "user.updated": .userUpdated
            case "user.deleted": .userDeleted
            default: .other(rawValue)
            }
    }

    /// The type of that name, if Carillon understands it.
    package init?(known rawValue: String) {
        self.init(rawValue)
        guard isKnown else { return nil }
    }

    /// Its name, in bodies and in the database.
    package var rawValue: String {
        switch self {
        case .channelCreated: "channel.created"
        case .channelUpdated: "channel.updated"
        case .channelDeleted: "channel.deleted"
        case .channelInvited: "channel.invited"
        case .memberJoined: "member.joined"
        case .memberLeft: "member.left"
        case .messageSent: "message.sent"
        case .messageDeleted: "message.deleted"
        case .notificationDirect: "notification.direct"
        case .userUpdated: "user.updated"
        case .userDeleted: "user.deleted"
        case .other(let name): name
        }
    }

    /// Whether Carillon understands it.
    package var isKnown: Bool {
        if case .other = self { false } else { true }
    }

    /// Whether people are notified of it; the others only keep the directory true.
    package var notifies: Bool { EventType.notifying.contains(self) }

    /// The types that people are notified of; toggles exist for these.
    package static let notifying: [EventType] = withTemplates + [.notificationDirect]

    /// The types whose texts come from templates; the texts of the others come with them.
    package static let withTemplates: [EventType] = [.channelCreated, .channelInvited, .memberJoined, .messageSent]

    /// Whether its texts come from templates.
    package var hasTemplates: Bool { EventType.withTemplates.contains(self) }

    /// Whether it can be meant for somebody by name.
    package var canMention: Bool { self == .messageSent || self == .notificationDirect }

    /// Whether what it names is there: a notification's channel and actor may be anything.
    package var describesTheChat: Bool { self != .notificationDirect }

    /// The types that Carillon understands.
    package static let known: [EventType] = [
        .channelCreated, .channelUpdated, .channelDeleted, .channelInvited, .memberJoined, .memberLeft, .messageSent,
        .messageDeleted, .notificationDirect, .userUpdated, .userDeleted,
    ]
}
