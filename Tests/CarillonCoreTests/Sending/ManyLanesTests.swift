import CarillonTesting
import Testing

@testable import CarillonCore

/// What a network with thousands of lanes costs the database that all share: counted in transactions.
@Suite(.stores, .timeLimit(.minutes(1))) struct ManyLanesTests {
    private let queue = WatchedQueue(StoreScene.here.queue)
    private let lanes = (0..<2_000).map {
        Lane(networkID: NetworkID(trusted: "acme"), provider: .fcm, appID: "app-\($0)")
    }

    private func keeper() -> LaneKeeper {
        let sending = SendingQueue(claims: queue, logger: TestDatabase.logger)
        return LaneKeeper(book: queue, devices: StoreScene.here.devices, queue: sending, logger: TestDatabase.logger)
    }

    private func paused() async throws -> Int {
        try await queue.laneConditions(of: nil).lanes.values.count { $0.pause != nil }
    }

    @Test func `lanes that are paused together are written together`() async throws {
        let keeper = keeper()
        for lane in lanes { _ = keeper.pause(lane, for: nil, reason: "no credential", at: WallClock.system.now()) }
        let running = Task { try await keeper.run() }
        defer { running.cancel() }
        _ = try await eventually { try await self.paused() == self.lanes.count ? true : nil }
        #expect(queue.laneChanges.reduce(0, +) == lanes.count)
        #expect(queue.laneChanges.count <= 4)
    }

    @Test func `lanes whose pauses end together are tried and resumed together`() async throws {
        let keeper = keeper()
        _ = try await queue.apply(lanes.map { ChangedLane($0, .pause(for: .zero, reason: "no credential")) })
        await keeper.learn()
        let before = queue.laneChanges.count
        let tried = try await withThrowingTaskGroup(of: Bool.self) { [lanes] tasks in
            for lane in lanes { tasks.addTask { await keeper.takeTrial(of: lane) } }
            return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(tried == lanes.count)
        #expect(queue.laneChanges.count - before <= lanes.count / 20)
        for lane in lanes { keeper.resume(lane, at: WallClock.system.now()) }
        let running = Task { try await keeper.run() }
        defer { running.cancel() }
        _ = try await eventually { try await self.paused() == 0 ? true : nil }
        _ = try await eventually { self.queue.madeDueTogether.reduce(0, +) >= self.lanes.count ? true : nil }
        #expect(queue.madeDueTogether.first == 500 && queue.madeDueTogether.count <= 100)
    }

    @Test func `of those who would try a lane at the same time one does`() async throws {
        let keeper = keeper()
        _ = try await queue.apply([ChangedLane(lanes[0], .pause(for: .zero, reason: "down"))])
        await keeper.learn()
        let tries = try await withThrowingTaskGroup(of: Bool.self) { [lanes] tasks in
            for _ in 0..<50 { tasks.addTask { await keeper.takeTrial(of: lanes[0]) } }
            return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(tries == 1)
    }
}
