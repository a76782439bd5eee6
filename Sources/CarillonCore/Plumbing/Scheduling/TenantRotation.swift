import DequeModule

/// What each tenant of a ``FairQueue`` has, and whose turn it is.
///
/// Tenants may be thousands, so what is asked about all of them is kept up to date with each change, and never counted.
struct TenantRotation<Tenant: Hashable & Sendable, Lane: Sendable>: Sendable {
    private struct Record {
        var weight = 0
        var slots = 0
        /// Lanes with items that may go, as far as their lane is concerned: those that go first, and the others.
        var firstLanes: Deque<Lane> = []
        var lanes: Deque<Lane> = []
        /// Where it is among those that have turns.
        var position: RoundRobin<Tenant, Int>.Position?

        var hasLanes: Bool { !firstLanes.isEmpty || !lanes.isEmpty }

        mutating func add(_ weight: Int, _ slots: Int) -> Self {
            self.weight += weight
            self.slots += slots
            return self
        }
    }

    private var records: [Tenant: Record] = [:]
    /// Those with lanes in turn, by the slots that they have.
    private var ring = RoundRobin<Tenant, Int>()
    private var classes = WeightClasses<Tenant>()

    private(set) var withSlots = 0

    /// The fewest slots that one has who has a turn; `nil` when nobody has one.
    var fewestSlots: Int? { ring.leastLoad }

    func weight(of tenant: Tenant) -> Int { records[tenant]?.weight ?? 0 }

    /// Those whose items weigh more, which all do in comparison with less than nothing.
    func tenants(heavierThan weight: Int) -> [Tenant] {
        guard weight >= 0 else { return Array(records.keys) }
        return classes.members(aboutOrAbove: weight).filter { self.weight(of: $0) > weight }
    }

    /// Changes what a tenant has; one that has nothing left and no turn is forgotten.
    mutating func add(weight: Int = 0, slots: Int = 0, to tenant: Tenant) {
        let record = records[tenant, default: Record()].add(weight, slots)
        classes.move(tenant, from: record.weight - weight, to: record.weight)
        if slots != 0 {
            withSlots += (record.slots > 0 ? 1 : 0) - (record.slots > slots ? 1 : 0)
            record.position.map { ring.setLoad(record.slots, at: $0) }
        }
        forgetIfUnused(tenant, record)
    }

    /// Gives one of a tenant's lanes a turn, behind its others or behind those that go first, and the tenant one behind the others
    /// if it has none.
    mutating func append(_ lane: Lane, of tenant: Tenant, isFirst: Bool = false) {
        if isFirst {
            records[tenant, default: Record()].firstLanes.append(lane)
        } else {
            records[tenant, default: Record()].lanes.append(lane)
        }
        guard let record = records[tenant], record.position == nil else { return }
        records[tenant]?.position = ring.append(tenant, load: record.slots)
    }

    /// Whose turn it is of those that have at most so many slots, until ``endTurn(of:tookSlot:)``.
    func next(withAtMost slots: Int) -> Tenant? { ring.first(withLoad: slots) }

    mutating func popLane(of tenant: Tenant) -> Lane? {
        records[tenant]?.firstLanes.popFirst() ?? records[tenant]?.lanes.popFirst()
    }

    /// Ends a tenant's turn: it goes behind the others, or, without a lane that has a turn, loses its own. Answers whether it still
    /// has one.
    mutating func endTurn(of tenant: Tenant, tookSlot: Bool) -> Bool {
        guard let record = records[tenant], let position = record.position else { return false }
        if tookSlot || record.hasLanes { ring.advance(past: position) }
        if record.hasLanes { return true }
        ring.remove(position)
        records[tenant]?.position = nil
        records[tenant].map { forgetIfUnused(tenant, $0) }
        return false
    }

    mutating func removeAllLanes() {
        for tenant in Array(records.keys) {
            records[tenant]?.position = nil
            records[tenant]?.firstLanes = []
            records[tenant]?.lanes = []
            records[tenant].map { forgetIfUnused(tenant, $0) }
        }
        ring.removeAll()
    }

    private mutating func forgetIfUnused(_ tenant: Tenant, _ record: Record) {
        guard record.weight == 0, record.slots == 0, record.position == nil else { return }
        records[tenant] = nil
    }
}
