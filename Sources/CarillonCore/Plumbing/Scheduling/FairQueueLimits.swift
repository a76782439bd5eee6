package struct FairQueueLimits: Sendable {
    /// What all that waits may weigh together.
    package var weight: Int
    package var weightPerLane: Int
    /// How many items of a lane wait, however light they are.
    package var itemsPerLane: Int
    package var slots: Int
    package var slotsPerLane: Int
    /// How many of them one tenant may have, however many are free.
    package var slotsPerTenant: Int
    /// How many slots there are for tenants that have none, when the others are taken: these are counted, too.
    package var mostSlots: Int
    /// How many times what is left for others one tenant may have, of the weight and of the slots: with 4, one alone has
    /// four fifths at the most, two have four ninths each.
    package var share: Int
    /// How long what comes to a lane whose slots are all taken may have to wait before it is better left to others; `nil` where
    /// there are none.
    package var patience: Duration?
    /// Whether what has a slot at once needs no room, however much waits elsewhere.
    package var onlyWaitingWeighs = false

    package init(
        weight: Int,
        weightPerLane: Int = .max,
        itemsPerLane: Int = .max,
        slots: Int = .max,
        slotsPerLane: Int = .max,
        slotsPerTenant: Int = .max,
        mostSlots: Int? = nil,
        share: Int = 4,
        patience: Duration? = nil
    ) {
        self.weight = weight
        self.weightPerLane = weightPerLane
        self.itemsPerLane = itemsPerLane
        self.slots = slots
        self.slotsPerLane = slotsPerLane
        self.slotsPerTenant = slotsPerTenant
        self.mostSlots = max(slots, mostSlots ?? slots)
        self.share = share
        self.patience = patience
    }

    /// The same for one of several queues that share what the process has. What a lane or a tenant may have stays.
    package func divided(by count: Int) -> FairQueueLimits {
        var limits = self
        limits.weight = weight / count
        limits.slots = slots == .max ? .max : slots / count
        limits.mostSlots = mostSlots == .max ? .max : mostSlots / count
        return limits
    }

    /// The most that a tenant may have who gets `more`, when `taken` of `total` is taken by all; negative when nobody gets it.
    func most(of total: Int, taken: Int, more: Int) -> Int {
        let left = total - taken - more
        guard left >= 0 else { return -1 }
        let (most, isLarge) = share.multipliedReportingOverflow(by: left)
        return isLarge ? .max : most
    }
}
