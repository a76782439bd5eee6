import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// What happens to lanes while it cannot be written.
@Suite(.stores, .timeLimit(.minutes(1))) struct LaneWritingTests {
    /// A store that some changes cannot be written in.
    private final class FailingStore: LaneStore {
        private struct NeverWritten: TransientError {
            var isTransient: Bool { false }
        }

        private let store: any LaneStore
        private let refused: Lane?
        private let state = Mutex((isAway: false, failures: 0))

        init(_ store: any LaneStore, refusing refused: Lane? = nil, isAway: Bool = false) {
            self.store = store
            self.refused = refused
            state.withLock { $0.isAway = isAway }
        }

        /// How often it could not be written because it was away.
        var failures: Int { state.withLock(\.failures) }

        func comeBack() { state.withLock { $0.isAway = false } }

        func apply(_ changes: [ChangedLane]) async throws -> LaneConditions {
            try state.withLock { state in
                guard state.isAway else { return }
                state.failures += 1
                throw StoreAway()
            }
            if changes.contains(where: { $0.lane == refused }) { throw NeverWritten() }
            return try await store.apply(changes)
        }

        func laneConditions(of network: NetworkID?) async throws -> LaneConditions {
            try await store.laneConditions(of: network)
        }

        func apply(_ change: LaneChange, to lanes: LaneSelection) async throws -> LaneConditions {
            try await store.apply(change, to: lanes)
        }

        func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws {
            try await store.makeDue(lanes, excluding: paused)
        }

        func makeDue(_ lanes: [Lane]) async throws { try await store.makeDue(lanes) }
    }

    private let lanes = (0..<3).map { Lane(networkID: "acme", provider: .fcm, appID: "app-\($0)") }

    private func health(of store: FailingStore) -> LaneHealth {
        let sending = SendingQueue(claims: StoreScene.here.queue, logger: TestDatabase.logger)
        return LaneHealth(store: store, devices: StoreScene.here.devices, queue: sending, logger: TestDatabase.logger)
    }

    private func written() async throws -> Set<Lane> {
        Set(try await StoreScene.here.queue.laneConditions(of: nil).lanes.filter { $1.pause != nil }.keys)
    }

    @Test func `what could not be written is written when it can be, without anything else happening`() async throws {
        let store = FailingStore(StoreScene.here.queue, isAway: true)
        let health = health(of: store)
        let running = Task { try await health.run() }
        defer { running.cancel() }
        _ = health.pause(lanes[0], for: .seconds(600), reason: "down", at: WallClock.system.now())
        try await eventually { store.failures > 0 }
        store.comeBack()
        try await eventually { try await written() == [lanes[0]] }
    }

    @Test func `a change that can never be written keeps no other from being written`() async throws {
        let health = health(of: FailingStore(StoreScene.here.queue, refusing: lanes[1]))
        for lane in lanes { _ = health.pause(lane, for: .seconds(600), reason: "down", at: WallClock.system.now()) }
        // Writes what is known so far before it asks.
        _ = await health.takeTrial(of: Lane(networkID: "acme", provider: .fcm, appID: "other"))
        #expect(try await written() == [lanes[0], lanes[2]])
    }
}
