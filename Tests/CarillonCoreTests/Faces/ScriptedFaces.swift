import CarillonCore
import Synchronization

/// What one placement has, unless it is away.
final class ScriptedFaces: FaceListSource {
    struct Away: Error {}

    private struct State {
        var isAway = false
        var list = FaceList.empty
        var readings = 0
    }

    private let state = Mutex(State())

    /// How often it was asked.
    var readings: Int { state.withLock(\.readings) }

    func isAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    func change(_ change: (inout FaceList) -> Void) {
        state.withLock { state in
            change(&state.list)
            state.list.version += 1
        }
    }

    func faceList(unless version: Int64?) async throws -> FaceList? {
        try state.withLock { state in
            state.readings += 1
            if state.isAway { throw Away() }
            return state.list.version == version ? nil : state.list
        }
    }
}
