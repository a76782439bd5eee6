package import Foundation

package struct DeliveryPage: Sendable, Equatable {
    package var items: [DeliveryStatus]
    /// Where the page ended; `nil` when it was the last one.
    package var next: DeliveryCursor?

    package init(items: [DeliveryStatus], next: DeliveryCursor? = nil) {
        self.items = items
        self.next = next
    }
}

package struct DeliveryFilter: Sendable, Equatable {
    package var states: Set<DeliveryState>?
    package var provider: ProviderName?
    package var userID: UserID?

    /// All of them, or those that all parts given let through.
    package init(states: Set<DeliveryState>? = nil, provider: ProviderName? = nil, userID: UserID? = nil) {
        self.states = states
        self.provider = provider
        self.userID = userID
    }

    package func matches(_ delivery: DeliveryStatus) -> Bool {
        (states?.contains(delivery.record.state) ?? true) && (provider.map { $0 == delivery.provider } ?? true)
            && (userID.map { $0 == delivery.record.userID } ?? true)
    }
}

/// Where a page of an event's devices ended.
///
/// What had failed when the list was begun comes first, then what is on its way, then all else that is settled: so what is settled while
/// somebody turns the pages comes once more, but is never left out.
package enum DeliveryCursor: Sendable, Equatable {
    /// Behind a device, where the list is in the order of the devices' ids.
    case device(DeviceID)
    /// Behind an entry of a row of the log, among those that failed; `horizon` is the last row of the log when the list was begun.
    case failed(row: Int64, entry: Int, horizon: Int64)
    /// Behind a device of a group that is on its way.
    case pending(group: UUID, device: DeviceID, horizon: Int64)
    /// Behind an entry of a row of the log.
    case settled(row: Int64, entry: Int, horizon: Int64)
}

extension DeliveryCursor: LosslessStringConvertible {
    /// Reads what ``description`` wrote; `nil` for anything else.
    package init?(_ description: String) {
        // A device's id may hold anything, so it comes last.
        let parts = description.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        switch parts.first {
        case "d":
            guard let device = DeviceID(String(description.dropFirst(2))) else { return nil }
            self = .device(device)
        case "p":
            guard parts.count == 4, let horizon = Int64(parts[1]), let group = UUID(uuidString: String(parts[2])),
                let device = DeviceID(String(parts[3]))
            else { return nil }
            self = .pending(group: group, device: device, horizon: horizon)
        case "f", "s":
            guard parts.count == 4, let horizon = Int64(parts[1]), let row = Int64(parts[2]), let entry = Int(parts[3]),
                entry >= 0, entry < Int(Int32.max)
            else { return nil }
            self =
                parts[0] == "f"
                ? .failed(row: row, entry: entry, horizon: horizon) : .settled(row: row, entry: entry, horizon: horizon)
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .device(let device): "d:\(device.rawValue)"
        case .pending(let group, let device, let horizon): "p:\(horizon):\(group.canonicalText):\(device.rawValue)"
        case .failed(let row, let entry, let horizon): "f:\(horizon):\(row):\(entry)"
        case .settled(let row, let entry, let horizon): "s:\(horizon):\(row):\(entry)"
        }
    }
}
