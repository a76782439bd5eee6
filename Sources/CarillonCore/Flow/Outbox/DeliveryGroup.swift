package import Foundation
import Logging

/// What is leased, sent, tried again and settled: a push on its way to up to ``maximumTargets`` devices of one lane, or a bundle of
/// messages to an endpoint.
///
/// A row of the queue is a group, not a target: 100,000 devices cost the database 200 rows.
package struct DeliveryGroup: Sendable, Identifiable {
    package static let maximumTargets = 500

    /// What is sent, and what holds for that alone.
    package enum Payload: Sendable {
        case devices(DevicePush)
        /// Each of its targets is about an event of its own (``RelayBundles``); the group's cause is that of the first.
        case messages(RelayTerms)
    }

    /// The group's id, a UUIDv7.
    package var id: UUID
    package var lane: Lane
    @Boxed package var cause: DeliveryCause
    package var payload: Payload
    /// To whom it still has to go.
    package var targets: [Target]
    /// How often it failed so far.
    package var attempt: Int
    /// The fence: a settle that names an older token changes nothing.
    package var leaseToken: Int64
    /// Whether this replica holds it; otherwise the first that claims it does.
    package var leased: Bool

    package var expiresAt: Timestamp {
        switch payload {
        case .devices(let sent): cause.receivedAt + (sent.push.content?.lifetime ?? notificationTimeToLive)
        case .messages(let terms): terms.expiresAt
        }
    }

    /// Whether what may have been sent is sent again.
    var isRetried: Bool {
        switch payload {
        case .devices(let sent): sent.push.content?.isRetried ?? true
        case .messages: true
        }
    }

    package init(
        id: UUID,
        lane: Lane,
        cause: DeliveryCause,
        payload: Payload,
        targets: [Target],
        attempt: Int = 0,
        leaseToken: Int64 = 1,
        leased: Bool
    ) {
        self.id = id
        self.lane = lane
        self.cause = cause
        self.payload = payload
        self.targets = targets
        self.attempt = attempt
        self.leaseToken = leaseToken
        self.leased = leased
    }
}

/// What devices are sent, and what holds for their users.
package struct DevicePush: Sendable {
    @Boxed package var push: Push
    /// How many devices its users have in the event, of those who have several; `nil` when that is not known, as of what a
    /// former release wrote.
    package var deviceCounts: [UserID: Int]?
    /// When quiet hours begin for the first of its users, as far as that can forbid it; not stored, since what is claimed is
    /// judged anew.
    package var allowedUntil: Timestamp?

    package init(_ push: Push, deviceCounts: [UserID: Int]? = nil, allowedUntil: Timestamp? = nil) {
        self.push = push
        self.deviceCounts = deviceCounts
        self.allowedUntil = allowedUntil
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

/// One of those that a group goes to, each of which has an outcome of its own.
package struct Target: Sendable, Equatable {
    /// What is sent to.
    package enum Destination: Sendable, Equatable {
        /// A device, as it was last registered. Where its last outcome was an error, a success clears that.
        case device(DeviceAddress, registeredAt: Timestamp, hasError: Bool)
        /// A device that is looked up when it is sent to.
        case unknown
        /// The endpoint of the group's lane, which is told of an event.
        case message(RelayedEvent)
    }

    /// The device's id, or that of the event which is told of.
    package var deviceID: DeviceID
    /// The user who owned it when the event was expanded; ``Identifier/nobody`` for a message.
    package var userID: UserID
    package var destination: Destination

    /// Where the device is reached, where that is known.
    package var address: DeviceAddress? {
        if case .device(let address, _, _) = destination { address } else { nil }
    }

    /// What an endpoint is told of.
    package var event: RelayedEvent? {
        if case .message(let event) = destination { event } else { nil }
    }

    package init(deviceID: DeviceID, userID: UserID, _ destination: Destination = .unknown) {
        self.deviceID = deviceID
        self.userID = userID
        self.destination = destination
    }

    /// A message to an endpoint about an event.
    package init(_ event: RelayedEvent) {
        self.init(deviceID: DeviceID(trusted: event.id.description), userID: .nobody, .message(event))
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

/// A group that this replica holds the lease of.
package struct LeasedGroup: Sendable {
    package var group: DeliveryGroup
    /// What was read of toggles and devices when it was expanded or claimed.
    package var readPoint: ReadPoint
    /// When that was read, by the clock of waiting.
    package var readAt: ContinuousClock.Instant
    /// When its lease was taken or last renewed, or earlier.
    package var leasedAt: ContinuousClock.Instant
    /// When the event's sender was told that it is durable, where this replica did that.
    package var acceptedAt: Timestamp?

    /// A group whose lease was taken when it was read.
    package init(group: DeliveryGroup, readPoint: ReadPoint, readAt: ContinuousClock.Instant) {
        self.group = group
        self.readPoint = readPoint
        self.readAt = readAt
        leasedAt = readAt
    }

    /// About how much memory it takes, in devices: a small group is not free.
    package var weight: Int { group.targets.count + 16 }

    /// What the database's clock shows: expiry and quiet hours go by one clock, whichever replica looks at it.
    package func time(at now: ContinuousClock.Instant) -> Timestamp { readPoint.moment + (now - readAt) }

    /// Whether time alone may have turned something against it: its life is over, or somebody's quiet hours begin.
    package func isTouchedByTime(at now: ContinuousClock.Instant) -> Bool {
        let time = time(at: now)
        guard time < group.expiresAt else { return true }
        guard case .devices(let sent) = group.payload, let end = sent.allowedUntil else { return false }
        return end <= time
    }
}
