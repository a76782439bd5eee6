import DequeModule

extension FairQueue {
    /// Whether a lane's items get their turns.
    package enum LaneState: Sendable, Equatable {
        case sending
        /// One of them is finding out whether the others can follow.
        case probing
        /// They do not. When `until` has come, the next one is the probe.
        case paused(until: ContinuousClock.Instant, reason: String)
    }

    struct Waiting {
        var item: Item
        var weight: Int
        var slots: Int
    }

    struct LaneRecord {
        var waiting: Deque<Waiting> = []
        /// What waits, with what is reserved.
        var weight = 0
        var slots = 0
        /// How many items room is reserved for.
        var reserved = 0
        /// How many items are worked on, and how that goes.
        var pace = LanePace()
        var state = LaneState.sending
        /// Whether it has its turns before those of its tenant's lanes that do not.
        var isFirst = false
        /// Whether it is among the lanes of its tenant that have a turn.
        var isScheduled = false
        /// Whether it is among the lanes that may have no room.
        var isNotedAsTight = false

        /// Forgotten while it has a turn, it would get another one when it is used again.
        var isForgettable: Bool { weight == 0 && slots == 0 && state == .sending && !isScheduled }

        /// Whether there may be no room: for certain only at a moment.
        func isTight(_ limits: FairQueueLimits) -> Bool {
            state != .sending || isHeavy(limits) || limits.patience != nil && pace.most != nil
        }

        /// How many items may wait while all slots are taken, so that what comes now does not wait for too long; `nil` while there is a
        /// slot, or where nobody loses patience.
        func mostInTime(_ limits: FairQueueLimits, at now: ContinuousClock.Instant) -> Int? {
            limits.patience.flatMap { pace.count(within: $0, at: now) }
        }

        /// An item that was begun then is through.
        mutating func end(_ start: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
            pace.end(of: start, hasNext: !waiting.isEmpty, at: now)
        }

        /// Whether what comes now would wait for too long.
        func isSlow(_ limits: FairQueueLimits, at now: ContinuousClock.Instant) -> Bool {
            mostInTime(limits, at: now).map { waiting.count + reserved >= $0 } ?? false
        }

        /// Whether what comes now has a slot of the lane's and nothing before it.
        func goesAtOnce(_ limits: FairQueueLimits) -> Bool {
            waiting.isEmpty && reserved == 0 && state == .sending && slots < limits.slotsPerLane
        }

        /// Whether there is no room for more to be fetched.
        func isFull(_ limits: FairQueueLimits, at now: ContinuousClock.Instant) -> Bool {
            isPaused(at: now) || isTried || isHeavy(limits)
        }

        private func isHeavy(_ limits: FairQueueLimits) -> Bool { weight >= limits.weightPerLane / 2 }

        func isPaused(at now: ContinuousClock.Instant) -> Bool {
            switch state {
            case .sending: false
            case .probing: true
            case .paused(let until, _): until > now
            }
        }

        /// Whether an item is in a paused lane already, to be its probe.
        var isTried: Bool {
            if case .paused = state { weight > 0 } else { false }
        }

        /// Takes the first item if it may be worked on; whether it finds out if the paused lane works again.
        mutating func takeFirst(
            _ limits: FairQueueLimits,
            at now: ContinuousClock.Instant
        ) -> (entry: Waiting, isProbe: Bool)? {
            guard mayGo(limits, at: now), let entry = waiting.popFirst() else { return nil }
            let isProbe = state != .sending
            if isProbe { state = .probing }
            weight -= entry.weight
            slots += entry.slots
            pace.begin(takesLastSlot: slots >= limits.slotsPerLane, at: now)
            return (entry, isProbe)
        }

        /// Whether one of its items may be worked on.
        private func mayGo(_ limits: FairQueueLimits, at now: ContinuousClock.Instant) -> Bool {
            switch state {
            case .sending: slots < limits.slotsPerLane
            case .probing: false
            case .paused(let until, _): until <= now
            }
        }
    }
}
