import CarillonCore

/// The latest word on every device of one event.
struct DeliveryLedger: Sendable {
    private var latest: [DeviceID: DeliveryStatus] = [:]

    /// Takes later words over earlier ones.
    mutating func add(_ records: [DeviceRecord], through provider: ProviderName) {
        for record in records {
            latest[record.deviceID] = DeliveryStatus(record: record, provider: provider)
        }
    }

    /// All devices in the order of their ids.
    ///
    /// A device that a toggle stopped while another device of the same user got further counts as expired: the user was
    /// notified. Where all of a user's devices were stopped, the user was not, and they stay suppressed.
    var statuses: [DeliveryStatus] {
        let stopped = stoppedUsers
        return latest.values.map { status in
            guard status.record.state == .suppressed, stopped[status.record.userID] == nil else { return status }
            var status = status
            status.record.state = .expired
            return status
        }.sorted { $0.record.deviceID < $1.record.deviceID }
    }

    /// Counts anew, device by device, where sums do not tell who was stopped by a toggle after the expansion.
    func correct(_ status: inout EventStatus?) {
        guard status != nil else { return }
        var deliveries: [DeliveryState: Int] = [.pending: 0, .delivered: 0, .unregistered: 0, .expired: 0, .dead: 0]
        for device in statuses where device.record.state != .suppressed {
            deliveries[device.record.state, default: 0] += 1
        }
        status?.deliveries = deliveries
        for level in stoppedUsers.values {
            status?.recipients.notified -= 1
            status?.recipients.suppressed[level, default: 0] += 1
        }
    }

    /// The users all of whose devices were stopped, with the level that stopped the first of them.
    private var stoppedUsers: [UserID: ToggleLevel] {
        var stopped: [UserID: (device: DeviceID, level: ToggleLevel)] = [:]
        var reached: Set<UserID> = []
        for status in latest.values {
            let record = status.record
            guard record.state == .suppressed else {
                reached.insert(record.userID)
                continue
            }
            if let first = stopped[record.userID], first.device < record.deviceID { continue }
            stopped[record.userID] = (record.deviceID, record.suppressingLevel)
        }
        return stopped.filter { !reached.contains($0.key) }.mapValues(\.level)
    }
}

extension DeviceRecord {
    /// The level that stopped it: `reason` is the level, a colon and the field.
    fileprivate var suppressingLevel: ToggleLevel {
        let level = reason?.prefix { $0 != ":" } ?? ""
        return ToggleLevel(rawValue: String(level)) ?? .user
    }
}
