package import Foundation

/// What a message is known by where it may have to be taken back: one value for its channel's id and its own.
///
/// A name-based UUIDv5 (RFC 9562 section 5.5), so that it takes the place of an event's id.
package struct MessageKey: Hashable, Sendable {
    /// Made once, at random.
    private static let namespace = UUID(
        uuid: (0x6B, 0x5F, 0x2A, 0x0E, 0x9D, 0x41, 0x4C, 0x57, 0x8E, 0x33, 0x10, 0xC4, 0x7A, 0xD8, 0x95, 0x26)
    )

    package let uuid: UUID

    package init(channel: ChannelID, message: String) {
        uuid = UUID(name: "\(channel.rawValue.utf8.count):\(channel.rawValue)\(message)", in: Self.namespace)
    }

    /// A key that was read back from the database.
    package init(trusted uuid: UUID) {
        self.uuid = uuid
    }
}

extension Event {
    /// The message that is sent or deleted; `nil` where it has no id.
    package var messageKey: MessageKey? {
        guard let channel, let id = message?.id, !id.isEmpty else { return nil }
        return MessageKey(channel: channel.id, message: id)
    }
}
