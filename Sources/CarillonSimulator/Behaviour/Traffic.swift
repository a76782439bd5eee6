import NIOCore
import Synchronization

/// The disturbances of one service, counted down by its requests.
final class Traffic: Sendable {
    /// What a request meets.
    struct Condition {
        enum Verdict {
            case normal
            case silence
            case refusal
            case storm(status: Int, retryAfter: String?)
        }

        var verdict: Verdict
        var delay: TimeAmount
    }

    fileprivate struct State {
        var disturbances: Disturbances
        var requests = 0
    }

    private let state: Mutex<State>

    init(_ disturbances: Disturbances) {
        state = Mutex(State(disturbances: disturbances))
    }

    var goAwayAfterStreams: Int? { state.withLock { $0.disturbances.goAwayAfterStreams } }

    func change(_ body: (inout Disturbances) -> Void) {
        state.withLock { body(&$0.disturbances) }
    }

    /// Takes a request into account.
    func next() -> Condition {
        state.withLock { state in
            state.requests &+= 1
            return Condition(verdict: state.verdict(), delay: TimeAmount(state.disturbances.delay))
        }
    }
}

extension Traffic.State {
    fileprivate mutating func verdict() -> Traffic.Condition.Verdict {
        if let interval = disturbances.refusesEvery, interval > 0, requests % interval == 0 { return .refusal }
        if disturbances.isSilent { return .silence }
        guard let storm = disturbances.storm, storm.remaining > 0 else { return .normal }
        disturbances.storm?.remaining -= 1
        return .storm(status: storm.status, retryAfter: storm.retryAfter)
    }
}
