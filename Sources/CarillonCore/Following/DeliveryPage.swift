package import Foundation

/// A page of an event's devices.
package struct DeliveryPage: Sendable, Equatable {
    /// The devices.
    package var items: [DeliveryStatus]
    /// Where the page ended; `nil` when it was the last one.
    package var next: DeliveryPlace?

    /// A page by its parts.
    package init(items: [DeliveryStatus], next: DeliveryPlace? = nil) {
        self.items = items
        self.next = next
    }
}

/// Where a page of an event's devices ended.
///
/// What is on its way comes first, then what is settled: so what is settled while somebody turns the pages comes once more, but
/// is never left out.
package enum DeliveryPlace: Sendable, Equatable {
    /// Behind a device, where the list is in the order of the devices' ids.
    case device(DeviceID)
    /// Behind a device of a group that is on its way; `horizon` is the last row of the log when the list was begun.
    case pending(group: UUID, device: DeviceID, horizon: Int64)
    /// Behind an entry of a row of the log.
    case settled(row: Int64, entry: Int, horizon: Int64)
}

extension DeliveryPlace: LosslessStringConvertible {
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
        case "s":
            guard parts.count == 4, let horizon = Int64(parts[1]), let row = Int64(parts[2]), let entry = Int(parts[3]),
                entry >= 0, entry < Int(Int32.max)
            else { return nil }
            self = .settled(row: row, entry: entry, horizon: horizon)
        default: return nil
        }
    }

    /// The place as text.
    package var description: String {
        switch self {
        case .device(let device): "d:\(device.rawValue)"
        case .pending(let group, let device, let horizon): "p:\(horizon):\(group.canonicalText):\(device.rawValue)"
        case .settled(let row, let entry, let horizon): "s:\(horizon):\(row):\(entry)"
        }
    }
}
