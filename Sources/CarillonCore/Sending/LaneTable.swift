import DequeModule

/// A group that this replica holds the lease of.
struct HeldGroup: Sendable {
    /// The group.
    var group: DeliveryGroup
    /// When it was expanded, if it came from this replica's own fan-out; a claimed group was looked at again already.
    var readPoint: ReadPoint?
    /// When its lease was taken or last renewed.
    var leasedAt: ContinuousClock.Instant
    /// When it came into memory.
    let heldSince = ContinuousClock.now

    /// Whether it waited for longer than the store remembers changes.
    var isStale: Bool { ContinuousClock.now - heldSince > .seconds(300) }
}

/// The lanes with what waits in each: whose turn it is, how much each may hold and send at a time.
struct LaneTable {
    /// The most groups that one lane may hold in memory.
    static let groupsPerLane = 64
    /// The most groups in memory, of all lanes.
    static let groupsInAll = 512
    /// The most groups of one lane that are sent at the same time.
    static let sendsPerLane = 8
    /// The most groups that are sent at the same time, of all lanes.
    static let sendsInAll = 256

    private struct LaneState {
        var waiting: Deque<HeldGroup> = []
        var reserved = 0
        var sending = 0
        var breaker = CircuitBreaker<ContinuousClock.Instant>()

        var isIdle: Bool { waiting.isEmpty && reserved == 0 && sending == 0 && breaker.opening == nil }
    }

    private var lanes: [Lane: LaneState] = [:]
    private var turns: Deque<Lane> = []
    private var held = 0
    private var sending = 0
    private(set) var isClosed = false
    /// Whether rows are known to wait in the database for which there was no room.
    var hasOverflow = false

    /// How many more groups would fit.
    var room: Int { isClosed ? 0 : max(0, Self.groupsInAll - held) }

    /// Everything that waits.
    var waiting: [HeldGroup] { lanes.values.flatMap(\.waiting) }

    /// Keeps a place for a group; `false` when the lane or the whole table is full or the lane is not being sent to.
    mutating func reserve(_ lane: Lane, at now: ContinuousClock.Instant) -> Bool {
        guard room > 0 else { return false }
        let state = lanes[lane, default: LaneState()]
        guard state.waiting.count + state.reserved < Self.groupsPerLane, !state.breaker.refuses(at: now) else {
            return false
        }
        lanes[lane, default: LaneState()].reserved += 1
        held += 1
        return true
    }

    /// Gives a reserved place back.
    mutating func cancelReservation(_ lane: Lane) {
        lanes[lane]?.reserved -= 1
        held -= 1
        forgetIfIdle(lane)
    }

    /// Puts a group into the place reserved for it.
    mutating func fill(_ group: HeldGroup) {
        let lane = group.group.lane
        lanes[lane, default: LaneState()].reserved -= 1
        append(group, to: lane)
    }

    /// Adds a group for which no place was reserved, such as a claimed one.
    mutating func add(_ group: HeldGroup) {
        held += 1
        append(group, to: group.group.lane)
    }

    /// Takes the next groups to send, a lane after the other.
    mutating func next(upTo limit: Int, at now: ContinuousClock.Instant) -> [HeldGroup] {
        var groups: [HeldGroup] = []
        var passed = 0
        while !isClosed, groups.count < limit, sending < Self.sendsInAll, passed < turns.count,
            let lane = turns.popFirst()
        {
            guard let group = take(from: lane, at: now) else {
                if lanes[lane]?.waiting.isEmpty == false {
                    turns.append(lane)
                    passed += 1
                }
                continue
            }
            passed = 0
            groups.append(group)
            if lanes[lane]?.waiting.isEmpty == false { turns.append(lane) }
        }
        return groups
    }

    /// A group that was taken is through.
    mutating func finished(_ lane: Lane, at now: ContinuousClock.Instant) {
        lanes[lane]?.sending -= 1
        sending -= 1
        held -= 1
        lanes[lane]?.breaker.probeEnded(at: now)
        forgetIfIdle(lane)
    }

    /// Something in a lane went through.
    mutating func succeeded(_ lane: Lane) { lanes[lane]?.breaker.succeeded() }

    /// Pauses a lane and answers what waits in it, to be given back.
    mutating func open(
        _ lane: Lane,
        at now: ContinuousClock.Instant,
        wallTime: Timestamp,
        retryAfter: Duration?,
        reason: String
    ) -> [HeldGroup] {
        var state = lanes[lane, default: LaneState()]
        state.breaker.open(at: now, wallTime: wallTime, retryAfter: retryAfter, reason: reason)
        defer { lanes[lane] = state }
        held -= state.waiting.count
        let groups = Array(state.waiting)
        state.waiting = []
        return groups
    }

    /// How long a lane is paused; `nil` when it is not.
    func pause(of lane: Lane, at now: ContinuousClock.Instant) -> Duration? {
        lanes[lane]?.breaker.remaining(at: now)
    }

    /// The lanes whose rows are to be left alone: paused or full.
    func closedLanes(at now: ContinuousClock.Instant) -> [Lane] {
        lanes.filter { $1.breaker.refuses(at: now) || $1.waiting.count + $1.reserved >= Self.groupsPerLane / 2 }
            .map(\.key)
    }

    /// Whether a lane is running dry while rows wait in the database.
    func wantsMore(of lane: Lane) -> Bool {
        hasOverflow && (lanes[lane]?.waiting.count ?? 0) < Self.sendsPerLane
    }

    /// The lanes that are in use or paused.
    var statuses: [LaneStatus] {
        lanes.map { lane, state in
            LaneStatus(
                lane: lane,
                circuit: state.breaker.opening == nil ? .closed : .open,
                since: state.breaker.opening?.since,
                reason: state.breaker.opening?.reason
            )
        }.sorted { $0.lane < $1.lane }
    }

    /// Notes renewed leases, and forgets groups whose lease somebody else has.
    mutating func renewed(at now: ContinuousClock.Instant, lost: (DeliveryGroup) -> Bool) {
        for lane in Array(lanes.keys) {
            guard var state = lanes[lane] else { continue }
            let before = state.waiting.count
            state.waiting.removeAll { lost($0.group) }
            held -= before - state.waiting.count
            for index in state.waiting.indices { state.waiting[index].leasedAt = now }
            lanes[lane] = state
        }
    }

    /// Takes everything out and lets nothing in any more.
    mutating func close() -> [HeldGroup] {
        isClosed = true
        let groups = waiting
        for lane in Array(lanes.keys) { lanes[lane]?.waiting = [] }
        held -= groups.count
        turns = []
        return groups
    }

    private mutating func append(_ group: HeldGroup, to lane: Lane) {
        if lanes[lane, default: LaneState()].waiting.isEmpty { turns.append(lane) }
        lanes[lane, default: LaneState()].waiting.append(group)
    }

    private mutating func take(from lane: Lane, at now: ContinuousClock.Instant) -> HeldGroup? {
        guard var state = lanes[lane], !state.waiting.isEmpty, state.sending < Self.sendsPerLane else { return nil }
        defer { lanes[lane] = state }
        guard state.breaker.admits(at: now) else { return nil }
        state.sending += 1
        sending += 1
        return state.waiting.popFirst()
    }

    private mutating func forgetIfIdle(_ lane: Lane) {
        if lanes[lane]?.isIdle == true { lanes[lane] = nil }
    }
}
