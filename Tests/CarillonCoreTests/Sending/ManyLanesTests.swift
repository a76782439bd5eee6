import CarillonTesting
import Testing

@testable import CarillonCore

/// What a network with thousands of lanes costs the database that all share: counted in transactions.
@Suite(.stores, .timeLimit(.minutes(1))) struct ManyLanesTests {
    private let queue = WatchedQueue(StoreScene.here.queue)
    private let lanes = (0..<2_000).map {
        Lane(networkID: "acme", provider: .fcm, appID: "app-\($0)")
    }

    private func health() -> LaneHealth {
        let sending = SendingQueue(claims: queue, logger: TestDatabase.logger)
        return LaneHealth(store: queue, devices: StoreScene.here.devices, queue: sending, logger: TestDatabase.logger)
    }

    private func paused() async throws -> Int {
        try await queue.laneConditions(of: nil).lanes.values.count { $0.pause != nil }
    }

    @Test func `lanes that are paused together are written together`() async throws {
        let health = health()
        for lane in lanes { _ = health.pause(lane, for: nil, reason: "no credential", at: WallClock.system.now()) }
        let running = Task { try await health.run() }
        defer { running.cancel() }
        try await eventually { try await self.paused() == self.lanes.count }
        #expect(queue.laneChanges.reduce(0, +) == lanes.count)
        #expect(queue.laneChanges.count <= 4)
    }

    @Test func `lanes whose pauses end together are tried and resumed together`() async throws {
        let health = health()
        _ = try await queue.apply(lanes.map { ChangedLane($0, .pause(for: .zero, reason: "no credential")) })
        await health.learn()
        let before = queue.laneChanges.count
        let tried = try await withThrowingTaskGroup(of: Bool.self) { [lanes] tasks in
            for lane in lanes { tasks.addTask { await health.takeTrial(of: lane) } }
            return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(tried == lanes.count)
        #expect(queue.laneChanges.count - before <= lanes.count / 20)
        for lane in lanes { health.resume(lane, at: WallClock.system.now()) }
        let running = Task { try await health.run() }
        defer { running.cancel() }
        try await eventually { try await self.paused() == 0 }
        try await eventually { self.queue.madeDueTogether.reduce(0, +) >= self.lanes.count }
        #expect(queue.madeDueTogether.first == 500 && queue.madeDueTogether.count <= 100)
    }

    @Test func `of those who would try a lane at the same time one does`() async throws {
        let health = health()
        _ = try await queue.apply([ChangedLane(lanes[0], .pause(for: .zero, reason: "down"))])
        await health.learn()
        let tries = try await withThrowingTaskGroup(of: Bool.self) { [lanes] tasks in
            for _ in 0..<50 { tasks.addTask { await health.takeTrial(of: lanes[0]) } }
            return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(tries == 1)
    }
}

/// Small groups are most of what is sent: were each as much as a large one, eight devices would be sent to at a time.
@Suite struct GroupSlotsTests {
    @Test(
        arguments: [
            (ProviderName.apns, 1, 256), (.fcm, 4, 128), (.webpush, 9, 86), (.apns, 96, 8), (.apns, 500, 8),
            (.webhook, 1, 8), (.log, 1, 256), (.relay, 1, 32),
        ]
    )
    func `as many groups of a lane are sent at a time as one connection carries`(
        _ provider: ProviderName,
        _ devices: Int,
        _ groups: Int
    ) {
        var group = DeliveryGroup.test((0..<devices).map { .test("device \($0)") }, provider: provider)
        if group.lane.endpoint != nil { group.payload = .messages(RelayTerms(expiresAt: testNow)) }
        var queue = FairQueue<NetworkID, Lane, Int>(limits: .sending)
        for item in 0..<300 {
            _ = queue.reserve(1, of: group.lane.networkID, in: group.lane, at: .now)
            _ = queue.fill(item, weight: 1, slots: group.slots, of: group.lane.networkID, in: group.lane, at: .now)
        }
        #expect(queue.next(upTo: 1_000, at: .now).count == groups)
    }
}
