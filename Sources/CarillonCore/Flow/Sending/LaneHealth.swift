package import Logging
import ServiceLifecycle
import Synchronization

/// Knows what is wrong with lanes, tells the queue of what is sent, and keeps the store up to date that all replicas share.
///
/// A pause is obeyed here at once and written afterwards; what other replicas wrote is learnt when they say so, and by
/// polling.
package final class LaneHealth: Service {
    struct State {
        var conditions: [Lane: LaneCondition] = [:]
        var timeouts = TimeoutStreaks()
        var changes = LaneChanges()
        /// What waited in memory in lanes that were paused.
        var drained: [HeldBack: [DeliveryGroup]] = [:]
        /// The last of those who write, one after the other: what happened first comes first in the store.
        var writing: Task<Void, Never>?
        /// The lanes of which it is being asked whether this replica may try them.
        var inTrial: Set<Lane> = []
        /// The networks whose lanes are to be read anew, as other replicas wrote something about them; `nil` for all.
        var stale: Set<NetworkID>? = []
    }

    /// For how long groups of a paused lane wait, and why.
    struct HeldBack: Hashable {
        var pause: Duration
        var reason: String
    }

    /// So many are changed in one transaction.
    static let batchSize = 500
    private static let pollInterval = Duration.seconds(10)
    private static let dueInterval = Duration.milliseconds(500)
    private static let writeInterval = Duration.seconds(1)

    let store: any LaneStore
    private let waiting: LaneRelease
    private let trials: LaneTrials
    let devices: any DeviceStore
    let queue: SendingQueue
    let announcements: Announcements
    let logger: Logger
    let state = Mutex(State())
    private let wakeups: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation
    let undos = Wakeups()
    /// That changes could not be written.
    let unwritten = Wakeups()

    package init(
        store: some LaneStore,
        devices: any DeviceStore,
        queue: SendingQueue,
        announcements: Announcements = Announcements(),
        logger: Logger
    ) {
        self.store = store
        waiting = LaneRelease(store: store, logger: logger)
        trials = LaneTrials(store: store)
        self.devices = devices
        self.queue = queue
        self.announcements = announcements
        self.logger = logger
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        announcements.subscribe(to: .lanes) { [weak self] network in self?.hear(of: network) }
    }

    /// Works until graceful shutdown; what was not written by then is written once more.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await learn()
            await withDiscardingTaskGroup { group in
                group.addTask { await repeating(every: Self.pollInterval, jitter: 0.2) { await self.learn() } }
                group.addTask { await self.undoWhatIsToBeUndone() }
                group.addTask { await self.waiting.wakeups.repeating(every: Self.dueInterval, self.releaseAgain) }
                group.addTask { await self.unwritten.repeating(every: Self.writeInterval, self.writeAgain) }
                for await _ in self.wakeups {
                    await self.write()
                    await self.learnStale()
                }
            }
        } onCancelOrGracefulShutdown: {
            self.wake.finish()
        }
        await write()
    }

    /// The lanes that are in use or not well.
    package var statuses: [LaneStatus] {
        let conditions = conditions
        let well = queue.activeLanes.subtracting(conditions.keys).map { LaneStatus(lane: $0, circuit: .closed) }
        return (well + conditions.map(LaneStatus.init)).sorted { $0.lane < $1.lane }
    }
}

// MARK: - While sending

extension LaneHealth {
    /// What is wrong with a lane; `nil` when nothing is.
    func condition(of lane: Lane) -> LaneCondition? { state.withLock { $0.conditions[lane] } }

    var conditions: [Lane: LaneCondition] { state.withLock(\.conditions) }

    /// Stops sending to a lane.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - length: What its push service asked for.
    ///   - reason: What to show to people.
    ///   - wasTried: Whether that was found out by trying if it works again.
    ///   - time: The time by the database's clock.
    /// - Returns: For how long.
    func pause(
        _ lane: Lane,
        for length: Duration?,
        reason: String,
        wasTried: Bool = false,
        at time: Timestamp
    ) -> Duration {
        let change = LaneChange.failure(of: lane, for: length, reason: reason, wasTried: wasTried)
        let (wasPaused, remaining) = state.withLock { state in
            let wasPaused = state.conditions[lane]?.remainingPause(at: time) != nil
            state.conditions[lane, default: LaneCondition()].apply(change, at: time)
            state.changes.append(ChangedLane(lane, change))
            state.timeouts.forget(lane)
            let remaining = state.conditions[lane]?.remainingPause(at: time) ?? .zero
            drain(lane, for: remaining, reason: reason, &state)
            return (wasPaused, remaining)
        }
        if !wasPaused { logger.notice("A lane is paused", metadata: ["lane": "\(lane)", "reason": "\(reason)"]) }
        wake.yield()
        return remaining
    }

    /// A paused lane works again: its probe went through.
    func resume(_ lane: Lane, at time: Timestamp) {
        let isNews = state.withLock { state in
            queue.resume(lane)
            guard state.conditions[lane]?.pause != nil else { return false }
            state.conditions[lane]?.apply(.resume, at: time)
            state.changes.append(ChangedLane(lane, .resume))
            return true
        }
        if isNews { wake.yield() }
    }

    /// What was to find out whether a paused lane works told nothing: the next one is to, after a while.
    func tryAgain(_ lane: Lane, after length: Duration, at time: Timestamp) {
        let change = LaneChange.vainTrial(of: lane, for: length)
        state.withLock { state in
            guard let reason = state.conditions[lane]?.pause?.reason else { return }
            state.conditions[lane]?.apply(change, at: time)
            state.changes.append(ChangedLane(lane, change))
            drain(lane, for: length, reason: reason, &state)
            wake.yield()
        }
    }

    /// Counts sends that were not answered in time, of endpoints all that failed; whether there were too many in a row.
    func countTimeouts(_ outcomes: [(target: Target, outcome: Outcome)], of lane: Lane) -> Bool {
        state.withLock { $0.timeouts.count(outcomes, of: lane) }
    }

    /// Learns what a settle came to.
    func learn(_ lanes: [Lane: LaneCondition]) {
        defer { callToUndo(lanes.values) }
        for (lane, condition) in lanes {
            let before = state.withLock { state in
                let before = state.conditions[lane]
                state.conditions[lane] = condition
                // What was paused or resumed here may not be written yet; what was elsewhere is read anew.
                state.conditions[lane]?.pause = before?.pause
                state.changes.wrote([lane])
                return before
            }
            if condition.pause != nil, condition.pause != before?.pause { hear(of: lane.networkID) }
            guard (before?.brakedSince == nil) != (condition.brakedSince == nil) else { continue }
            if condition.brakedSince == nil {
                logger.notice("Reports of devices as gone are believed again", metadata: ["lane": "\(lane)"])
            } else {
                let metadata: Logger.Metadata = ["lane": "\(lane)", "reason": "\(condition.brakeReason)"]
                logger.notice("Reports of devices as gone are not believed for now", metadata: metadata)
            }
            announcements.announce(.lanes, in: lane.networkID)
        }
    }

    /// Has the queue give up what waits in a lane: while the state is locked, so that the queue hears of what happens to a lane in the
    /// order in which it happens.
    func drain(_ lane: Lane, for length: Duration, reason: String, _ state: inout State) {
        let groups = queue.pause(lane, for: length, reason: reason)
        guard !groups.isEmpty else { return }
        state.drained[HeldBack(pause: length, reason: reason), default: []] += groups
    }
}

// MARK: - Endpoints that are asked

extension LaneHealth: EndpointCircuits {
    package func circuit(of lane: Lane, at moment: Timestamp) -> EndpointCircuit {
        guard let condition = condition(of: lane), condition.pause != nil else { return .closed }
        return condition.remainingPause(at: moment) == nil ? .due : .open
    }

    package func tryAgain(_ lane: Lane, at moment: Timestamp) { tryAgain(lane, after: .zero, at: moment) }

    package func open(_ lane: Lane, because reason: String, at moment: Timestamp) {
        _ = pause(lane, for: nil, reason: reason, at: moment)
    }

    /// Whether it is this replica that tries a lane whose pause is over, or there is nothing to try any more. While the store
    /// cannot be asked, nobody tries.
    package func takeTrial(of lane: Lane) async -> Bool {
        guard state.withLock({ $0.inTrial.insert(lane).inserted }) else { return false }
        defer { state.withLock { _ = $0.inTrial.remove(lane) } }
        // What happened before comes before it in the store, too.
        await write()
        do {
            let trial = try await adopting {
                try await trials.take(lane).map { (answer: $0, conditions: $0.conditions, lanes: [lane]) }
            }
            guard let trial else { return false }
            guard trial.isOurs else { return trial.conditions.lanes[lane]?.pause == nil }
            announcements.announce(.lanes, in: lane.networkID)
            return true
        } catch {
            logger.debug("A lane stays paused", metadata: ["lane": "\(lane)", "error": "\(error)"])
            return false
        }
    }

    package func close(_ lane: Lane, at moment: Timestamp) { resume(lane, at: moment) }
}

// MARK: - What people do

extension LaneHealth {
    /// A credential was stored or removed: what waited for it is tried at once.
    package func credentialChanged(_ lanes: LaneSelection) async {
        await apply(.credentialChanged, to: lanes)
    }

    /// The same credential was stored once more, maybe since it works again: what waits for its lanes is tried at once.
    package func credentialConfirmed(_ lanes: LaneSelection) async {
        await apply(.resume, to: lanes)
    }

    /// Believes a lane's provider until a moment when it reports devices as gone, however many they are.
    ///
    /// - Throws: What the store throws.
    package func believe(_ lane: Lane, until end: Timestamp) async throws {
        await write()
        let selection = LaneSelection(lane)
        try await change(selection, .believe(until: end))
        logger.notice("The brake on unregistrations is let go", metadata: ["lane": "\(lane)", "until": "\(end)"])
        await release(selection)
    }

    private func apply(_ change: LaneChange, to lanes: LaneSelection) async {
        // What happened before comes before it in the store, too.
        await write()
        do {
            try await self.change(lanes, change)
        } catch {
            logger.debug("Lanes stay as they are until their time comes", metadata: ["error": "\(error)"])
        }
        await release(lanes)
    }

    func change(_ lanes: LaneSelection, _ change: LaneChange) async throws {
        try await adopting(where: lanes.contains) { try await store.apply(change, to: lanes) }
    }

    private func release(_ lanes: LaneSelection) async {
        await waiting.release(lanes)
        announcements.announce(.lanes, in: lanes.networkID)
        queue.poll()
    }

    func release(_ resumed: [Lane]) async {
        guard !resumed.isEmpty else { return }
        await waiting.release(resumed)
        queue.poll()
    }

    private func releaseAgain() async -> Bool {
        await waiting.releaseAgain {
            Set(conditions.lazy.filter { $0.value.pause != nil || $0.value.brakedSince != nil }.map(\.key))
        }
    }
}
