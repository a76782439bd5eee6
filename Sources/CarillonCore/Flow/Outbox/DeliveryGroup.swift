package import Foundation
import Logging

/// One rendered notification on its way to up to ``maximumTargets`` devices of one lane.
///
/// A row of the queue is a group, not a device: 100,000 devices cost the database 200 rows. For an endpoint it is a bundle of
/// messages, each about an event of its own (``RelayBundles``); the cause is that of the first.
package struct DeliveryGroup: Sendable, Identifiable {
    package static let maximumTargets = 500

    /// The group's id, a UUIDv7.
    package var id: UUID
    package var lane: Lane
    @Boxed package var cause: DeliveryCause
    @Boxed package var push: Push
    /// To whom it still has to go.
    package var targets: [Target]
    /// How many devices its users have in the event, of those who have several; `nil` when that is not known, as of what a
    /// former release wrote.
    package var deviceCounts: [UserID: Int]?
    /// How often it failed so far.
    package var attempt: Int
    /// The fence: a settle that names an older token changes nothing.
    package var leaseToken: Int64
    /// Whether this replica holds it; otherwise the first that claims it does.
    package var leased: Bool

    /// When quiet hours begin for the first of its users, as far as that can forbid it; not stored, since what is claimed is
    /// judged anew.
    package var allowedUntil: Timestamp?

    package var notification: Notification { push.notification }

    package var expiresAt: Timestamp {
        cause.relay?.expiresAt ?? cause.receivedAt + (push.content?.lifetime ?? notificationTimeToLive)
    }

    package init(
        id: UUID,
        lane: Lane,
        cause: DeliveryCause,
        push: Push,
        targets: [Target],
        attempt: Int = 0,
        leaseToken: Int64 = 1,
        leased: Bool
    ) {
        self.id = id
        self.lane = lane
        self.cause = cause
        self.push = push
        self.targets = targets
        self.attempt = attempt
        self.leaseToken = leaseToken
        self.leased = leased
    }
}

/// What a delivery has to know of its event: for the payload, and to ask the toggles once more.
package struct DeliveryCause: Sendable, Equatable {
    package var eventID: EventID
    package var eventType: EventType
    /// Whose switch is asked.
    package var module: Module
    /// The channel it happened in, with the name that was known at that time; `nil` for what belongs to none.
    package var channel: Channel?
    /// The message that it tells of; `nil` where it has no id.
    package var message: MessageKey?
    /// The message's own id, for the app; `nil` for anything else than a message.
    package var messageID: String?
    /// Who wrote the message, for the app; `nil` for anything else than a message.
    package var senderID: UserID?
    package var actorRoles: [String]
    package var mentions: Set<UserID>
    package var mentionsAll: Bool
    /// When the event reached us, or a dead letter was brought back to life.
    package var receivedAt: Timestamp
    /// Whether it was brought back to life, by the database's clock: a withdrawal of before does not concern it.
    package var isRevived = false
    /// What holds for a message to an endpoint; `nil` for notifications.
    package var relay: RelayTerms?
    /// Where the event stands in a trace of its sender's.
    package var trace: TraceContext?

    package init(
        eventID: EventID,
        eventType: EventType,
        module: Module = .chat,
        channel: Channel?,
        message: MessageKey? = nil,
        actorRoles: [String],
        mentions: Set<UserID>,
        mentionsAll: Bool = false,
        receivedAt: Timestamp
    ) {
        self.eventID = eventID
        self.eventType = eventType
        self.module = module
        self.channel = channel
        self.message = message
        self.actorRoles = actorRoles
        self.mentions = mentions
        self.mentionsAll = mentionsAll
        self.receivedAt = receivedAt
    }

    package func isMentioning(_ user: UserID) -> Bool { mentionsAll || mentions.contains(user) }
}

/// What holds for a message to an endpoint.
package struct RelayTerms: Sendable, Equatable {
    package var expiresAt: Timestamp
    package var isReplay: Bool

    package init(expiresAt: Timestamp, isReplay: Bool = false) {
        self.expiresAt = expiresAt
        self.isReplay = isReplay
    }
}

/// One device that a group goes to, or one of the messages to an endpoint.
package struct Target: Sendable, Equatable {
    package var deviceID: DeviceID
    /// The user who owned it when the event was expanded.
    package var userID: UserID
    /// Where it is reached.
    package var address: DeviceAddress
    /// Whether its last outcome was an error, which a success clears.
    package var hasError: Bool
    /// When it was last registered.
    package var registeredAt: Timestamp
    /// What is told of, where this is a message to an endpoint and no device.
    package var relayed: RelayedEvent?

    package init(
        deviceID: DeviceID,
        userID: UserID,
        address: DeviceAddress,
        registeredAt: Timestamp,
        hasError: Bool = false
    ) {
        self.deviceID = deviceID
        self.userID = userID
        self.address = address
        self.registeredAt = registeredAt
        self.hasError = hasError
    }
}

extension DeliveryGroup {
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "network": "\(lane.networkID)", "event": "\(cause.eventID)", "delivery.group": "\(id)",
            "provider": "\(lane.provider.rawValue)",
        ]
        metadata[TraceContext.metadataKey] = cause.trace.map { "\($0.traceID)" }
        return metadata
    }
}
