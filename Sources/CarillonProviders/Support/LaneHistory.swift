import CarillonCore
import Synchronization

/// Remembers how answers were in each lane lately, to understand those that could be about the device or about us.
///
/// One refused device must not stop the others, and a broken credential must not cost us the devices one by one.
final class LaneHistory: Sendable {
    struct Key: Hashable, Sendable {
        var lane: Lane
        var credential: String
    }

    fileprivate struct Entry {
        var lastSuccess: Timestamp?
        var refused: Set<DeviceID> = []
        /// Devices that were refused when others were not, and neither served nor given up since.
        var suspects: Set<DeviceID> = []
        /// Devices that were given up since the last success. They still count as refused.
        var givenUp: Set<DeviceID> = []
        var refusedByKind: Set<DeviceID> = []
        var limitsInARow = 0
    }

    /// So many devices refused, or limits in a row, without a success between: it is the lane.
    static let manyAlike = 10
    /// How long a success proves that a credential works.
    static let proof = Duration.seconds(3_600)
    fileprivate static let maximumCount = 10_000
    /// So many devices are remembered in all lanes together that will be given up when they are refused again.
    fileprivate static let mostSuspects = 100_000

    private let state = Mutex(State())

    /// The outcome for a device by what was found, which becomes a part of the history.
    func outcome(_ finding: Finding, of device: DeviceID, in key: Key, at now: Timestamp) -> Outcome {
        state.withLock { $0.outcome(finding, of: device, in: key, at: now) }
    }
}

extension LaneHistory {
    private struct State {
        private var entries: [Key: Entry] = [:]
        private var suspectCount = 0

        mutating func outcome(_ finding: Finding, of device: DeviceID, in key: Key, at now: Timestamp) -> Outcome {
            // Users choose the hosts of Web Push lanes. Forgetting makes answers unclear for a while, no more.
            if entries.count >= LaneHistory.maximumCount, entries[key] == nil { self = State() }
            if suspectCount > LaneHistory.mostSuspects {
                for key in entries.keys { entries[key]?.suspects = [] }
                suspectCount = 0
            }
            return entries[key, default: Entry()].outcome(finding, of: device, at: now, suspectCount: &suspectCount)
        }
    }
}

extension LaneHistory.Entry {
    fileprivate mutating func outcome(
        _ finding: Finding,
        of device: DeviceID,
        at now: Timestamp,
        suspectCount: inout Int
    ) -> Outcome {
        let before = suspects.count
        defer { suspectCount += suspects.count - before }
        switch finding {
        case .certain(let outcome):
            if case .delivered = outcome { succeed(with: device, at: now) }
            return outcome
        case .refusal(let ofDevice, let ofLane, let unclear, let namesDevice):
            // Before the last success, since a key that worked a minute ago may be revoked by now.
            if refused.areMany(afterInserting: device) { return ofLane }
            // One refusal can be a hitch of the service's. Refused again while others were not: it is about the device.
            guard works(at: now), suspects.remove(device) != nil || namesDevice else { return unclear }
            givenUp.insert(device)
            return ofDevice
        case .partial(let ofKind, let ofLane):
            // All devices of the kind are refused however well the others do: their number proves nothing then.
            return refusedByKind.areMany(afterInserting: device) && !works(at: now) ? ofLane : ofKind
        case .limit(let ofDevice, let ofLane):
            limitsInARow = min(limitsInARow + 1, LaneHistory.manyAlike)
            return limitsInARow < LaneHistory.manyAlike ? ofDevice : ofLane
        }
    }

    /// The credential works: a few refusals before may have been about the devices, many were about the lane.
    private mutating func succeed(with device: DeviceID, at now: Timestamp) {
        if refused.count < LaneHistory.manyAlike { suspects.formUnion(refused.subtracting(givenUp)) }
        suspects.remove(device)
        self = Self(lastSuccess: now, suspects: suspects)
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
