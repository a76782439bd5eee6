import Synchronization

/// What a provider has reported of a group since the last page.
package struct SendPage: Sendable {
    /// The group as it was handed to the provider.
    package var group: DeliveryGroup
    package var begin: ContinuousClock.Instant
    /// When the first of its outcomes was reported.
    package var since: ContinuousClock.Instant?
    package var outcomes: [(target: Target, outcome: Outcome)]
    package var unreported: [Target]
    /// Whether nothing more will be reported: the unreported ones go back to the queue.
    package var isOver: Bool
    /// Whether it finds out if a paused lane works again.
    package var isProbe: Bool
    /// The time by the database's clock.
    package var time: Timestamp
}

/// Collects what a provider reports of one group, for the settles while it is being sent and the one at the end.
final class SendLedger: Sendable {
    private struct State {
        var unreported: [DeviceID: Target]
        var outcomes: [(target: Target, outcome: Outcome)] = []
        /// When the first of these was reported.
        var since: ContinuousClock.Instant?
        var isProbe: Bool
    }

    /// How many outcomes are written down without waiting for more: half a full group, so that there is one such page.
    private static let fullPage = DeliveryGroup.maximumTargets / 2

    var group: DeliveryGroup { held.group }
    private let held: LeasedGroup
    private let begin = ContinuousClock.now
    private let state: Mutex<State>
    private let order = Mutex(())

    init(_ held: LeasedGroup, isProbe: Bool = false) {
        self.held = held
        let targets = held.group.targets.map { ($0.deviceID, $0) }
        let unreported = Dictionary(targets, uniquingKeysWith: { first, _ in first })
        state = Mutex(State(unreported: unreported, isProbe: isProbe))
    }

    /// The group with the devices of which nothing was reported yet.
    var rest: DeliveryGroup {
        var rest = held.group
        let unreported = state.withLock(\.unreported)
        rest.targets.removeAll { unreported[$0.deviceID] == nil }
        return rest
    }

    var unreportedCount: Int { state.withLock(\.unreported.count) }

    /// The paused lane works again: what is reported from now on finds that out no more.
    func endProbe() { state.withLock { $0.isProbe = false } }

    /// Notes an outcome; a second one for the same device is dropped.
    func report(_ target: Target, _ outcome: Outcome, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard state.unreported.removeValue(forKey: target.deviceID) != nil else { return }
            if state.since == nil { state.since = now }
            state.outcomes.append((target, outcome))
        }
    }

    /// Whether what was reported should be written down, the group not being over.
    func isPageDue(
        after patience: Duration,
        less delay: Duration = .zero,
        at now: ContinuousClock.Instant
    ) -> Bool {
        momentOfPage(after: patience, less: delay).map { $0 <= now } ?? false
    }

    /// When what was reported should be written down, the group not being over; `nil` while nothing was.
    ///
    /// With each page all that is left of the group is written anew. So outcomes wait for others for as long as `patience`
    /// lets them, and few of a large group for twice as long, lest one whose answers trickle in is written over and over;
    /// less whatever writing them takes longer than usual (promise P3).
    func momentOfPage(after patience: Duration, less delay: Duration = .zero) -> ContinuousClock.Instant? {
        state.withLock { state in
            guard let since = state.since, state.outcomes.count < Self.fullPage else { return state.since }
            let areFew = state.outcomes.count * 10 < state.unreported.count
            return since + min(areFew ? patience * 2 : patience, patience * 2 - delay)
        }
    }

    /// Runs `body` after all others: a page has to be settled before the next one is taken, or the last settlement of a
    /// group could overtake the one before and end the group without it.
    func inOrder<Result>(_ body: () -> Result) -> Result {
        order.withLock { _ in body() }
    }

    func takePage(isOver: Bool, at now: ContinuousClock.Instant = .now) -> SendPage {
        state.withLock { state in
            defer { (state.outcomes, state.since) = ([], nil) }
            return SendPage(
                group: held.group,
                begin: begin,
                since: state.since,
                outcomes: state.outcomes,
                unreported: Array(state.unreported.values),
                isOver: isOver,
                isProbe: state.isProbe,
                time: held.time(at: now)
            )
        }
    }
}
