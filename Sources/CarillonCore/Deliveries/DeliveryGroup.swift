public import Foundation

/// One rendered notification on its way to up to ``maximumTargets`` devices of one lane.
///
/// A row of the queue is a group, not a device: 100,000 devices cost the database 200 rows.
public struct DeliveryGroup: Sendable, Identifiable {
    /// The most devices in one group.
    public static let maximumTargets = 500

    /// The group's id, a UUIDv7.
    public var id: UUID
    /// The lane it goes through.
    public var lane: Lane
    /// What caused it.
    public var cause: DeliveryCause
    /// What is shown.
    public var notification: Notification
    /// To whom it still has to go.
    public var targets: [Target]
    /// How often it failed so far.
    public var attempt: Int
    /// The fence: a settle that names an older token changes nothing.
    public var leaseToken: Int64
    /// Whether this replica holds it; otherwise the first that claims it does.
    public var leased: Bool

    /// When it is no longer worth delivering.
    public var expiresAt: Timestamp { cause.receivedAt + notificationTimeToLive }

    /// A group by its parts.
    public init(
        id: UUID,
        lane: Lane,
        cause: DeliveryCause,
        notification: Notification,
        targets: [Target],
        attempt: Int = 0,
        leaseToken: Int64 = 1,
        leased: Bool
    ) {
        self.id = id
        self.lane = lane
        self.cause = cause
        self.notification = notification
        self.targets = targets
        self.attempt = attempt
        self.leaseToken = leaseToken
        self.leased = leased
    }
}

/// What a delivery has to know of its event: for the payload, and to ask the toggles once more.
public struct DeliveryCause: Sendable, Equatable {
    /// The event.
    public var eventID: EventID
    /// What happened.
    public var eventType: EventType
    /// The channel it happened in, with the name that was known at that time.
    public var channel: Channel
    /// The roles of who caused it.
    public var actorRoles: [String]
    /// Whom the message mentions.
    public var mentions: Set<UserID>
    /// When the event reached us.
    public var receivedAt: Timestamp

    /// A cause by its parts.
    public init(
        eventID: EventID,
        eventType: EventType,
        channel: Channel,
        actorRoles: [String],
        mentions: Set<UserID>,
        receivedAt: Timestamp
    ) {
        self.eventID = eventID
        self.eventType = eventType
        self.channel = channel
        self.actorRoles = actorRoles
        self.mentions = mentions
        self.receivedAt = receivedAt
    }
}

/// One device that a group goes to.
public struct Target: Sendable, Equatable {
    /// The device.
    public var deviceID: DeviceID
    /// The user who owned it when the event was expanded.
    public var userID: UserID
    /// Where it is reached.
    public var address: DeviceAddress
    /// When it was last registered.
    public var registeredAt: Timestamp
    /// Whether its last outcome was an error, which a success clears.
    public var hasError: Bool

    /// A target by its parts.
    public init(
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
