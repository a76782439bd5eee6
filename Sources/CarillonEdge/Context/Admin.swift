package import CarillonCore
import Synchronization

/// Who administers, as it may be written down: by a name, never by a secret.
package enum Admin: Sendable, Equatable, CustomStringConvertible {
    /// Those who run the service.
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
    /// Those who run the service.
    case `operator`
    /// Somebody of a network, or its back end.
    case network(NetworkID)
}

/// What a request's handler tells those around it about its caller.
package final class CallerNote: Sendable {
    private struct State {
        var admin: Admin?
        var proven: ProvenCaller?
        var refusal: String?
    }

    private let state = Mutex(State())

    /// The admin who called, if it was one.
    var admin: Admin? { state.withLock(\.admin) }
    /// Who called, as far as it was proved.
    var proven: ProvenCaller? { state.withLock(\.proven) }

    var refusal: String? { state.withLock(\.refusal) }

    /// Notes why the caller was refused, as the caller is told it.
    func note(refusal: String) { state.withLock { $0.refusal = refusal } }

    func note(_ admin: Admin) {
        state.withLock { $0.admin = admin }
    }

    /// Notes that the caller has proved who it is.
    package func note(_ proven: ProvenCaller) {
        state.withLock { $0.proven = proven }
    }
}
