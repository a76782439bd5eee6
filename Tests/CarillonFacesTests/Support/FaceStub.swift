@testable import CarillonCore
import CarillonEdge
import Synchronization

/// What a face is given, and what it handed in.
final class FaceStub: Sendable {
    private struct State {
        var list: FaceList
        var lanes: [LaneStatus] = []
        var handedIn: [ParsedEvent] = []
        var calls = 0
        var failure: (error: any Error, limit: Int)?
        var gap: FaceLookup.Gap?
    }

    private let state: Mutex<State>

    init(_ bindings: [FaceBinding], _ keys: [StoredFaceKey]) {
        state = Mutex(State(list: FaceList(version: 1, bindings: bindings, keys: keys)))
    }

    /// Finds what is in a list, or what was added here.
    func lookup(in list: FaceList? = nil) -> FaceLookup {
        state.withLock { FaceLookup(FaceIndex(list ?? $0.list), lacking: $0.gap) }
    }

    /// Has a placement be away in which there are none of these networks.
    func lackPlacement(with others: Set<NetworkID>) {
        let problem = PlacementProblem.unavailable(PlacementName("p2") ?? .home, reason: "it is away")
        state.withLock { $0.gap = FaceLookup.Gap(problem: problem, others: others) }
    }

    /// Lanes that something is wrong with.
    var lanes: [LaneStatus] {
        get { state.withLock(\.lanes) }
        set { state.withLock { $0.lanes = newValue } }
    }

    /// What was handed in, one call after the other.
    var handedIn: [ParsedEvent] { state.withLock(\.handedIn) }

    /// What was handed in, each once.
    var accepted: [ParsedEvent] {
        var known: Set<String> = []
        return handedIn.filter { known.insert($0.sourceID).inserted }
    }

    /// How many calls handed something in.
    var calls: Int { state.withLock(\.calls) }

    func add(_ binding: FaceBinding) { state.withLock { $0.list.bindings.append(binding) } }

    func add(_ key: StoredFaceKey) { state.withLock { $0.list.keys.append(key) } }

    /// Lets every call fail from now on, or when so many events have been handed in.
    func fail(with error: (any Error)?, beyond limit: Int = 0) {
        state.withLock { $0.failure = error.map { ($0, limit) } }
    }

    func take(_ events: [ParsedEvent]) throws {
        try state.withLock { state in
            if let (error, limit) = state.failure, state.handedIn.count >= limit { throw error }
            state.calls += 1
            state.handedIn += events
        }
    }
}
