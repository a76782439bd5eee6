import Testing

@testable import CarillonCore

@Suite struct LaneTableTests {
    private let now = ContinuousClock.now

    private func held(_ network: String, provider: ProviderName = .log) -> HeldGroup {
        HeldGroup(
            group: .test([.test("d")], network: network, provider: provider),
            readPoint: ReadPoint("0"),
            leasedAt: now
        )
    }

    private func add(_ group: HeldGroup, to table: inout LaneTable) {
        let isIn = table.add(group)
        #expect(isIn)
    }

    @Test func `lanes are served in turn`() {
        var table = LaneTable()
        for _ in 0..<6 { add(held("loud"), to: &table) }
        add(held("quiet"), to: &table)
        let order = table.next(upTo: 4, at: now).map(\.group.lane.networkID.rawValue)
        #expect(order == ["loud", "quiet", "loud", "loud"])
    }

    @Test func `a lane sends a bounded number of groups at a time`() {
        var table = LaneTable()
        for _ in 0..<20 { add(held("acme"), to: &table) }
        let first = table.next(upTo: 100, at: now)
        #expect(first.count == LaneTable.sendsPerLane)
        let second = table.next(upTo: 100, at: now)
        #expect(second.isEmpty)
        table.finished(first[0].group, at: now)
        let third = table.next(upTo: 100, at: now)
        #expect(third.count == 1)
    }

    @Test(arguments: [1, 500])
    func `a full lane refuses, the others do not`(devices: Int) {
        var table = LaneTable()
        let group = DeliveryGroup.test((0..<devices).map { .test("d-\($0)") })
        var accepted = 0
        for _ in 0..<10_000 where table.reserve(group, at: now) { accepted += 1 }
        #expect(accepted == LaneTable.weightPerLane / (devices + 16))
        let other = table.reserve(held("globex").group, at: now)
        #expect(other)
        #expect(table.closedLanes(at: now) == [group.lane])
        for _ in 0..<accepted { table.cancelReservation(group) }
        #expect(table.closedLanes(at: now).isEmpty)
    }

    @Test func `the table as a whole is bounded, and room comes back`() {
        var table = LaneTable()
        var networks = 0
        while table.room >= 17 {
            add(held("network \(networks)"), to: &table)
            networks += 1
        }
        let refused = table.reserve(held("acme").group, at: now)
        #expect(!refused)
        let before = table.room
        let taken = table.next(upTo: 3, at: now)
        #expect(taken.count == 3)
        #expect(table.room == before + 3 * 17)
    }

    @Test func `a paused lane gives up what waits and delays nobody else`() {
        var table = LaneTable()
        let lane = held("acme").group.lane
        for _ in 0..<5 { add(held("acme"), to: &table) }
        add(held("globex"), to: &table)
        let given = table.open(lane, at: now, wallTime: testNow, retryAfter: .seconds(60), reason: "quota")
        #expect(given.count == 5)
        #expect(table.pause(of: lane, at: now) == .seconds(60))
        let reserved = table.reserve(held("acme").group, at: now)
        #expect(!reserved)
        #expect(table.closedLanes(at: now) == [lane])
        let next = table.next(upTo: 9, at: now).map(\.group.lane.networkID.rawValue)
        #expect(next == ["globex"])
        #expect(table.statuses.map(\.circuit) == [.open, .closed])
        #expect(table.statuses.first?.reason == "quota")
        #expect(table.room == LaneTable.weightInAll)
    }

    @Test func `after the pause one group probes, and success opens the lane for all`() {
        var table = LaneTable()
        let lane = held("acme").group.lane
        _ = table.open(lane, at: now, wallTime: testNow, retryAfter: .seconds(1), reason: "quota")
        let later = now + .seconds(2)
        for _ in 0..<4 { add(held("acme"), to: &table) }
        let probe = table.next(upTo: 9, at: later)
        #expect(probe.count == 1)
        table.succeeded(probe[0].group)
        table.finished(probe[0].group, at: later)
        let rest = table.next(upTo: 9, at: later)
        #expect(rest.count == 3)
    }

    @Test func `what was sent before a pause neither ends it nor lets a second probe go`() {
        var table = LaneTable()
        for _ in 0..<4 { add(held("acme"), to: &table) }
        let early = table.next(upTo: 2, at: now).map(\.group)
        _ = table.open(early[0].lane, at: now, wallTime: testNow, retryAfter: .seconds(1), reason: "quota")
        table.succeeded(early[0])
        #expect(table.statuses.map(\.circuit) == [.open])
        let later = now + .seconds(2)
        for _ in 0..<4 { add(held("acme"), to: &table) }
        let probe = table.next(upTo: 9, at: later)
        #expect(probe.count == 1)
        table.succeeded(early[1])
        for group in early { table.finished(group, at: later) }
        let second = table.next(upTo: 9, at: later)
        #expect(second.isEmpty, "the probe is still on its way")
        table.finished(probe[0].group, at: later)
        let next = table.next(upTo: 9, at: later)
        #expect(next.count == 1, "a probe that told nothing lets the next one try")
    }

    @Test func `a lane that runs dry wants more only while rows are known to wait`() {
        var table = LaneTable()
        let lane = held("acme").group.lane
        #expect(!table.wantsMore(of: lane))
        table.claimed(15, limitPerLane: 16, leavingOutLanes: false)
        #expect(!table.wantsMore(of: lane), "the lane gave all it had")
        table.claimed(16, limitPerLane: 16, leavingOutLanes: false)
        #expect(table.wantsMore(of: lane))
        for _ in 0..<LaneTable.sendsPerLane { add(held("acme"), to: &table) }
        #expect(!table.wantsMore(of: lane), "it has enough for now")
        _ = table.next(upTo: 9, at: now)
        table.claimed(0, limitPerLane: 16, leavingOutLanes: true)
        #expect(table.wantsMore(of: lane), "rows may wait in the lanes that were left out")
        table.claimed(0, limitPerLane: 16, leavingOutLanes: false)
        #expect(!table.wantsMore(of: lane))
        table.overflowed()
        #expect(table.wantsMore(of: lane))
    }

    @Test func `a lost lease is forgotten, a renewed one starts anew`() {
        var table = LaneTable()
        let lost = held("acme")
        add(lost, to: &table)
        add(held("acme"), to: &table)
        let later = now + .seconds(20)
        let asked = Set(table.waiting.map(\.group.id))
        let fresh = held("acme")
        add(fresh, to: &table)
        table.renewed(at: later, asked: asked, held: asked.subtracting([lost.group.id]))
        #expect(table.waiting.map(\.leasedAt) == [later, now], "what came in meanwhile is neither lost nor renewed")
        _ = table.open(lost.group.lane, at: now, wallTime: testNow, retryAfter: nil, reason: "empties the lane")
        add(held("globex"), to: &table)
        #expect(table.room == LaneTable.weightInAll - 17)
    }

    @Test func `a lane whose pause has been over for an hour is forgotten, unless something is in it`() {
        var table = LaneTable()
        let lanes = ["empty", "waiting", "sending"].map { held($0).group.lane }
        for lane in lanes {
            _ = table.open(lane, at: now, wallTime: testNow, retryAfter: .seconds(60), reason: "quota")
        }
        let later = now + .seconds(60)
        add(held("sending"), to: &table)
        let probe = table.next(upTo: 9, at: later)
        #expect(probe.count == 1)
        add(held("waiting"), to: &table)
        table.prune(at: later + .seconds(3599))
        #expect(Set(table.statuses.map(\.lane)) == Set(lanes), "people can see what was wrong")
        table.prune(at: later + .seconds(3600))
        #expect(table.statuses.map(\.lane) == [lanes[2], lanes[1]])
        table.finished(probe[0].group, at: later + .seconds(3600))
        table.prune(at: later + .seconds(3601))
        #expect(table.statuses.count == 2, "its last probe was just now")
    }

    @Test func `of too many paused lanes those are forgotten whose pause ends first`() {
        var table = LaneTable()
        let count = LaneTable.mostPaused + 10
        for number in 0..<count {
            let lane = Lane(networkID: NetworkID(trusted: "acme"), provider: .webhook, appID: "host-\(number)")
            let pause = Duration.seconds(60 + number)
            _ = table.open(lane, at: now, wallTime: testNow, retryAfter: pause, reason: "down")
        }
        add(held("acme"), to: &table)
        table.prune(at: now)
        let left = Set(table.statuses.map(\.lane.appID))
        #expect(left.count == LaneTable.mostPaused + 1)
        #expect(left.isDisjoint(with: (0..<10).map { "host-\($0)" }))
    }

    @Test func `closing gives everything back and lets nothing go`() {
        var table = LaneTable()
        for _ in 0..<3 { add(held("acme"), to: &table) }
        let given = table.close()
        #expect(given.count == 3)
        let next = table.next(upTo: 9, at: now)
        #expect(next.isEmpty)
        #expect(table.room == 0)
        let added = table.add(held("acme"))
        let filled = table.fill(held("acme"))
        #expect(!added && !filled, "what comes too late is its giver's")
    }
}
