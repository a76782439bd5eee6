import CarillonCore
import Synchronization

/// What the service knows of its own state: where it listens, and why it cannot work yet or any more.
///
/// With several placements it works as soon as it knows who is where and one of them can be used.
final class Readiness: Sendable {
    enum Port: Hashable, Sendable {
        case open
        case management
    }

    private struct State {
        var addresses: [Port: ListenAddress] = [:]
        var isShuttingDown = false
    }

    private let databases: [PlacementName: DatabaseState]
    private let knowsPlacements: @Sendable () -> Bool
    private let state = Mutex(State())

    /// What is known of a service with these databases.
    init(_ databases: [PlacementName: DatabaseState], knowsPlacements: @escaping @Sendable () -> Bool = { true }) {
        self.databases = databases
        self.knowsPlacements = knowsPlacements
    }

    /// Where a port is open; `nil` before it is.
    subscript(port: Port) -> ListenAddress? { state.withLock { $0.addresses[port] } }

    /// Whether nothing new is taken on any more.
    var isShuttingDown: Bool { state.withLock(\.isShuttingDown) }

    /// Why nothing can be done, in plain words; `nil` when that much is right.
    var problem: String? {
        if isShuttingDown { return "the service is shutting down" }
        guard databases.count > 1 else { return databases.values.first?.problem }
        guard knowsPlacements() else { return "the list of placements has not been read yet" }
        let problems = databases.compactMapValues(\.problem)
        guard problems.count == databases.count else { return nil }
        return problems.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "; ")
    }

    func listens(_ port: Port, at address: ListenAddress) {
        state.withLock { $0.addresses[port] = address }
    }

    /// Nothing new is taken on any more.
    func shutsDown() {
        state.withLock { $0.isShuttingDown = true }
    }
}
