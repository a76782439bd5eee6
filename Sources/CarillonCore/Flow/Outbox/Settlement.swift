import Logging

/// The last word on one device of a group.
package struct DeviceRecord: Sendable, Equatable {
    package var deviceID: DeviceID
    package var userID: UserID
    /// A final state.
    package var state: DeliveryState
    /// How often it was handed to the provider.
    package var attempts: Int
    /// Why it ended like this; the level for a suppressed one. Holds no token and no text.
    package var reason: String?
    /// The push service's own id of the notification.
    package var providerMessageID: String?
    package var at: Timestamp
    package var effect: DeviceEffect?

    package init(
        deviceID: DeviceID,
        userID: UserID,
        state: DeliveryState,
        attempts: Int,
        reason: String? = nil,
        providerMessageID: String? = nil,
        at: Timestamp,
        effect: DeviceEffect? = nil
    ) {
        self.deviceID = deviceID
        self.userID = userID
        self.state = state
        self.attempts = attempts
        self.reason = reason
        self.providerMessageID = providerMessageID
        self.at = at
        self.effect = effect
    }

    /// The last word on a target.
    package init(
        _ target: Target,
        _ state: DeliveryState,
        attempts: Int,
        reason: String?,
        at time: Timestamp,
        effect: DeviceEffect? = nil
    ) {
        self.init(deviceID: target.deviceID, userID: target.userID, state: state, attempts: attempts, at: time)
        self.reason = reason
        self.effect = effect
    }

    /// The level that stopped it: `reason` is the level, a colon and the field.
    package var suppressingLevel: ToggleLevel {
        let level = reason?.prefix { $0 != ":" } ?? ""
        return ToggleLevel(rawValue: String(level)) ?? .user
    }
}

/// A user all of whose several devices in an event toggles stopped after the expansion, so that they were not notified.
package struct StoppedUser: Sendable, Equatable {
    package var networkID: NetworkID
    package var cause: DeliveryCause
    /// What stopped the first of the devices.
    package var level: ToggleLevel
    package var devices: [ProviderName: Int]

    package init(networkID: NetworkID, cause: DeliveryCause, level: ToggleLevel, devices: [ProviderName: Int]) {
        self.networkID = networkID
        self.cause = cause
        self.level = level
        self.devices = devices
    }
}

/// What an outcome says about the device itself.
package enum DeviceEffect: Sendable, Equatable {
    /// It works again.
    case clearError
    /// It had trouble; it stays in use.
    case noteError(String)
    /// It is gone, unless it was registered again after this moment, or its address was obtained after it is said to be gone.
    case unregister(ifRegisteredBefore: Timestamp, goneSince: Timestamp? = nil, error: String)
    /// Keep it, but send nothing until it is registered again after this moment.
    case quarantine(ifRegisteredBefore: Timestamp, error: String)
}

/// Devices of a group that stay in the queue.
package struct Remainder: Sendable, Equatable {
    package var targets: [Target]
    /// How often they failed so far.
    package var attempt: Int
    /// When they may be claimed again; `nil` while the group is still being sent.
    package var delay: Duration?
    /// Why they wait, where that is for their lane and not for themselves.
    package var laneReason: String?

    package init(targets: [Target], attempt: Int, delay: Duration?, laneReason: String? = nil) {
        self.targets = targets
        self.attempt = attempt
        self.delay = delay
        self.laneReason = laneReason
    }
}

/// What happened to a group since it was claimed or last settled.
package struct Settlement: Sendable {
    /// The group as it was claimed: its id, lane, cause, notification and fence.
    package var group: DeliveryGroup
    /// The devices that are through.
    package var records: [DeviceRecord]
    /// Errors of devices that will be tried again.
    package var troubles: [DeviceID: String]
    /// The devices that are not; empty when the group is done. The first stays in the group's row, the others become
    /// groups of their own.
    package var remainders: [Remainder]
    /// What was answered, where that counts for the lane's brake.
    package var answers: DeviceReports.Answers?
    /// Since when the first of what it tells has been known; `nil` when nothing was sent.
    package var since: ContinuousClock.Instant?

    package init(
        group: DeliveryGroup,
        records: [DeviceRecord],
        troubles: [DeviceID: String] = [:],
        remainders: [Remainder]
    ) {
        self.group = group
        self.records = records
        self.troubles = troubles
        self.remainders = remainders
    }
}

extension Settlement {
    /// What lines of the log say of it: how many devices are in which state, and how many are tried again.
    var metadata: Logger.Metadata {
        var metadata = group.metadata
        for (state, records) in Dictionary(grouping: records, by: \.state) {
            metadata["devices.\(state.rawValue)"] = "\(records.count)"
        }
        if !remainders.isEmpty { metadata["devices.retry"] = "\(remainders.reduce(0) { $0 + $1.targets.count })" }
        return metadata
    }
}
