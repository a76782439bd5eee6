import DequeModule

/// A group that this replica holds the lease of.
struct HeldGroup: Sendable {
    /// The group.
    var group: DeliveryGroup
    /// What was read of toggles and devices when it was expanded or claimed.
    var readPoint: ReadPoint
    /// When its lease was taken or last renewed.
    var leasedAt: ContinuousClock.Instant

    /// About how much memory it takes, in devices: a small group is not free.
    var weight: Int { Self.weight(of: group) }

    static func weight(of group: DeliveryGroup) -> Int { group.targets.count + 16 }
}

/// The lanes with what waits in each: whose turn it is, how much each may hold and send at a time.
struct LaneTable {
    /// The most that one lane may hold in memory, in weights of groups: about 60 full ones, or 2,000 of a single device.
    static let weightPerLane = 32_000
    /// The most in memory, of all lanes.
    static let weightInAll = 256_000
    /// The most groups of one lane that are sent at the same time.
    static let sendsPerLane = 8
    /// The most groups that are sent at the same time, of all lanes; a lane of which none is may go beyond it.
    static let sendsInAll = 256
    /// The most groups that are sent at the same time in any case.
    static let sendsAtMost = 1024
    /// How long a lane with nothing in it is remembered after its pause, for people to see.
    static let memoryOfPauses = Duration.seconds(3600)
    /// The most paused lanes with nothing in them that are remembered.
    static let mostPaused = 10_000

    private struct LaneState {
        var waiting: Deque<HeldGroup> = []
        /// The weight of what waits, with the places that are kept free.
        var weight = 0
        var sending = 0
        var breaker = CircuitBreaker<ContinuousClock.Instant>()
        /// The group that finds out whether a paused lane works again.
        var probe: DeliveryGroup.ID?

        var isIdle: Bool { weight == 0 && sending == 0 && breaker.opening == nil }
    }

    private var lanes: [Lane: LaneState] = [:]
    private var turns: Deque<Lane> = []
    private var held = 0
    private var sending = 0
    private(set) var isClosed = false
    /// Whether rows are known to wait in the database for which there was no room.
    private(set) var hasOverflow = false

    /// How much more would fit, in weights of groups.
    var room: Int { isClosed ? 0 : max(0, Self.weightInAll - held) }

    /// How many groups wait or are being sent.
    var count: Int { lanes.values.reduce(0) { $0 + $1.waiting.count + $1.sending } }

    /// Everything that waits.
    var waiting: [HeldGroup] { lanes.values.flatMap(\.waiting) }

    /// Keeps a place for a group; `false` when the lane or the whole table is full or the lane is not being sent to.
    mutating func reserve(_ group: DeliveryGroup, at now: ContinuousClock.Instant) -> Bool {
        let weight = HeldGroup.weight(of: group)
        var state = lanes[group.lane, default: LaneState()]
        guard weight <= room, state.weight + weight <= Self.weightPerLane, !state.breaker.refuses(at: now) else {
            return false
        }
        state.weight += weight
        held += weight
        lanes[group.lane] = state
        return true
    }

    /// Notes that a group was written for which no place could be kept.
    mutating func overflowed() { hasOverflow = true }

    /// Gives a reserved place back.
    mutating func cancelReservation(_ group: DeliveryGroup) {
        let weight = HeldGroup.weight(of: group)
        lanes[group.lane]?.weight -= weight
        held -= weight
        forgetIfIdle(group.lane)
    }

    /// Puts a group into the place reserved for it; `false` when the table was closed meanwhile.
    mutating func fill(_ group: HeldGroup) -> Bool {
        guard !isClosed else { return false }
        append(group, to: group.group.lane)
        return true
    }

    /// Adds a group for which no place was reserved, such as a claimed one; `false` when the table is closed.
    mutating func add(_ group: HeldGroup) -> Bool {
        guard !isClosed else { return false }
        lanes[group.group.lane, default: LaneState()].weight += group.weight
        held += group.weight
        append(group, to: group.group.lane)
        return true
    }

    /// Takes the next groups to send, a lane after the other.
    mutating func next(upTo limit: Int, at now: ContinuousClock.Instant) -> [HeldGroup] {
        var groups: [HeldGroup] = []
        var passed = 0
        while !isClosed, groups.count < limit, sending < Self.sendsAtMost, passed < turns.count,
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
    mutating func finished(_ group: DeliveryGroup, at now: ContinuousClock.Instant) {
        let lane = group.lane
        lanes[lane]?.sending -= 1
        sending -= 1
        if lanes[lane]?.probe == group.id {
            lanes[lane]?.probe = nil
            lanes[lane]?.breaker.probeEnded(at: now)
        }
        forgetIfIdle(lane)
    }

    /// Something of a group went through; of a paused lane only its probe can tell that it works again.
    mutating func succeeded(_ group: DeliveryGroup) {
        guard let state = lanes[group.lane], state.breaker.opening == nil || state.probe == group.id else { return }
        lanes[group.lane]?.breaker.succeeded()
    }

    /// Notes how much a claim has found, to know whether more waits in the database.
    mutating func claimed(_ count: Int, limitPerLane: Int, leavingOutLanes hasLeftOutLanes: Bool) {
        if count >= limitPerLane { hasOverflow = true }
        if count == 0, !hasLeftOutLanes { hasOverflow = false }
    }

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
        let groups = Array(state.waiting)
        let weight = groups.reduce(0) { $0 + $1.weight }
        state.waiting = []
        state.weight -= weight
        held -= weight
        turns.removeAll { $0 == lane }
        return groups
    }

    /// Ends the pauses of some lanes.
    mutating func reopen(where isMeant: (Lane) -> Bool) {
        for lane in Array(lanes.keys) where isMeant(lane) {
            lanes[lane]?.breaker.succeeded()
            lanes[lane]?.probe = nil
            forgetIfIdle(lane)
        }
    }

    /// Forgets lanes with nothing in them whose pause has been over for long; of too many, those whose pause ends first.
    ///
    /// Users choose the hosts of webhooks and browsers' push services, and with them lanes.
    mutating func prune(at now: ContinuousClock.Instant) {
        var empty = lanes.compactMap { lane, state in
            state.weight == 0 && state.sending == 0 ? state.breaker.pauseEnd.map { (lane: lane, pauseEnd: $0) } : nil
        }
        for (lane, pauseEnd) in empty where pauseEnd + Self.memoryOfPauses <= now { lanes[lane] = nil }
        empty.removeAll { $0.pauseEnd + Self.memoryOfPauses <= now }
        guard empty.count > Self.mostPaused else { return }
        empty.sort { $0.pauseEnd < $1.pauseEnd }
        for (lane, _) in empty.prefix(empty.count - Self.mostPaused) { lanes[lane] = nil }
    }

    /// How long a lane is paused; `nil` when it is not.
    func pause(of lane: Lane, at now: ContinuousClock.Instant) -> Duration? {
        lanes[lane]?.breaker.remaining(at: now)
    }

    /// The lanes whose rows are to be left alone: paused or full.
    func closedLanes(at now: ContinuousClock.Instant) -> [Lane] {
        lanes.filter { $1.breaker.refuses(at: now) || $1.weight >= Self.weightPerLane / 2 }
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
    ///
    /// Groups that came in while the renewal was on its way are neither.
    mutating func renewed(
        at now: ContinuousClock.Instant,
        asked: Set<DeliveryGroup.ID>,
        held: Set<DeliveryGroup.ID>
    ) {
        let isLost = { (group: HeldGroup) in asked.contains(group.group.id) && !held.contains(group.group.id) }
        for lane in Array(lanes.keys) {
            guard var state = lanes[lane] else { continue }
            let gone = state.waiting.filter(isLost).reduce(0) { $0 + $1.weight }
            state.waiting.removeAll(where: isLost)
            state.weight -= gone
            self.held -= gone
            for index in state.waiting.indices where held.contains(state.waiting[index].group.id) {
                state.waiting[index].leasedAt = now
            }
            lanes[lane] = state
        }
    }

    /// Takes everything out and lets nothing in any more.
    mutating func close() -> [HeldGroup] {
        isClosed = true
        let groups = waiting
        for lane in Array(lanes.keys) { lanes[lane]?.waiting = [] }
        turns = []
        return groups
    }

    private mutating func append(_ group: HeldGroup, to lane: Lane) {
        if lanes[lane, default: LaneState()].waiting.isEmpty { turns.append(lane) }
        lanes[lane, default: LaneState()].waiting.append(group)
    }

    private mutating func take(from lane: Lane, at now: ContinuousClock.Instant) -> HeldGroup? {
        guard var state = lanes[lane], !state.waiting.isEmpty, state.sending < Self.sendsPerLane,
            sending < Self.sendsInAll || state.sending == 0
        else { return nil }
        defer { lanes[lane] = state }
        guard state.breaker.admits(at: now) else { return nil }
        guard let group = state.waiting.popFirst() else { return nil }
        if state.breaker.isProbing { state.probe = group.group.id }
        state.weight -= group.weight
        held -= group.weight
        state.sending += 1
        sending += 1
        return group
    }

    private mutating func forgetIfIdle(_ lane: Lane) {
        if lanes[lane]?.isIdle == true { lanes[lane] = nil }
    }
}
