import CLibPQ

/// The one owner of a `PGcancel`: what it takes to interrupt a connection's statement from another thread.
///
/// It is independent of the connection and may outlive it. `PQcancel` is documented as safe on any thread and reads the
/// handle only, hence `@unchecked`.
final class CancelHandle: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { PQfreeCancel(pointer) }

    /// Asks the server to interrupt what the connection does; blocks until the request has been taken.
    ///
    /// A failure is of no use to anyone: the statement then runs into its timeout.
    func send() {
        var message: [CChar] = Array(repeating: 0, count: 256)
        PQcancel(pointer, &message, Int32(message.count))
    }
}
