package import CarillonCore
import Synchronization

/// What a face's handler tells those around it about its request.
package final class FaceInfo: Sendable {
    package struct State: Sendable {
        /// The operation, as metrics call it.
        package var operation: String?
        /// Whose request it turned out to be.
        package var networkID: NetworkID?
        /// Why it was refused or had no effect, without anything secret.
        package var reason: String?
        package var eventID: EventID?
    }

    private let state = Mutex(State())

    package var current: State { state.withLock(\.self) }

    package func note(network: NetworkID) { state.withLock { $0.networkID = network } }
    /// Tells why there was no effect: words that an admin understands, without token, key or text.
    package func note(reason: String) { state.withLock { $0.reason = reason } }
    package func note(event: EventID) { state.withLock { $0.eventID = event } }
    func note(operation: String) { state.withLock { $0.operation = operation } }
}
