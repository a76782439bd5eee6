import CarillonCore
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
    }

    private let state: Mutex<State>

    init(_ bindings: [FaceBinding], _ keys: [StoredFaceKey]) {
        state = Mutex(State(list: FaceList(version: FaceList.Version(changes: 1), bindings: bindings, keys: keys)))
    }

    var index: FaceIndex { FaceIndex(state.withLock(\.list)) }

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
