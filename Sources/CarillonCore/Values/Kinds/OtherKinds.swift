/// A person's name, locale or roles changed.
enum UserUpdated: EventKind {
    static let name = "user.updated"

    static func read(_ data: inout EventData, into event: inout Event) { event.actor = data.user(required: true) }
}

enum UserDeleted: EventKind {
    static let name = "user.deleted"
    static let fact: EventFact? = .userGone

    static func read(_ data: inout EventData, into event: inout Event) { event.actor = data.user(required: true) }
}

/// Somebody sends a notification that no fact of the chat caused.
enum NotificationDirect: EventKind {
    static let name = "notification.direct"
    static let describesTheChat = false
    static let notifies = true
    static let canMention = true

    /// Nothing: ``DirectNotificationReader`` reads it.
    static func read(_ data: inout EventData, into event: inout Event) {}
}

enum UnknownKind: EventKind {
    static let name = ""
}
