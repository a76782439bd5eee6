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

/// What a request's handler tells those around it about its caller.
final class AdminNote: Sendable {
    private let state = Mutex<Admin?>(nil)

    /// The admin who called, if it was one.
    var admin: Admin? { state.withLock(\.self) }

    /// Notes that an admin has called.
    func note(_ admin: Admin) {
        state.withLock { $0 = admin }
    }
}
