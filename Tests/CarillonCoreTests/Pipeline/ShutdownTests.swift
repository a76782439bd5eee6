import CarillonTesting
import Dispatch
import ServiceLifecycle
import Synchronization
import Testing

@testable import CarillonCore

@Suite(.timeLimit(.minutes(1))) struct ShutdownTests {
    @Test func `outcomes are written down while a shutdown waits for the rest of a group`() async throws {
        let provider = ReportsOneAtShutdown()
        try await PipelineScene.run(members: 2, providers: [provider], settleInterval: .milliseconds(5)) { scene in
            let id = try await scene.post()
            _ = try await eventually { provider.isSending.isSet ? nil : true }
            scene.beginShutdown()
            _ = try await eventually {
                try await scene.store.history.event(id, in: scene.network)?.deliveries[.delivered] == 1 ? true : nil
            }
            provider.mayEnd.clear()
        }
    }

    @Test(.stores)
    func `what is not begun at a shutdown is given back, and what is known of the rest is kept`() async throws {
        let stuck = StuckAfterOne()
        let first = try PipelineScene(store: .here, providers: [stuck], settleInterval: .seconds(3600))
        try await first.populate(members: 2)
        let accepted = AcceptedIDs()
        try await first.whileRunning {
            accepted.add(try await first.post())
            _ = try await eventually { stuck.isStuck.isSet ? nil : true }
        }
        let id = try #require(accepted.all.first)
        #expect(try await first.store.history.event(id, in: first.network)?.deliveries[.delivered] == 1)
        let second = try PipelineScene(store: .here)
        try await second.whileRunning {
            let status = try await second.finished(id)
            #expect(status.deliveries[.delivered] == 2)
        }
        #expect(second.provider.devices.count == 1, "the one that was not known to be delivered")
    }
}

/// Reports one device when a shutdown has begun, and the others when it is told to.
private struct ReportsOneAtShutdown: Provider {
    let name = ProviderName.log
    let deadline = Duration.seconds(5)
    let isSending = Flag(true)
    let mayEnd = Flag(true)

    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        isSending.clear()
        while !Task.isShuttingDownGracefully { try? await Task.sleep(for: .milliseconds(1)) }
        for target in group.targets {
            report(target, .delivered(id: nil))
            while mayEnd.isSet { try? await Task.sleep(for: .milliseconds(1)) }
        }
    }
}

/// Reports one device, then hangs until it is cancelled.
private struct StuckAfterOne: Provider {
    let name = ProviderName.log
    let deadline = Duration.seconds(5)
    let isStuck = Flag(true)

    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        report(group.targets[0], .delivered(id: nil))
        isStuck.clear()
        try? await Task.sleep(for: .seconds(3600))
    }
}

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
