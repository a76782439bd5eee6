import CarillonTesting
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
            wrappingOutcomes: { HeldUpOutcomes($0, holdUp) }
        ) { scene in
            let id = try await scene.post()
            let status = try await scene.finished(id)
            holdUp.end()
            #expect(status.deliveries[.delivered] == 2)
        }
    }
}

/// What, once armed, lets the next one wait until it is told to go on, or until half a second has passed.
private final class HoldUp: Sendable {
    private enum State { case idle, armed, reached }

    private let state = Mutex(State.idle)
    private let released = DispatchSemaphore(value: 0)

    var isReached: Bool { state.withLock { $0 == .reached } }

    func pass() {
        let isMeant = state.withLock { state in
            guard state == .armed else { return false }
            state = .reached
            return true
        }
        if isMeant { _ = released.wait(timeout: .now() + .milliseconds(500)) }
    }

    func arm() { state.withLock { $0 = .armed } }

    func end() { released.signal() }
}

/// Outcomes of which the next page is held up.
private struct HeldUpOutcomes: OutcomeSink {
    let outcomes: OutcomeIntake
    let holdUp: HoldUp

    init(_ outcomes: OutcomeIntake, _ holdUp: HoldUp) {
        self.outcomes = outcomes
        self.holdUp = holdUp
    }

    func take(_ page: SendPage) {
        holdUp.pass()
        outcomes.take(page)
    }

    func submit(_ settlement: Settlement) { outcomes.submit(settlement) }
    var groups: [DeliveryGroup] { outcomes.groups }
    var isBehind: Bool { outcomes.isBehind }
    var writeTime: Duration { outcomes.writeTime }
    func hasAbandoned(_ group: DeliveryGroup) -> Bool { outcomes.hasAbandoned(group) }
    func forget(_ group: DeliveryGroup) { outcomes.forget(group) }
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
            while index == 0, !firstPageIsTaken.isReached { try? await Task.sleep(for: .milliseconds(1)) }
        }
    }
}
