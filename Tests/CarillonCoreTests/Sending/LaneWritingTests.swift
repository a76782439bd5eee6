import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// What happens to lanes while it cannot be written.
@Suite(.stores, .timeLimit(.minutes(1))) struct LaneWritingTests {
    /// A book that some changes cannot be written in.
    private final class FailingBook: LaneBook {
        private struct NeverWritten: TransientError {
            var isTransient: Bool { false }
        }

        private let book: any LaneBook
        private let refused: Lane?
        private let state = Mutex((isAway: false, failures: 0))

        init(_ book: any LaneBook, refusing refused: Lane? = nil, isAway: Bool = false) {
            self.book = book
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
            return try await book.apply(changes)
        }

        func laneConditions(of network: NetworkID?) async throws -> LaneConditions {
            try await book.laneConditions(of: network)
        }

        func apply(_ change: LaneChange, to lanes: LaneSelection) async throws -> LaneConditions {
            try await book.apply(change, to: lanes)
        }

        func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws {
            try await book.makeDue(lanes, excluding: paused)
        }

        func makeDue(_ lanes: [Lane]) async throws { try await book.makeDue(lanes) }
    }

    private let lanes = (0..<3).map { Lane(networkID: "acme", provider: .fcm, appID: "app-\($0)") }

    private func keeper(of book: FailingBook) -> LaneKeeper {
        let sending = SendingQueue(claims: StoreScene.here.queue, logger: TestDatabase.logger)
        return LaneKeeper(book: book, devices: StoreScene.here.devices, queue: sending, logger: TestDatabase.logger)
    }

    private func written() async throws -> Set<Lane> {
        Set(try await StoreScene.here.queue.laneConditions(of: nil).lanes.filter { $1.pause != nil }.keys)
    }

    @Test func `what could not be written is written when it can be, without anything else happening`() async throws {
        let book = FailingBook(StoreScene.here.queue, isAway: true)
        let keeper = keeper(of: book)
        let running = Task { try await keeper.run() }
        defer { running.cancel() }
        _ = keeper.pause(lanes[0], for: .seconds(600), reason: "down", at: WallClock.system.now())
        try await eventually { book.failures > 0 }
        book.comeBack()
        try await eventually { try await written() == [lanes[0]] }
    }

    @Test func `a change that can never be written keeps no other from being written`() async throws {
        let keeper = keeper(of: FailingBook(StoreScene.here.queue, refusing: lanes[1]))
        for lane in lanes { _ = keeper.pause(lane, for: .seconds(600), reason: "down", at: WallClock.system.now()) }
        // Writes what is known so far before it asks.
        _ = await keeper.takeTrial(of: Lane(networkID: "acme", provider: .fcm, appID: "other"))
        #expect(try await written() == [lanes[0], lanes[2]])
    }
}
