import CarillonCore
import CarillonTesting
import Postgres
import Testing

/// What ``LaneStore`` promises, and ``OutcomeLog`` of what lanes report.
@Suite(.stores) struct LaneStoreTests {
    let scene = StoreScene.here

    private func lane(_ scene: StoreScene, _ app: String = "app") -> Lane {
        Lane(networkID: scene.network, provider: .fcm, appID: app)
    }

    @Test func `each pause is twice the last one, until something went through`() async throws {
        let lane = lane(scene)
        var lengths: [Duration] = []
        for turn in 0..<3 {
            let change = LaneChange.pause(for: turn == 0 ? .zero : nil, reason: "down")
            let said = try await scene.queue.apply(change, to: LaneSelection(lane))
            lengths.append(try #require(said.lanes[lane]?.nextPause))
            _ = try await scene.queue.apply(.pause(for: .zero, reason: "down"), to: LaneSelection(lane))
            if turn == 1 { _ = try await scene.queue.apply(.resume, to: LaneSelection(lane)) }
        }
        #expect(lengths == [.seconds(15), .seconds(30), .seconds(30)])
    }

    @Test func `what is said during a pause only makes it longer`() async throws {
        let lane = lane(scene)
        _ = try await scene.queue.apply(.pause(for: .seconds(60), reason: "first"), to: LaneSelection(lane))
        let shorter = try await scene.queue.apply(.pause(for: .seconds(5), reason: "late"), to: LaneSelection(lane))
        let remaining = try #require(shorter.lanes[lane]?.remainingPause(at: shorter.moment))
        #expect(remaining > .seconds(30))
        let longer = try await scene.queue.apply(.pause(for: .seconds(600), reason: "late"), to: LaneSelection(lane))
        #expect(try #require(longer.lanes[lane]?.remainingPause(at: longer.moment)) > .seconds(500))
        #expect(longer.lanes[lane]?.pause?.reason == "first")
    }

    @Test func `a circuit whose time is over is tried by one, and is open meanwhile`() async throws {
        let endpoint = Lane("e-1", in: scene.network)
        let selection = LaneSelection(endpoint)
        let well = try await scene.queue.apply(.trying, to: selection)
        #expect(well.changed.isEmpty && well.lanes.isEmpty)
        #expect(try await scene.queue.laneConditions(of: nil).lanes.isEmpty)
        let opened = try await scene.queue.apply(.failing(reason: "timeout"), to: selection)
        #expect(opened.changed == [endpoint])
        #expect(try await scene.queue.apply(.trying, to: selection).changed.isEmpty, "its time is not over")
        _ = try await scene.queue.apply(.resume, to: selection)
        _ = try await scene.queue.apply(.pause(for: .zero, reason: "timeout"), to: selection)
        let first = try await scene.queue.apply(.trying, to: selection)
        let remaining = try #require(first.lanes[endpoint]?.remainingPause(at: first.moment))
        #expect(first.changed == [endpoint] && remaining == .seconds(30))
        #expect(first.lanes[endpoint]?.pause?.reason == "timeout")
        #expect(try await scene.queue.apply(.trying, to: selection).changed.isEmpty, "somebody else tries it")
        let resumed = try await scene.queue.apply(.resume, to: selection)
        #expect(resumed.changed == [endpoint] && resumed.lanes[endpoint]?.pause == nil)
    }

    @Test func `a lane whose pause is over is tried by one, and is paused meanwhile`() async throws {
        let lane = lane(scene)
        let selection = LaneSelection(lane)
        #expect(try await scene.queue.apply(.probing, to: selection).lanes.isEmpty, "it is well")
        _ = try await scene.queue.apply(.pause(for: .zero, reason: "down"), to: selection)
        let tries = try await inParallel(4) { _ in
            try await scene.queue.apply(.probing, to: selection).changed.contains(lane)
        }
        #expect(tries.count(where: \.self) == 1)
        let failed = try await scene.queue.apply(.stillFailing(for: nil, reason: "down still"), to: selection)
        let remaining = try #require(failed.lanes[lane]?.remainingPause(at: failed.moment))
        #expect(remaining > .seconds(15) && remaining <= LaneCondition.trialTime)
        #expect(failed.lanes[lane]?.pause?.reason == "down still")
        #expect(failed.lanes[lane]?.nextPause == .seconds(30))
    }

    @Test func `many lanes are changed at one moment, each by what happened to it`() async throws {
        let lanes = (0..<5).map { Lane(networkID: scene.network, provider: .fcm, appID: "app-\($0)") }
        let first = try await scene.queue.apply([
            ChangedLane(lanes[0], .pause(for: .seconds(60), reason: "429")),
            ChangedLane(lanes[1], .pause(for: .zero, reason: "down")),
            ChangedLane(lanes[2], .pause(for: .seconds(60), reason: "403")),
            ChangedLane(lanes[2], .resume),
            ChangedLane(lanes[3], .resume),
            ChangedLane(lanes[4], .probing),
        ])
        #expect(first.lanes[lanes[0]]?.remainingPause(at: first.moment) == .seconds(60))
        #expect(first.lanes[lanes[2]]?.pause == nil, "they come one after the other")
        #expect(first.lanes[lanes[3]] == nil && first.lanes[lanes[4]] == nil, "they are well")
        let known = try await scene.queue.laneConditions(of: scene.network).lanes
        #expect(Set(known.keys).isSuperset(of: lanes.prefix(2)) && known[lanes[1]]?.pause?.reason == "down")
        #expect(known[lanes[2]]?.pause == nil && known[lanes[3]] == nil)
        let second = try await scene.queue.apply(lanes.map { ChangedLane($0, .probing) })
        #expect(second.changed == [lanes[1]], "the only one whose pause is over")
        try await scene.queue.makeDue(lanes)
    }

    @Test func `what the brake holds waits for its time, though its lane works again`() async throws {
        for reason in ["credential", "brake: 60 of 70 devices reported as gone"] {
            try await scene.enqueue(to: [[try await scene.target(DeviceID(trusted: reason), of: "b")]])
            let groups = try await scene.claim().map(\.group)
            try await scene.queue.release(groups, after: DoubtfulReports.wait, laneReason: reason)
        }
        try await scene.queue.makeDue([lane(scene)])
        let due = try await scene.claim().map(\.group)
        #expect(due.flatMap(\.targets).map(\.deviceID) == ["credential"])
        // An admin who lets go of it, or has another credential used, has all of it tried.
        try await scene.queue.makeDue(LaneSelection(lane(scene)), excluding: [])
        #expect(try await scene.claim().count == 1)
    }

    @Test func `another network's lanes stay as they are`() async throws {
        let theirs = scene.inOtherNetwork()
        for scene in [scene, theirs] {
            _ = try await scene.queue.apply(.pause(for: .seconds(60), reason: "x"), to: LaneSelection(lane(scene)))
        }
        let all = LaneSelection(networkID: scene.network, provider: .fcm, appID: nil)
        #expect(try await scene.queue.apply(.resume, to: all).lanes.keys.map(\.networkID) == [scene.network])
        #expect(try await scene.queue.laneConditions(of: nil).lanes.keys.map(\.networkID) == [theirs.network])
    }

    @Test func `what waits for lanes is made due, but for paused ones`() async throws {
        for app in ["paused", "works"] {
            try await scene.enqueue(to: [[try await scene.target("d-\(app)", of: "b", app: app)]], app: app)
        }
        let groups = try await scene.claim(limit: 9, perLane: 9).map(\.group)
        try await scene.queue.release(groups, after: .seconds(600), laneReason: "credential")
        let all = LaneSelection(networkID: scene.network, provider: .fcm, appID: nil)
        try await scene.queue.makeDue(all, excluding: [lane(scene, "paused")])
        #expect(try await scene.claim(limit: 9, perLane: 9).map(\.group.lane.appID) == ["works"])
        try await scene.queue.makeDue(all)
        #expect(try await scene.claim(limit: 9, perLane: 9).map(\.group.lane.appID) == ["paused"])
    }

    /// Settles groups in which the first devices are gone and the others are delivered to.
    @discardableResult
    private func settle(
        _ scene: StoreScene,
        gone: Int,
        delivered: Int = 0,
        from start: Int = 0
    ) async throws -> LaneCondition? {
        var targets: [Target] = []
        for number in start..<(start + gone + delivered) {
            targets.append(try await scene.target(DeviceID(trusted: "d\(number)"), of: "b"))
        }
        try await scene.enqueue(to: [targets])
        let group = try await scene.claimOne()
        let effect = DeviceEffect.unregister(ifRegisteredBefore: .seconds(1), error: "gone")
        var settlement = Settlement(group: group, records: [], remainders: [])
        settlement.records = targets.prefix(gone).map { $0.record(.unregistered, effect: effect) }
        settlement.records += targets.dropFirst(gone).map { $0.record(.delivered) }
        var answers = DeviceReports.Answers()
        answers.gone = targets.prefix(gone).map(\.deviceID)
        answers.delivered = targets.dropFirst(gone).map(\.deviceID)
        settlement.answers = answers
        return try await scene.queue.settle([settlement]).lanes[lane(scene)]
    }

    private func states(_ scene: StoreScene, _ range: Range<Int>) async throws -> Set<DeviceState> {
        var states: Set<DeviceState> = []
        for number in range {
            let device = try await scene.devices.device(DeviceID(trusted: "d\(number)"), in: scene.network)
            states.insert(try #require(device).state)
        }
        return states
    }

    @Test func `reports of many devices as gone turn the brake on, and unregister none`() async throws {
        #expect(try await settle(scene, gone: 15)?.brakedSince == nil)
        let condition = try #require(try await settle(scene, gone: 10, from: 15))
        #expect(condition.brakedSince != nil)
        #expect(condition.reports.gone == 25)
        #expect(try await states(scene, 15..<25) == [.active])
        #expect(condition.undo != nil, "the first fifteen are to be taken back")
        #expect(try await scene.queue.laneConditions(of: scene.network).lanes[lane(scene)] == condition)
    }

    @Test func `some devices among many that are delivered to are unregistered`() async throws {
        #expect(try await settle(scene, gone: 30, delivered: 200)?.brakedSince == nil)
        #expect(try await states(scene, 0..<30) == [.unregistered])
        #expect(try await states(scene, 30..<40) == [.active])
    }

    @Test func `only other devices that are delivered to, each once, turn the brake off`() async throws {
        #expect(try await settle(scene, gone: 20)?.brakedSince != nil)
        for _ in 0..<3 {
            let condition = try await settle(scene, gone: 0, delivered: 40, from: 100)
            #expect(condition?.brakedSince != nil, "the same forty prove no more than once")
        }
        let off = try #require(try await settle(scene, gone: 0, delivered: 40, from: 140))
        #expect(off.brakedSince == nil)
        #expect(try await settle(scene, gone: 5, from: 300)?.brakedSince == nil)
        #expect(try await states(scene, 300..<305) == [.unregistered])
    }

    @Test func `devices that were reported and are delivered to again turn the brake off, however few the lane has`()
        async throws
    {
        try await settle(scene, gone: 15)
        let on = try #require(try await settle(scene, gone: 10, from: 15))
        #expect(on.brakedSince != nil)
        let lane = lane(scene)
        let undo = try #require(on.undo)
        let restored = try await scene.devices.restoreDevices(
            lane.provider,
            appID: lane.appID,
            since: undo.since,
            until: undo.until + .seconds(1),
            in: scene.network
        )
        #expect(restored == 15)
        let some = try #require(try await settle(scene, gone: 0, delivered: 19))
        #expect(some.reports.gone == 6 && some.reports.delivered == 19)
        #expect(some.brakedSince != nil)
        #expect(try await settle(scene, gone: 0, delivered: 1, from: 19)?.brakedSince == nil, "twenty of twenty-five")
    }

    @Test func `of a large lane a sample says whether its devices are gone`() async throws {
        #expect(try await settle(scene, gone: 50)?.brakedSince != nil)
        let lane = lane(scene)
        // Many more have answered than are remembered, a third of them as gone.
        try await scene.pool.execute(
            """
            INSERT INTO lane_reports (network_id, provider, app_id, device_id, is_gone)
            SELECT \(lane.networkID.rawValue), \(lane.provider.rawValue), \(lane.appID), 'other-' || n, n % 3 = 0
            FROM generate_series(1, 30000) n
            """
        )
        let mostly = try #require(try await settle(scene, gone: 1, delivered: 1, from: 100))
        #expect(mostly.brakedSince != nil)
        #expect(mostly.reports.part == 4)
        let stored: Int? = try await scene.pool.first("SELECT count(*) FROM lane_reports")
        #expect(try #require(stored) * 4 == mostly.reports.gone + mostly.reports.delivered)
        #expect(try #require(stored) <= 10_000)
        #expect((9_000...11_100).contains(mostly.reports.gone))
        // All but a few of them are delivered to after all.
        try await scene.pool.execute("UPDATE lane_reports SET is_gone = false WHERE device_id <> 'other-3'")
        #expect(try await settle(scene, gone: 1, delivered: 1, from: 102)?.brakedSince == nil)
        #expect(try await scene.pool.first("SELECT count(*) FROM lane_reports", as: Int.self) == 0)
    }

    @Test func `a brake that was let go believes everything until its time is over`() async throws {
        let lane = LaneSelection(lane(scene))
        _ = try await scene.queue.apply(.believe(until: WallClock.system.now() + .seconds(600)), to: lane)
        #expect(try await settle(scene, gone: 30)?.brakedSince == nil)
        #expect(try await states(scene, 0..<30) == [.unregistered])
        _ = try await scene.queue.apply(.believe(until: WallClock.system.now() - .seconds(600)), to: lane)
        #expect(try await settle(scene, gone: 30, from: 50)?.brakedSince != nil)
    }

    @Test func `a new credential begins anew, and has the former one's reports undone`() async throws {
        let lane = lane(scene)
        try await settle(scene, gone: 20)
        _ = try await scene.queue.apply(.pause(for: .seconds(60), reason: "brake"), to: LaneSelection(lane))
        let all = LaneSelection(networkID: scene.network, provider: .fcm, appID: nil)
        let changed = try #require(try await scene.queue.apply(.credentialChanged, to: all).lanes[lane])
        #expect(changed.brakedSince == nil)
        #expect(changed.pause == nil)
        let undo = try #require(changed.undo)
        #expect(undo.since < undo.until)
        let done = try await scene.queue.apply(.undone(until: undo.until), to: LaneSelection(lane))
        #expect(done.lanes[lane]?.undo == nil)
        #expect(try await scene.queue.laneConditions(of: scene.network).lanes.isEmpty)
    }
}
