public import Foundation

/// What a push carries beside its text: which event it tells of, and what to open when it is tapped.
///
/// ```swift
/// guard let notification = CarillonNotification(userInfo: response.notification.request.content.userInfo),
///     let channel = notification.channelID
/// else { return }
/// await router.open(channel: channel, message: notification.messageID)
/// ```
public struct CarillonNotification: Sendable, Hashable {
    /// The event: the same in every copy of every notification about it.
    public let eventID: String
    /// What happened.
    public let eventType: EventType
    /// The network.
    public let networkID: String
    /// The channel it happened in, which is to be opened.
    public let channelID: String?
    /// The message; only of those that have an id.
    public let messageID: String?
    /// Who wrote the message.
    public let senderID: String?
    /// A picture that belongs to it.
    public let imageURL: URL?

    /// Reads what arrived; `nil` where it is none of Carillon's.
    ///
    /// - Parameter userInfo: `UNNotificationContent.userInfo`, or what `application(_:didReceiveRemoteNotification:)` is given.
    public init?(userInfo: [AnyHashable: Any]) {
        func text(_ key: String) -> String? { userInfo[key] as? String }
        guard let eventID = text("eventId"), let eventType = text("eventType"), let networkID = text("networkId") else {
            return nil
        }
        self.eventID = eventID
        self.eventType = EventType(rawValue: eventType)
        self.networkID = networkID
        channelID = text("channelId")
        messageID = text("messageId")
        senderID = text("senderId")
        imageURL = text("imageUrl").flatMap { URL(string: $0) }
    }
}

extension CarillonNotification {
    /// What happened; the service may add to them.
    public struct EventType: RawRepresentable, Sendable, Hashable {
        /// Somebody wrote.
        public static let messageSent = EventType(rawValue: "message.sent")
        /// Somebody joined a channel.
        public static let memberJoined = EventType(rawValue: "member.joined")
        /// A channel was made with this user in it.
        public static let channelCreated = EventType(rawValue: "channel.created")
        /// This user was invited to a channel.
        public static let channelInvited = EventType(rawValue: "channel.invited")
        /// Somebody sent it, and no event of the chat caused it.
        public static let direct = EventType(rawValue: "notification.direct")

        /// Its name in payloads.
        public let rawValue: String

        /// The type of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}
