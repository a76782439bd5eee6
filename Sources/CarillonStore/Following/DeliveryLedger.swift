import CarillonCore

/// The latest word on every device of one event: how events are answered of which a release wrote that neither numbered the
/// rows of the log nor counted whom toggles stopped. When all of its rows have aged, this can go.
struct DeliveryLedger: Sendable {
    private var latest: [DeviceID: DeliveryStatus] = [:]

    /// Takes later words over earlier ones.
    mutating func add(_ records: [DeviceRecord], through provider: ProviderName) {
        for record in records {
            latest[record.deviceID] = DeliveryStatus(record: record, provider: provider)
        }
    }

    /// The devices behind `cursor` that `filter` lets through, in the order of their ids, at most `limit`.
    ///
    /// A device that a toggle stopped while another device of the same user got further counts as expired: the user was
    /// notified. Where all of a user's devices were stopped, the user was not, and they stay suppressed.
    func page(matching filter: DeliveryFilter, after cursor: DeliveryCursor?, limit: Int) -> DeliveryPage {
        let after: DeviceID? = if case .device(let device) = cursor { device } else { nil }
        let stopped = stoppedUsers
        let rest = latest.values.map { Self.final($0, stopped) }
            .filter { status in filter.matches(status) && (after.map { $0 < status.record.deviceID } ?? true) }
            .sorted { $0.record.deviceID < $1.record.deviceID }
        let items = Array(rest.prefix(limit))
        return DeliveryPage(
            items: items,
            next: rest.count > limit ? items.last.map { .device($0.record.deviceID) } : nil
        )
    }

    /// Counts anew, device by device, where sums do not tell who was stopped by a toggle after the expansion.
    func correct(_ status: inout EventStatus?) {
        guard status != nil else { return }
        var deliveries: [DeliveryState: Int] = [.pending: 0, .delivered: 0, .unregistered: 0, .expired: 0, .dead: 0]
        let stopped = stoppedUsers
        for device in latest.values {
            let state = Self.final(device, stopped).record.state
            if state != .suppressed { deliveries[state, default: 0] += 1 }
        }
        status?.deliveries = deliveries
        for level in stopped.values {
            status?.recipients.notified -= 1
            status?.recipients.suppressed[level, default: 0] += 1
        }
    }

    private static func final(_ status: DeliveryStatus, _ stopped: [UserID: ToggleLevel]) -> DeliveryStatus {
        guard status.record.state == .suppressed, stopped[status.record.userID] == nil else { return status }
        var status = status
        status.record.state = .expired
        return status
    }

    /// The users all of whose devices were stopped, with the level that stopped the first of them.
    private var stoppedUsers: [UserID: ToggleLevel] {
        guard latest.values.contains(where: { $0.record.state == .suppressed }) else { return [:] }
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
