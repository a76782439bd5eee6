import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// What is read of lanes while they change: a reading that began before a change was written must not undo it.
@Suite(.stores, .timeLimit(.minutes(1))) struct LaneReadingTests {
    /// A store whose readings can be held back after they were made.
    private final class SlowStore: LaneStore {
        private let store: any LaneStore
        let isHeld = Flag(false)
        let isReading = Flag(false)

        init(_ store: any LaneStore) { self.store = store }

        func laneConditions(of network: NetworkID?) async throws -> LaneConditions {
            let conditions = try await store.laneConditions(of: network)
            guard isHeld.isSet else { return conditions }
            isReading.set()
            try await waitUntil { !isHeld.isSet }
            return conditions
        }

        func apply(_ change: LaneChange, to lanes: LaneSelection) async throws -> LaneConditions {
            try await store.apply(change, to: lanes)
        }

        func apply(_ changes: [ChangedLane]) async throws -> LaneConditions { try await store.apply(changes) }

        func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws {
            try await store.makeDue(lanes, excluding: paused)
        }

        func makeDue(_ lanes: [Lane]) async throws { try await store.makeDue(lanes) }
    }

    private let lane = Lane(networkID: NetworkID(trusted: "acme"), provider: .fcm, appID: "app")
    private let store = SlowStore(StoreScene.here.queue)

    private func health() -> LaneHealth {
        let sending = SendingQueue(claims: StoreScene.here.queue, logger: TestDatabase.logger)
        return LaneHealth(store: store, devices: StoreScene.here.devices, queue: sending, logger: TestDatabase.logger)
    }

    @Test func `a pause that was written while the store was read holds`() async throws {
        let health = health()
        store.isHeld.set()
        let reading = Task { await health.learn() }
        try await waitUntil { store.isReading.isSet }
        _ = health.pause(lane, for: .seconds(60), reason: "down", at: WallClock.system.now())
        // Writes what is known so far before it asks.
        #expect(await health.takeTrial(of: Lane(networkID: lane.networkID, provider: .fcm, appID: "other")))
        #expect(try await StoreScene.here.queue.laneConditions(of: nil).lanes[lane]?.pause != nil)
        store.isHeld.clear()
        await reading.value
        #expect(health.condition(of: lane)?.pause?.reason == "down")
    }

    @Test func `what others wrote while a lane was changed here is learnt once that is written`() async throws {
        let health = health()
        store.isHeld.set()
        let running = Task { try await health.run() }
        defer { running.cancel() }
        try await waitUntil { store.isReading.isSet }
        _ = health.pause(lane, for: .seconds(60), reason: "down", at: WallClock.system.now())
        await health.credentialConfirmed(LaneSelection(lane))
        #expect(health.condition(of: lane)?.pause == nil)
        _ = try await StoreScene.here.queue.apply([ChangedLane(lane, .pause(for: .seconds(60), reason: "elsewhere"))])
        store.isHeld.clear()
        _ = try await eventually { health.condition(of: lane)?.pause?.reason == "elsewhere" ? true : nil }
    }

    @Test func `what a settle says of a lane undoes no resumption that is not written yet`() throws {
        let health = health()
        _ = health.pause(lane, for: .seconds(60), reason: "down", at: WallClock.system.now())
        let paused = try #require(health.condition(of: lane))
        health.resume(lane, at: WallClock.system.now())
        health.learn([lane: paused])
        #expect(health.condition(of: lane)?.pause == nil)
    }

    @Test func `the queue hears of a pause before it hears of what ends it`() {
        let queue = SendingQueue(claims: ScriptedClaims(), logger: TestDatabase.logger)
        let known = Mutex<LaneHealth?>(nil)
        let log = CollectedLog { [lane] in known.withLock(\.self)?.resume(lane, at: WallClock.system.now()) }
        let health = LaneHealth(store: store, devices: StoreScene.here.devices, queue: queue, logger: log.logger)
        known.withLock { $0 = health }
        // It is ended as soon as it is told of.
        _ = health.pause(lane, for: .seconds(60), reason: "down", at: WallClock.system.now())
        #expect(health.condition(of: lane)?.pause == nil)
        #expect(queue.isSending(lane))
    }

    @Test func `of overlapping readings those that began after a write count`() {
        var changes = LaneChanges()
        let early = changes.beginReading()
        changes.append(ChangedLane(lane, .resume))
        let between = changes.beginReading()
        #expect(changes.endReading(between, of: [lane]) == ([], []))
        changes.wrote(first: 1)
        let late = changes.beginReading()
        #expect(changes.endReading(late, of: [lane]) == ([lane], []))
        #expect(changes.endReading(early, of: [lane]) == ([], [lane]))
        #expect(changes.count == 0)
    }

    @Test func `changes beyond the limit are not kept`() {
        var changes = LaneChanges()
        for _ in 0...LaneChanges.limit { changes.append(ChangedLane(lane, .resume)) }
        #expect(changes.count == LaneChanges.limit)
    }
}
