import DequeModule

/// Items that wait until there is a slot to work on them: whose turn it is, and how much of what all share each may have.
///
/// Turns go round the tenants, and within a tenant round its lanes, first those that are to go first, so that neither many items
/// nor many lanes of one keep the others waiting. Waiting items weigh, and those that are worked on take slots, one or more each; of both there is a limit in
/// all and for each lane, which the last item to get a slot may exceed by its own, and a tenant may have only so many times what is left for others (``FairQueueLimits/share``): one alone
/// can use nearly everything, two have as much as each other, and there is always something for one that comes later.
///
/// A lane is sent to, paused, or tried with one item at a time. A value without a clock, threads or waiting: its owner
/// keeps it behind a lock and asks for ``next(upTo:at:)`` whenever something was filled in, finished or resumed.
package struct FairQueue<Tenant: Hashable & Sendable, Lane: Hashable & Sendable, Item: Sendable>: Sendable {
    /// Leave to work on an item whose turn it is: it takes slots until ``finished(_:at:)``.
    package struct Grant: Sendable {
        package let tenant: Tenant
        package let lane: Lane
        package var item: Item
        /// Whether it finds out if its paused lane works again.
        package let isProbe: Bool
        fileprivate var slots: Int
        /// When it came.
        fileprivate let start: ContinuousClock.Instant
    }

    private struct Key: Hashable {
        var tenant: Tenant
        var lane: Lane
    }

    private let limits: FairQueueLimits
    private var lanes: [Key: LaneRecord] = [:]
    /// Those that may have no room, so that the others need not be looked at.
    private var tightLanes: Set<Key> = []
    private var tenants = TenantRotation<Tenant, Lane>()
    private var weight = 0
    /// Those of whom nothing is let in.
    private var halted: Set<Tenant> = []

    package private(set) var count = 0
    package private(set) var slots = 0
    package private(set) var working = 0
    /// Whether nothing is let in any more.
    package private(set) var isShutDown = false

    package init(limits: FairQueueLimits) {
        self.limits = limits
    }

    /// How much weight is free for a tenant that holds nothing.
    package var room: Int { isShutDown ? 0 : max(0, limits.weight - weight) }

    /// All that waits, in no particular order.
    package var items: [Item] { lanes.values.flatMap { $0.waiting.lazy.map(\.item) } }
}

// MARK: - In

extension FairQueue {
    /// Keeps room for something; `false` when the lane is full or paused, the tenant has its share, or all is shut down; and, where others
    /// could have it (`isForOthers`), when the lane is slow.
    package mutating func reserve(
        _ weight: Int,
        of tenant: Tenant,
        in lane: Lane,
        isForOthers: Bool = false,
        at now: ContinuousClock.Instant
    ) -> Bool {
        let key = Key(tenant: tenant, lane: lane)
        let record = lanes[key] ?? LaneRecord()
        guard !halted.contains(tenant), !isForOthers || !record.isSlow(limits, at: now),
            record.waiting.count + record.reserved < limits.itemsPerLane, !record.isPaused(at: now), !record.isTried,
            weight == 0 && limits.onlyWaitingWeighs
                || weight <= room && record.weight + weight <= limits.weightPerLane
                    && tenants.weight(of: tenant) <= limits.most(of: limits.weight, taken: self.weight, more: weight)
        else { return false }
        lanes[key] = record
        lanes[key]?.reserved += 1
        add(weight, to: key)
        return true
    }

    /// Gives back room that is not needed.
    package mutating func cancel(_ weight: Int, of tenant: Tenant, in lane: Lane) {
        let key = Key(tenant: tenant, lane: lane)
        lanes[key]?.reserved -= 1
        add(-weight, to: key)
        forgetIfUnused(key)
    }

    /// Puts an item, which will take so many slots, into the room that was reserved for it; `false`, with the room given back,
    /// when its lane has been paused, its tenant halted or all shut down meanwhile. A lane that goes first (`isFirst`) always does.
    package mutating func fill(
        _ item: Item,
        weight: Int,
        slots: Int = 1,
        of tenant: Tenant,
        in lane: Lane,
        isFirst: Bool = false,
        at now: ContinuousClock.Instant
    ) -> Bool {
        let key = Key(tenant: tenant, lane: lane)
        guard !isShutDown, !halted.contains(tenant), lanes[key]?.isPaused(at: now) == false else {
            cancel(weight, of: tenant, in: lane)
            return false
        }
        lanes[key]?.waiting.append(Waiting(item: item, weight: weight, slots: slots))
        lanes[key]?.reserved -= 1
        lanes[key]?.isFirst = isFirst
        count += 1
        schedule(key)
        return true
    }

    /// Lines up an item; answers all whose turn it is then, and `nil` when there is no room for it.
    package mutating func admit(
        _ item: Item,
        weight: Int = 1,
        of tenant: Tenant,
        in lane: Lane,
        isFirst: Bool = false,
        at now: ContinuousClock.Instant
    ) -> [Grant]? {
        let goesAtOnce = lanes[Key(tenant: tenant, lane: lane)]?.goesAtOnce(limits) ?? true
        let weight = limits.onlyWaitingWeighs && goesAtOnce ? 0 : weight
        guard reserve(weight, of: tenant, in: lane, at: now),
            fill(item, weight: weight, of: tenant, in: lane, isFirst: isFirst, at: now)
        else { return nil }
        return next(upTo: .max, at: now)
    }

    /// Takes out what waits in a lane and fits, such as what nobody waits for any more; answers what it was.
    @discardableResult
    package mutating func remove(of tenant: Tenant, in lane: Lane, where isGone: (Item) -> Bool) -> [Item] {
        let key = Key(tenant: tenant, lane: lane)
        guard let waiting = lanes[key]?.waiting else { return [] }
        let gone = waiting.filter { isGone($0.item) }
        guard !gone.isEmpty else { return [] }
        lanes[key]?.waiting.removeAll { isGone($0.item) }
        release(gone, of: key)
        return gone.map(\.item)
    }

    /// Takes out the first item that waits in a lane and fits: cheap for those that wait longest.
    package mutating func removeFirst(of tenant: Tenant, in lane: Lane, where isGone: (Item) -> Bool) -> Item? {
        let key = Key(tenant: tenant, lane: lane)
        guard let index = lanes[key]?.waiting.firstIndex(where: { isGone($0.item) }),
            let entry = lanes[key]?.waiting.remove(at: index)
        else { return nil }
        release(CollectionOfOne(entry), of: key)
        return entry.item
    }

    /// Changes what waits, such as when a lease was renewed; what becomes `nil` is taken out.
    package mutating func updateItems(_ update: (Item) -> Item?) {
        for key in Array(lanes.keys) {
            guard let waiting = lanes[key]?.waiting, !waiting.isEmpty else { continue }
            var kept: Deque<Waiting> = []
            var gone: [Waiting] = []
            for entry in waiting {
                if let item = update(entry.item) {
                    kept.append(Waiting(item: item, weight: entry.weight, slots: entry.slots))
                } else {
                    gone.append(entry)
                }
            }
            lanes[key]?.waiting = kept
            release(ArraySlice(gone), of: key)
        }
    }
}

// MARK: - Out

extension FairQueue {
    /// Whether there may be a next item: otherwise nothing that waits gets a slot before something is finished.
    package var hasNext: Bool { tenants.fewestSlots.map { $0 <= mostOwnSlots } ?? false }

    /// Whether a tenant of whose items none is worked on has a turn.
    package var hasNewcomers: Bool { tenants.fewestSlots == 0 }

    /// How many items each tenant that has any is being worked on, on the average; zero when nobody has.
    package var workingPerTenant: Int { working / max(1, tenants.withSlots) }

    /// Takes up to `limit` items whose turn it is, if so told only one of each tenant of whose items none is worked on, and none of some
    /// tenants.
    package mutating func next(
        upTo limit: Int,
        ofNewcomers: Bool = false,
        passing others: Set<Tenant> = [],
        at now: ContinuousClock.Instant
    ) -> [Grant] {
        var taken: [Grant] = []
        // The first of those whose turns came to nothing: when it is met again, all others were, too.
        var passed: Tenant?
        while taken.count < limit,
            let tenant = tenants.next(withAtMost: ofNewcomers ? min(0, mostOwnSlots) : mostOwnSlots),
            tenant != passed
        {
            let grant = others.contains(tenant) ? nil : takeItem(of: tenant, at: now)
            let isScheduled = tenants.endTurn(of: tenant, tookSlot: grant != nil)
            if let grant {
                taken.append(grant)
                passed = nil
            } else if isScheduled, passed == nil {
                passed = tenant
            }
        }
        return taken
    }

    /// An item takes fewer slots from now on; `false` when it took no more before.
    package mutating func shrink(_ grant: inout Grant, to slots: Int) -> Bool {
        guard grant.slots > slots else { return false }
        giveBack(grant.slots - slots, to: Key(tenant: grant.tenant, lane: grant.lane))
        grant.slots = slots
        return true
    }

    /// An item is through: its slot is free.
    package mutating func finished(_ grant: Grant, at now: ContinuousClock.Instant) {
        let key = Key(tenant: grant.tenant, lane: grant.lane)
        working -= 1
        if grant.isProbe, lanes[key]?.state == .probing {
            lanes[key]?.state = .paused(until: now, reason: "")
        }
        lanes[key]?.end(grant.start, at: now)
        giveBack(grant.slots, to: key)
        forgetIfUnused(key)
    }

    /// An item is through; answers all whose turn it is then.
    package mutating func handOn(_ grant: Grant, at now: ContinuousClock.Instant) -> [Grant] {
        finished(grant, at: now)
        return next(upTo: .max, at: now)
    }

    private mutating func giveBack(_ count: Int, to key: Key) {
        slots -= count
        tenants.add(slots: -count, to: key.tenant)
        lanes[key]?.slots -= count
        noteRoom(of: key)
        schedule(key)
    }

    /// Lets nothing in or out any more; answers what waited.
    package mutating func shutDown() -> [Item] {
        isShutDown = true
        let left = removeAll(from: Array(lanes.keys))
        tenants.removeAllLanes()
        return left
    }
}

// MARK: - Lanes

extension FairQueue {
    package func state(of tenant: Tenant, _ lane: Lane) -> LaneState {
        lanes[Key(tenant: tenant, lane: lane)]?.state ?? .sending
    }

    /// The lanes for which there is no room at the moment, as far as they have anything.
    package func fullLanes(at now: ContinuousClock.Instant) -> [(tenant: Tenant, lane: Lane)] {
        tightLanes.filter { lanes[$0]?.isFull(limits, at: now) == true }.map { ($0.tenant, $0.lane) }
    }

    /// The lanes whose slots are all taken, each with how many of its items would be enough for now, and whether it has as many.
    package func slowLanes(at now: ContinuousClock.Instant) -> [(lane: Lane, enough: Int, isSlow: Bool)] {
        tightLanes.compactMap { key in
            guard let record = lanes[key], let enough = record.mostInTime(limits, at: now) else { return nil }
            return (key.lane, enough, record.isSlow(limits, at: now))
        }
    }

    /// Whether as many items of a lane wait as it gets through in time.
    package func isSlow(_ tenant: Tenant, _ lane: Lane, at now: ContinuousClock.Instant) -> Bool {
        lanes[Key(tenant: tenant, lane: lane)]?.isSlow(limits, at: now) ?? false
    }

    /// The tenants that have as much as they may.
    package var fullTenants: [Tenant] {
        tenants.tenants(heavierThan: limits.most(of: limits.weight, taken: weight, more: limits.weight / 64)) + halted
    }

    /// Lets nothing of these in, and of all others again; answers what waits of them, for its owner to keep elsewhere.
    package mutating func halt(_ tenants: Set<Tenant>) -> [Item] {
        halted = tenants
        return removeAll(from: lanes.keys.filter { tenants.contains($0.tenant) })
    }

    /// The lanes in which anything waits or is worked on.
    package var activeLanes: [(tenant: Tenant, lane: Lane)] {
        lanes.filter { $1.weight > 0 || $1.slots > 0 }.map { ($0.key.tenant, $0.key.lane) }
    }

    package func slots(of tenant: Tenant, in lane: Lane) -> Int { lanes[Key(tenant: tenant, lane: lane)]?.slots ?? 0 }

    /// How many items of a lane wait.
    package func count(of tenant: Tenant, in lane: Lane) -> Int {
        lanes[Key(tenant: tenant, lane: lane)]?.waiting.count ?? 0
    }

    /// Stops sending to a lane; answers what waits in it, for its owner to keep elsewhere.
    package mutating func pause(
        _ tenant: Tenant,
        _ lane: Lane,
        until end: ContinuousClock.Instant,
        reason: String
    ) -> [Item] {
        let key = Key(tenant: tenant, lane: lane)
        lanes[key, default: LaneRecord()].state = .paused(until: end, reason: reason)
        noteRoom(of: key)
        return removeAll(from: [key])
    }

    package mutating func resume(_ tenant: Tenant, _ lane: Lane) {
        let key = Key(tenant: tenant, lane: lane)
        guard lanes[key] != nil else { return }
        lanes[key]?.state = .sending
        noteRoom(of: key)
        schedule(key)
        forgetIfUnused(key)
    }
}

// MARK: - Within

extension FairQueue {
    /// A tenant with more slots than these gets no other one; nobody does when it is negative.
    private var mostOwnSlots: Int {
        guard slots < limits.mostSlots else { return -1 }
        return max(0, min(limits.slotsPerTenant - 1, limits.most(of: limits.slots, taken: slots, more: 1)))
    }

    private mutating func takeItem(of tenant: Tenant, at now: ContinuousClock.Instant) -> Grant? {
        guard let lane = popLane(of: tenant) else { return nil }
        let key = Key(tenant: tenant, lane: lane)
        // Changed in place: beside a copy of the record all that waits would be copied for each turn.
        lanes[key]?.isScheduled = false
        defer { schedule(key) }
        guard let (entry, isProbe) = lanes[key]?.takeFirst(limits, at: now) else { return nil }
        weight -= entry.weight
        count -= 1
        working += 1
        slots += entry.slots
        tenants.add(weight: -entry.weight, slots: entry.slots, to: tenant)
        noteRoom(of: key)
        return Grant(tenant: tenant, lane: lane, item: entry.item, isProbe: isProbe, slots: entry.slots, start: now)
    }

    /// The next lane of a tenant that has anything: one that was emptied loses its turn.
    private mutating func popLane(of tenant: Tenant) -> Lane? {
        while let lane = tenants.popLane(of: tenant) {
            let key = Key(tenant: tenant, lane: lane)
            if lanes[key]?.waiting.isEmpty == false { return lane }
            lanes[key]?.isScheduled = false
            forgetIfUnused(key)
        }
        return nil
    }

    /// Gives a lane a turn if it has an item that could go, and its tenant with it.
    private mutating func schedule(_ key: Key) {
        guard !isShutDown, let record = lanes[key], !record.isScheduled, !record.waiting.isEmpty,
            record.slots < limits.slotsPerLane, record.state != .probing
        else { return }
        lanes[key]?.isScheduled = true
        tenants.append(key.lane, of: key.tenant, isFirst: record.isFirst)
    }

    private mutating func add(_ weight: Int, to key: Key) {
        self.weight += weight
        lanes[key]?.weight += weight
        tenants.add(weight: weight, to: key.tenant)
        noteRoom(of: key)
    }

    private mutating func noteRoom(of key: Key) {
        guard let record = lanes[key], record.isTight(limits) != record.isNotedAsTight else { return }
        lanes[key]?.isNotedAsTight.toggle()
        if record.isNotedAsTight { tightLanes.remove(key) } else { tightLanes.insert(key) }
    }

    private mutating func removeAll(from keys: [Key]) -> [Item] {
        keys.flatMap { remove(of: $0.tenant, in: $0.lane) { _ in true } }
    }

    private mutating func release(_ gone: some Sequence<Waiting>, of key: Key) {
        for entry in gone {
            count -= 1
            add(-entry.weight, to: key)
        }
        forgetIfUnused(key)
    }

    private mutating func forgetIfUnused(_ key: Key) {
        guard let record = lanes[key], record.isForgettable else { return }
        if record.isNotedAsTight { tightLanes.remove(key) }
        lanes[key] = nil
    }
}
