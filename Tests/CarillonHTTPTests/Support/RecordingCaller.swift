import CarillonCore
import Synchronization

/// Remembers what endpoints were sent, and answers as it is told.
final class RecordingCaller: EndpointCaller {
    private let state = Mutex(
        (
            calls: [EndpointCall](),
            answer: EndpointAnswer(.success(.init(status: 204, body: [])), time: .milliseconds(12))
        )
    )

    /// Everything so far.
    var calls: [EndpointCall] { state.withLock(\.calls) }

    /// Has further calls answered like this.
    func answers(_ answer: EndpointAnswer) {
        state.withLock { $0.answer = answer }
    }

    func call(_ call: EndpointCall) async -> EndpointAnswer {
        state.withLock { state in
            state.calls.append(call)
            return state.answer
        }
    }
}
