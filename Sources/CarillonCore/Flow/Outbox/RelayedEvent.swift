/// The event that a message to an endpoint is about.
///
/// An object, so that devices, of which there are many more, pay for one reference.
package final class RelayedEvent: Sendable, Equatable {
    package let id: EventID
    package let type: EventType
    package let receivedAt: Timestamp

    package init(_ id: EventID, _ type: EventType, receivedAt: Timestamp) {
        self.id = id
        self.type = type
        self.receivedAt = receivedAt
    }

    package static func == (left: RelayedEvent, right: RelayedEvent) -> Bool {
        (left.id, left.type, left.receivedAt) == (right.id, right.type, right.receivedAt)
    }
}
