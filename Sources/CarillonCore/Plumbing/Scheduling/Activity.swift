import ServiceLifecycle
import Synchronization

/// What happens in a placement, for those who look there again and again for what has become due: while nothing happens, they rest.
///
/// Whatever this replica writes may have made something due. What other replicas leave to whoever has room, they say, and before a rest
/// it is asked when the next row's time comes. So a rest keeps nothing waiting but what others write that tell nobody, and what is lost
/// with a replica before it could tell: for the longest rest at the most.
package final class Activity: Sendable {
    /// Whether the task does what is done again and again whatever happens: what that writes is nothing that has happened.
    @TaskLocal package static var isRoutine = false

    private struct State {
        /// When something happened last.
        var last: ContinuousClock.Instant
        var sleepers: [Int: Sleeper] = [:]
        var lastNumber = 0
        /// Whether anybody may be resting.
        var areResting = false
        /// The networks of which others were told lately, and since when.
        var left: Set<NetworkID> = []
        var leftSince: ContinuousClock.Instant?
    }

    /// How long it is before others are told once more of the same network.
    private static let silence = Duration.milliseconds(300)

    private let mayRest: @Sendable () -> Bool
    private let tell: @Sendable (NetworkID) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (ContinuousClock.Instant) async -> Void
    private let state: Mutex<State>

    /// Nothing has happened yet, which counts as something.
    ///
    /// - Parameters:
    ///   - mayRest: Whether others are heard at the moment, so that it is enough to look rarely.
    ///   - tell: Tells the other replicas that something of a network is left to them.
    ///   - now: The time.
    ///   - sleep: Waits until then, or until the task is cancelled.
    package init(
        mayRest: @escaping @Sendable () -> Bool = { false },
        tell: @escaping @Sendable (NetworkID) -> Void = { _ in },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (ContinuousClock.Instant) async -> Void = { try? await Task.sleep(until: $0) }
    ) {
        self.mayRest = mayRest
        self.tell = tell
        self.now = now
        self.sleep = sleep
        state = Mutex(State(last: now()))
    }

    /// Something happened here: looks are as frequent as usual from now on.
    package func note() {
        let moment = now()
        let resting = state.withLock { state -> [Sleeper] in
            state.last = moment
            guard state.areResting else { return [] }
            state.areResting = false
            return Array(state.sleepers.values)
        }
        for sleeper in resting { sleeper.wake() }
    }

    /// Others say that they leave something to whoever has room: it is looked for at once.
    package func call() {
        let moment = now()
        let sleepers = state.withLock { state in
            state.last = moment
            state.areResting = false
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.wake(isCalled: true) }
    }

    /// Something of a network is due that this replica has no room for.
    package func leave(_ network: NetworkID) {
        let moment = now()
        let isNews = state.withLock { state in
            if state.leftSince.map({ moment - $0 >= Self.silence }) ?? true {
                (state.left, state.leftSince) = ([], moment)
            }
            return state.left.insert(network).inserted
        }
        if isNews { tell(network) }
    }

    /// Looks again and again until graceful shutdown or cancellation.
    ///
    /// - Parameters:
    ///   - pace: How often.
    ///   - looksOnlyWhenDue: Whether it need not be looked after a rest when `nextDue` says that nothing is due.
    ///   - nextDue: Asked before a look after which there is a rest: how long it is until something becomes due whose time
    ///     comes within so long; `nil` when there is nothing.
    ///   - look: Looks; it deals with its own errors.
    package func repeating(
        _ pace: PollPace,
        looksOnlyWhenDue: Bool = false,
        nextDue: @escaping @Sendable (Duration) async -> Duration? = { _ in nil },
        _ look: @escaping @Sendable () async -> Void
    ) async {
        let sleeper = Sleeper(sleep)
        let number = state.withLock { state in
            state.lastNumber += 1
            state.sleepers[state.lastNumber] = sleeper
            return state.lastNumber
        }
        await cancelWhenGracefulShutdown {
            var due: ContinuousClock.Instant?
            while await self.wait(pace, until: due, sleeper) {
                due = nil
                // Asked before: what becomes due in between is found by the look.
                if self.isResting(pace) {
                    due = await nextDue(pace.longest).map { self.now() + $0 }
                    if looksOnlyWhenDue, due.map({ self.now() < $0 }) ?? true { continue }
                }
                await look()
            }
        }
        state.withLock { $0.sleepers[number] = nil }
    }

    /// For how long nothing has happened.
    package var quiet: Duration { now() - state.withLock(\.last) }

    private func isResting(_ pace: PollPace) -> Bool { mayRest() && pace.isResting(afterQuiet: quiet) }

    /// Waits until it is time to look; `false` when it is the end.
    private func wait(_ pace: PollPace, until due: ContinuousClock.Instant?, _ sleeper: Sleeper) async -> Bool {
        let began = now()
        let random = Double.random(in: -1...1)
        let soonest = began + pace.rest(afterQuiet: .zero, random: random)
        var rest: ContinuousClock.Instant?
        var end: ContinuousClock.Instant?
        while !Task.isCancelled {
            let isCalled = sleeper.prepare()
            if isCalled, pace.isCalled { return true }
            let latest = state.withLock { state in
                let quiet = began - state.last
                if end == nil, quiet < .zero {
                    // The first that has happened meanwhile says when it is looked: what goes on happening must not put that off.
                    end = rest.map { min($0, max(soonest, state.last + (soonest - began))) } ?? soonest
                }
                if let end { return end }
                guard mayRest() else { return soonest }
                let latest = began + pace.rest(afterQuiet: quiet, random: random)
                rest = latest > soonest ? latest : nil
                if rest != nil { state.areResting = true }
                return latest
            }
            let moment = due.map { max(soonest, min($0, latest)) } ?? latest
            guard now() < moment else { return true }
            await sleeper.sleep(until: moment)
        }
        return false
    }
}

/// Somebody who sleeps until a moment, or until somebody wakes them.
private final class Sleeper: Sendable {
    private struct State {
        var sleep: Task<Void, Never>?
        var isWoken = false
        var isCalled = false
    }

    private let sleep: @Sendable (ContinuousClock.Instant) async -> Void
    private let state = Mutex(State())

    init(_ sleep: @escaping @Sendable (ContinuousClock.Instant) async -> Void) { self.sleep = sleep }

    /// From now on whoever wakes them is heard; whether they were called before.
    func prepare() -> Bool {
        state.withLock { state in
            defer { (state.isWoken, state.isCalled) = (false, false) }
            return state.isCalled
        }
    }

    func sleep(until moment: ContinuousClock.Instant) async {
        let task: Task<Void, Never>? = state.withLock { state in
            guard !state.isWoken else { return nil }
            // Unstructured on purpose: it is ended by whoever wakes them.
            state.sleep = Task { [sleep] in await sleep(moment) }
            return state.sleep
        }
        guard let task else { return }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { $0.sleep = nil }
    }

    func wake(isCalled: Bool = false) {
        let sleep = state.withLock { state in
            state.isWoken = true
            if isCalled { state.isCalled = true }
            return state.sleep
        }
        sleep?.cancel()
    }
}
