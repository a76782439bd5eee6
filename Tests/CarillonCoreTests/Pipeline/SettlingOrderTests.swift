import Dispatch
import Synchronization
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct SettlingOrderTests {
    /// The page that is taken while a group is being sent is held up between its taking and its settling, for as long as
    /// the last page would need to overtake it. Overtaken, it finds the group ended, and its outcomes are lost.
    @Test func `the last page of a group does not overtake the one before`() async throws {
        let holdUp = HoldUp()
        let provider = TwoPages(firstPageIsTaken: holdUp)
        try await PipelineScene.run(
            members: 2,
            providers: [provider],
            settleInterval: .milliseconds(1),
            dispatcherClock: holdUp.clock
        ) { scene in
            let id = try await scene.post()
            let status = try await scene.finished(id)
            holdUp.end()
            #expect(status.deliveries[.delivered] == 2)
        }
    }
}

/// A clock that, once armed, lets its next reader wait until it is told to go on, or until half a second has passed.
private final class HoldUp: Sendable {
    private enum State { case idle, armed, reached }

    private let state = Mutex(State.idle)
    private let released = DispatchSemaphore(value: 0)

    var isReached: Bool { state.withLock { $0 == .reached } }

    var clock: WallClock {
        WallClock { [self] in
            let isMeant = state.withLock { state in
                guard state == .armed else { return false }
                state = .reached
                return true
            }
            if isMeant { _ = released.wait(timeout: .now() + .milliseconds(500)) }
            return WallClock.system.now()
        }
    }

    func arm() { state.withLock { $0 = .armed } }

    func end() { released.signal() }
}

/// Reports one device, and the others when the page with the first one has been taken.
private struct TwoPages: Provider {
    let name = ProviderName.log
    let deadline = Duration.seconds(5)
    let firstPageIsTaken: HoldUp

    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        for (index, target) in group.targets.enumerated() {
            if index == 0 { firstPageIsTaken.arm() }
            report(target, .delivered(id: nil))
            while index == 0, !firstPageIsTaken.isReached { await Task.yield() }
        }
    }
}
