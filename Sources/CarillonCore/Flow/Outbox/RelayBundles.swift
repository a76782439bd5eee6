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
    /// The rows that groups become: parts of a bundle as one, whose event is the first of all.
    package var joined: [DeliveryGroup] {
        guard contains(where: \.isRelay) else { return self }
        var joined: [DeliveryGroup] = []
        var indices: [UUID: Int] = [:]
        for group in self {
            guard group.isRelay, let index = indices[group.id] else {
                if group.isRelay { indices[group.id] = joined.count }
                joined.append(group)
                continue
            }
            joined[index].targets += group.targets
            joined[index].cause = joined[index].cause.joined(with: group.cause)
        }
        return joined
    }
}

extension DeliveryCause {
    /// The earlier one, with the longer life of both.
    fileprivate func joined(with other: DeliveryCause) -> DeliveryCause {
        var cause = eventID < other.eventID ? self : other
        guard let terms = relay, let others = other.relay else { return cause }
        cause.relay?.expiresAt = Swift.max(terms.expiresAt, others.expiresAt)
        return cause
    }
}
