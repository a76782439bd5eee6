package import CarillonCore
import Synchronization

/// Who administers, as it may be written down: by a name, never by a secret.
package enum Admin: Sendable, Equatable, CustomStringConvertible {
    case `operator`
    /// The holder of an API key of role `admin`, by the key's id.
    case key(String)

    /// `operator`, or `key` and its id.
    package var description: String {
        switch self {
        case .operator: "operator"
        case .key(let id): "key \(id)"
        }
    }
}

/// Somebody whose credentials have proved who it is.
package enum ProvenCaller: Sendable, Hashable {
    case `operator`
    /// Somebody of a network, or its back end.
    case network(NetworkID)
}

/// What a request's handler tells those around it about its caller.
package final class CallerInfo: Sendable {
    private struct State {
        var admin: Admin?
        var proven: ProvenCaller?
        var refusal: String?
        var network: NetworkID?
        var since: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    var admin: Admin? { state.withLock(\.admin) }
    var proven: ProvenCaller? { state.withLock(\.proven) }

    var refusal: String? { state.withLock(\.refusal) }

    /// The network that the request has made.
    var network: NetworkID? { state.withLock(\.network) }

    /// When the request was there, if it was worked on before it was handed to those around.
    var since: ContinuousClock.Instant? { state.withLock(\.since) }

    package func note(since moment: ContinuousClock.Instant) {
        state.withLock { $0.since = moment }
    }

    package func note(made network: NetworkID) { state.withLock { $0.network = network } }

    /// Notes why the caller was refused, as the caller is told it.
    func note(refusal: String) { state.withLock { $0.refusal = refusal } }

    func note(_ admin: Admin) {
        state.withLock { $0.admin = admin }
    }

    package func note(_ proven: ProvenCaller) {
        state.withLock { $0.proven = proven }
    }
}
