import Synchronization

/// Collects what a provider reports of one group, for the settles while it is being sent and the one at the end.
final class SendLedger: Sendable {
    /// What was reported since the last look.
    struct Page {
        var outcomes: [(target: Target, outcome: Outcome)]
        /// What has not been reported yet.
        var unreported: [Target]
    }

    private struct State {
        var unreported: [DeviceID: Target]
        var outcomes: [(target: Target, outcome: Outcome)] = []
    }

    /// The group as it was handed to the provider.
    let group: DeliveryGroup
    private let state: Mutex<State>
    private let turn = Mutex(())

    init(_ group: DeliveryGroup) {
        self.group = group
        state = Mutex(
            State(
                unreported: Dictionary(group.targets.map { ($0.deviceID, $0) }, uniquingKeysWith: { first, _ in first })
            )
        )
    }

    /// Notes an outcome; a second one for the same device is dropped.
    func report(_ target: Target, _ outcome: Outcome) {
        state.withLock { state in
            guard state.unreported.removeValue(forKey: target.deviceID) != nil else { return }
            state.outcomes.append((target, outcome))
        }
    }

    /// Runs `body` after all others: a page has to be settled before the next one is taken, or the last settlement of a
    /// group could overtake the one before and end the group without it.
    func inTurn<Result>(_ body: () -> Result) -> Result {
        turn.withLock { _ in body() }
    }

    /// Takes what was reported.
    func takePage() -> Page {
        state.withLock { state in
            defer { state.outcomes = [] }
            return Page(outcomes: state.outcomes, unreported: Array(state.unreported.values))
        }
    }
}
