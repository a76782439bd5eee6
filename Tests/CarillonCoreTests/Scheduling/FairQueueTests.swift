import Testing

@testable import CarillonCore

@Suite struct FairQueueTests {
    private typealias Queue = FairQueue<String, String, Int>

    private let now = ContinuousClock.now

    private func queue(
        weight: Int = 1_000,
        weightPerLane: Int = .max,
        slots: Int = 100,
        slotsPerLane: Int = .max,
        slotsPerTenant: Int = .max,
        mostSlots: Int? = nil
    ) -> Queue {
        Queue(
            limits: FairQueueLimits(
                weight: weight,
                weightPerLane: weightPerLane,
                slots: slots,
                slotsPerLane: slotsPerLane,
                slotsPerTenant: slotsPerTenant,
                mostSlots: mostSlots
            )
        )
    }

    @discardableResult
    private func add(_ item: Int, _ tenant: String, _ lane: String = "lane", weight: Int = 1, to queue: inout Queue)
        -> Bool
    {
        queue.reserve(weight, of: tenant, in: lane, at: now)
            && queue.fill(item, weight: weight, of: tenant, in: lane, at: now)
    }

    /// Half a minute at least if each grant copied what waits behind it; a moment otherwise.
    @Test(.timeLimit(.minutes(1))) func `a turn costs the same, however much waits behind it`() {
        final class Box: Sendable {}
        var queue = FairQueue<String, String, Box>(limits: FairQueueLimits(weight: 400_000, slots: 400_000))
        for _ in 0..<200_000 {
            _ = queue.reserve(1, of: "a", in: "lane", at: now)
            _ = queue.fill(Box(), weight: 1, of: "a", in: "lane", at: now)
        }
        var taken = 0
        while case let grants = queue.next(upTo: 100, at: now), !grants.isEmpty { taken += grants.count }
        #expect(taken == 200_000)
    }

    @Test func `turns go round the tenants, however many lanes one has`() {
        var queue = queue()
        for lane in 0..<50 { add(lane, "loud", "lane \(lane)", to: &queue) }
        add(1000, "quiet", to: &queue)
        add(1001, "quiet", to: &queue)
        let order = queue.next(upTo: 5, at: now).map(\.tenant)
        #expect(order == ["loud", "quiet", "loud", "quiet", "loud"])
    }

    @Test func `a tenant's turns go round its lanes, each in its own order`() {
        var queue = queue()
        for item in 0..<3 { add(item, "acme", "first", to: &queue) }
        for item in 10..<12 { add(item, "acme", "second", to: &queue) }
        let order = queue.next(upTo: 9, at: now).map(\.item)
        #expect(order == [0, 10, 1, 11, 2])
    }

    @Test func `lanes that go first do, in turn, and only before those of their own tenant`() {
        var queue = queue()
        for item in 0..<3 { add(item, "acme", "last", to: &queue) }
        for (item, lane) in [(10, "first"), (11, "first"), (20, "second")] {
            _ = queue.reserve(1, of: "acme", in: lane, at: now)
            _ = queue.fill(item, weight: 1, of: "acme", in: lane, isFirst: true, at: now)
        }
        for item in 100..<103 { add(item, "other", to: &queue) }
        let order = queue.next(upTo: 9, at: now).map(\.item)
        #expect(order == [10, 100, 20, 101, 11, 102, 0, 1, 2])
    }

    @Test func `a tenant takes a bounded number of slots, however many are free, and goes on when one is`() {
        var queue = queue(slotsPerTenant: 5)
        for lane in 0..<4 { for item in 0..<4 { add(item, "acme", "lane \(lane)", to: &queue) } }
        add(0, "other", to: &queue)
        let grants = queue.next(upTo: 100, at: now)
        #expect(grants.count { $0.tenant == "acme" } == 5)
        #expect(grants.count == 6)
        queue.finished(grants[0], at: now)
        let next = queue.next(upTo: 100, at: now)
        #expect(next.map(\.tenant) == ["acme"])
    }

    @Test func `a lane that was emptied and is used again has one turn, not two`() {
        var queue = queue()
        add(0, "acme", "first", to: &queue)
        queue.remove(of: "acme", in: "first") { _ in true }
        for item in 1...2 { add(item, "acme", "first", to: &queue) }
        add(3, "acme", "second", to: &queue)
        let order = queue.next(upTo: 9, at: now).map(\.item)
        #expect(order == [1, 3, 2])
    }

    @Test func `one tenant can use nearly everything, two have as much as each other, a third finds room`() {
        var queue = queue(weight: 1000)
        var counts: [String: Int] = [:]
        while add(0, "one", to: &queue) { counts["one", default: 0] += 1 }
        #expect(counts["one"] == 800)
        var fair = self.queue(weight: 1000)
        counts = [:]
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for tenant in ["one", "two"] where add(0, tenant, to: &fair) {
                counts[tenant, default: 0] += 1
                isGrowing = true
            }
        }
        #expect(abs(counts["one", default: 0] - counts["two", default: 0]) <= 1)
        let outcome1 = add(0, "three", to: &fair)
        #expect(outcome1)
    }

    @Test func `what is reserved belongs to a tenant's share, and can be given back`() {
        var queue = queue(weight: 100)
        var reserved = 0
        while queue.reserve(5, of: "loud", in: "lane", at: now) { reserved += 5 }
        #expect(reserved == 80)
        #expect(queue.room == 20)
        queue.cancel(80, of: "loud", in: "lane")
        #expect(queue.room == 100)
    }

    @Test func `a full lane refuses, the others of its tenant do not`() {
        var queue = queue(weightPerLane: 10)
        for item in 0..<10 {
            let outcome2 = add(item, "acme", to: &queue)
            #expect(outcome2)
        }
        let outcome3 = add(10, "acme", to: &queue)
        #expect(!outcome3)
        #expect(queue.fullLanes(at: now).map(\.lane) == ["lane"])
        let outcome4 = add(10, "acme", "other", to: &queue)
        #expect(outcome4)
    }

    @Test func `a lane takes a bounded number of slots, and goes on when one is free`() {
        var queue = queue(slotsPerLane: 8)
        for item in 0..<20 { add(item, "acme", to: &queue) }
        let first = queue.next(upTo: 100, at: now)
        #expect(first.count == 8)
        let outcome5 = queue.next(upTo: 100, at: now).isEmpty
        #expect(outcome5)
        queue.finished(first[0], at: now)
        let outcome6 = queue.next(upTo: 100, at: now).count
        #expect(outcome6 == 1)
    }

    @Test func `many small items of a lane are worked on at a time, or a few large ones`() {
        var queue = queue(slots: 1_000, slotsPerLane: 64)
        for lane in ["small", "large"] {
            for item in 0..<100 {
                _ = queue.reserve(1, of: "acme", in: lane, at: now)
                _ = queue.fill(item, weight: 1, slots: lane == "large" ? 8 : 1, of: "acme", in: lane, at: now)
            }
        }
        let grants = queue.next(upTo: 1_000, at: now)
        #expect(grants.filter { $0.lane == "small" }.count == 64)
        #expect(grants.filter { $0.lane == "large" }.count == 8)
        #expect(queue.slots == 128)
        #expect(queue.working == 72)
        for grant in grants { queue.finished(grant, at: now) }
        #expect(queue.slots == 0)
        #expect(queue.working == 0)
    }

    @Test func `a tenant with many lanes that never end leaves slots to the others`() {
        var queue = queue(weight: 10_000, slots: 100, slotsPerLane: 8, mostSlots: 120)
        for lane in 0..<1_200 { add(lane, "silent", "host \(lane)", to: &queue) }
        let outcome7 = queue.next(upTo: 1_000, at: now).count
        #expect(outcome7 == 80)
        for tenant in 0..<30 { add(tenant, "tenant \(tenant)", to: &queue) }
        let others = queue.next(upTo: 1_000, at: now)
        #expect(others.filter { $0.tenant != "silent" }.count == 30, "those without a slot go beyond the limit")
        #expect(queue.slots <= 120)
    }

    @Test func `a paused lane gives up what waits, and delays nobody else`() {
        var queue = queue()
        for item in 0..<5 { add(item, "acme", to: &queue) }
        add(9, "globex", to: &queue)
        let given = queue.pause("acme", "lane", until: now + .seconds(60), reason: "quota")
        #expect(given == [0, 1, 2, 3, 4])
        let outcome8 = queue.reserve(1, of: "acme", in: "lane", at: now)
        #expect(!outcome8)
        #expect(queue.fullLanes(at: now).map(\.tenant) == ["acme"])
        let outcome9 = queue.next(upTo: 9, at: now).map(\.tenant)
        #expect(outcome9 == ["globex"])
        #expect(queue.room == 1000)
    }

    @Test func `after the pause one item probes, and the lane follows when it is resumed`() {
        var queue = queue()
        _ = queue.pause("acme", "lane", until: now + .seconds(1), reason: "quota")
        let later = now + .seconds(2)
        let outcome10 = queue.reserve(1, of: "acme", in: "lane", at: later)
        #expect(outcome10)
        let outcome11 = queue.reserve(1, of: "acme", in: "lane", at: later)
        #expect(!outcome11, "one is enough to find out")
        let outcome12 = queue.fill(0, weight: 1, of: "acme", in: "lane", at: later)
        #expect(outcome12)
        let probe = queue.next(upTo: 9, at: later)
        #expect(probe.map(\.isProbe) == [true])
        let outcome13 = queue.reserve(1, of: "acme", in: "lane", at: later)
        #expect(!outcome13)
        queue.resume("acme", "lane")
        queue.finished(probe[0], at: later)
        let outcome14 = add(1, "acme", to: &queue)
        #expect(outcome14)
        let outcome15 = queue.next(upTo: 9, at: later).map(\.isProbe)
        #expect(outcome15 == [false])
    }

    @Test func `a probe that told nothing lets the next one try`() {
        var queue = queue()
        _ = queue.pause("acme", "lane", until: now, reason: "quota")
        let outcome16 = queue.reserve(1, of: "acme", in: "lane", at: now)
        #expect(outcome16)
        let outcome17 = queue.fill(0, weight: 1, of: "acme", in: "lane", at: now)
        #expect(outcome17)
        let probe = queue.next(upTo: 9, at: now)
        queue.finished(probe[0], at: now)
        let outcome18 = queue.reserve(1, of: "acme", in: "lane", at: now)
        #expect(outcome18)
        let outcome19 = queue.fill(1, weight: 1, of: "acme", in: "lane", at: now)
        #expect(outcome19)
        let outcome20 = queue.next(upTo: 9, at: now).map(\.isProbe)
        #expect(outcome20 == [true])
    }

    @Test func `what finds its lane paused is its giver's, and its room is free`() {
        var queue = queue(weight: 10)
        let outcome21 = queue.reserve(4, of: "acme", in: "lane", at: now)
        #expect(outcome21)
        _ = queue.pause("acme", "lane", until: now + .seconds(60), reason: "quota")
        let outcome22 = queue.fill(0, weight: 4, of: "acme", in: "lane", at: now)
        #expect(!outcome22)
        #expect(queue.room == 10)
    }

    @Test func `what nobody waits for any more is taken out`() {
        var queue = queue()
        for item in 0..<4 { add(item, "acme", weight: 2, to: &queue) }
        let outcome23 = queue.remove(of: "acme", in: "lane") { $0 == 2 }
        #expect(outcome23 == [2])
        queue.updateItems { $0 == 0 ? nil : $0 * 10 }
        let outcome24 = queue.next(upTo: 9, at: now).map(\.item)
        #expect(outcome24 == [10, 30])
        #expect(queue.room == 1000)
        #expect(queue.count == 0)
    }

    @Test func `nothing gets in or out after the shutdown`() {
        var queue = queue()
        for item in 0..<3 { add(item, "acme", to: &queue) }
        let outcome25 = queue.reserve(1, of: "acme", in: "lane", at: now)
        #expect(outcome25)
        let outcome26 = queue.shutDown()
        #expect(outcome26 == [0, 1, 2])
        let outcome27 = queue.fill(3, weight: 1, of: "acme", in: "lane", at: now)
        #expect(!outcome27)
        let outcome28 = queue.next(upTo: 9, at: now).isEmpty
        #expect(outcome28)
        #expect(queue.room == 0)
    }
}
