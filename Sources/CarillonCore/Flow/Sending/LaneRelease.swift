import Logging
import Synchronization

/// Makes due what waits for lanes that work again: at once, and for a while after, since what was being put off in that moment
/// was not met.
final class LaneRelease: Sendable {
    private struct State {
        var selections: [(lanes: LaneSelection, at: ContinuousClock.Instant)] = []
        var resumed: [(lanes: [Lane], at: ContinuousClock.Instant)] = []
    }

    /// Longer than what was found out by sending takes to be written.
    private static let duration = Duration.seconds(10)

    private let store: any LaneStore
    private let logger: Logger
    private let state = Mutex(State())
    /// That there is something to release once more.
    let wakeups = Wakeups()

    init(store: any LaneStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Releases all that waits for some lanes, whatever has become of them.
    func release(_ lanes: LaneSelection) async {
        state.withLock { state in
            state.selections.removeAll { $0.lanes == lanes }
            if state.selections.count < LaneChanges.limit { state.selections.append((lanes, .now)) }
        }
        wakeups.call()
        await makeDue(lanes, excluding: [])
    }

    /// Releases what others have put off while these lanes were tried.
    func release(_ lanes: [Lane]) async {
        state.withLock { state in
            let count = state.resumed.reduce(0) { $0 + $1.lanes.count }
            if count + lanes.count <= LaneChanges.limit { state.resumed.append((lanes, .now)) }
        }
        wakeups.call()
        await makeDue(lanes)
    }

    /// Releases once more what was released lately.
    ///
    /// - Parameter paused: The lanes where something came between: what waits there does so for another reason now.
    /// - Returns: Whether there was anything.
    func releaseAgain(excluding paused: () -> Set<Lane>) async -> Bool {
        let (selections, resumed) = state.withLock { state in
            state.selections.removeAll { $0.at + Self.duration <= .now }
            state.resumed.removeAll { $0.at + Self.duration <= .now }
            return (state.selections.map(\.lanes), Set(state.resumed.flatMap(\.lanes)))
        }
        guard !selections.isEmpty || !resumed.isEmpty else { return false }
        let paused = paused()
        for lanes in selections { await makeDue(lanes, excluding: paused.filter(lanes.contains)) }
        await makeDue(resumed.subtracting(paused).sorted())
        return true
    }

    private func makeDue(_ lanes: [Lane]) async {
        var rest = lanes[...]
        do {
            while !rest.isEmpty {
                try await store.makeDue(Array(rest.prefix(LaneHealth.batchSize)))
                rest = rest.dropFirst(LaneHealth.batchSize)
            }
        } catch {
            tell(of: error)
        }
    }

    private func makeDue(_ lanes: LaneSelection, excluding paused: Set<Lane>) async {
        do {
            try await store.makeDue(lanes, excluding: Array(paused))
        } catch {
            tell(of: error)
        }
    }

    private func tell(of error: any Error) {
        logger.debug("What waits stays until its time comes", metadata: ["error": "\(error)"])
    }
}
