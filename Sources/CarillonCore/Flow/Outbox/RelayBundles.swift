package import Foundation

/// Bundles the messages of one commit to one endpoint, so that they have one row, one slot and one lease.
///
/// Groups are parts of one bundle when they have the same id (``joined`` has them as the row that they become): so each event of a
/// commit can still be written or left out by itself.
package struct RelayBundles {
    /// How many messages a row holds.
    package static let maximumMessages = 100
    /// How far apart the ids of its events may be, in milliseconds: whoever looks for the message about an event has to look at
    /// rows that begin so much before it (`bundle_floor` in migration 0037 says the same).
    package static let longestSpan: Int64 = 500

    private struct Open {
        var id: UUID
        var first: EventID
        var last: EventID
        var count = 1
    }

    private var open: [Lane: Open] = [:]

    package init() {}

    /// The id of the row that has room for a message.
    package mutating func bundle(for event: EventID, in lane: Lane, ids: UUIDv7Generator) -> UUID {
        if var bundle = open[lane], bundle.count < Self.maximumMessages {
            bundle.first = min(bundle.first, event)
            bundle.last = max(bundle.last, event)
            if bundle.last.milliseconds - bundle.first.milliseconds <= Self.longestSpan {
                bundle.count += 1
                open[lane] = bundle
                return bundle.id
            }
        }
        let bundle = Open(id: ids.next(), first: event, last: event)
        open[lane] = bundle
        return bundle.id
    }
}

extension [DeliveryGroup] {
    /// The rows that messages become: parts of a bundle as one, whose cause is the first event of all, with the longest life.
    package var joined: [DeliveryGroup] {
        var rows: [DeliveryGroup] = []
        var indices: [UUID: Int] = [:]
        for part in self {
            guard let index = indices[part.id] else {
                indices[part.id] = rows.count
                rows.append(part)
                continue
            }
            rows[index].targets += part.targets
            rows[index].live(until: part.expiresAt)
        }
        for index in rows.indices { rows[index].beginWithFirst() }
        return rows
    }
}
