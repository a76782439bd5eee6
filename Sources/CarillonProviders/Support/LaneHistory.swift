import CarillonCore
import Synchronization

/// Remembers how answers were in each lane lately, to understand those that could be about the device or about us.
///
/// One refused device must not stop the others, and a broken credential must not cost us the devices one by one.
final class LaneHistory: Sendable {
    /// A lane, and what was sent with.
    struct Key: Hashable, Sendable {
        var lane: Lane
        var credential: String
    }

    fileprivate struct Entry {
        var lastSuccess: Timestamp?
        var refused: Set<DeviceID> = []
        var refusedByKind: Set<DeviceID> = []
        var limitsInARow = 0
    }

    /// So many devices refused, or limits in a row, without a success between: it is the lane.
    static let manyAlike = 10
    /// How long a success proves that a credential works.
    static let proof = Duration.seconds(3_600)
    private static let maximumCount = 10_000

    private let entries = Mutex<[Key: Entry]>([:])

    /// The outcome for a device by what was found, which becomes a part of the history.
    func outcome(_ finding: Finding, of device: DeviceID, in key: Key, at now: Timestamp) -> Outcome {
        entries.withLock { entries in
            // Users choose the hosts of Web Push lanes. Forgetting makes answers unclear for a while, no more.
            if entries.count >= Self.maximumCount, entries[key] == nil { entries = [:] }
            return entries[key, default: Entry()].outcome(finding, of: device, at: now)
        }
    }
}

extension LaneHistory.Entry {
    fileprivate mutating func outcome(_ finding: Finding, of device: DeviceID, at now: Timestamp) -> Outcome {
        switch finding {
        case .certain(let outcome):
            if case .delivered = outcome { self = Self(lastSuccess: now) }
            return outcome
        case .refusal(let ofDevice, let ofLane, let unclear):
            // Before the last success, since a key that worked a minute ago may be revoked by now.
            if refused.areMany(afterInserting: device) { return ofLane }
            return works(at: now) ? ofDevice : unclear
        case .partial(let ofKind, let ofLane):
            // All devices of the kind are refused however well the others do: their number proves nothing then.
            return refusedByKind.areMany(afterInserting: device) && !works(at: now) ? ofLane : ofKind
        case .limit(let ofDevice, let ofLane):
            limitsInARow = min(limitsInARow + 1, LaneHistory.manyAlike)
            return limitsInARow < LaneHistory.manyAlike ? ofDevice : ofLane
        }
    }

    /// Whether the credential has worked for a device lately.
    private func works(at now: Timestamp) -> Bool {
        lastSuccess.map { now - $0 < LaneHistory.proof } ?? false
    }
}

extension Set<DeviceID> {
    /// Counts a refused device; whether so many have been refused by now that it is not about them.
    fileprivate mutating func areMany(afterInserting device: DeviceID) -> Bool {
        if count < LaneHistory.manyAlike { insert(device) }
        return count >= LaneHistory.manyAlike
    }
}
