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
