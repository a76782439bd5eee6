package import NIOCore
import Synchronization

/// Why requests failed that were taken on their event loop and handed on after all: what took as long as it may is not tried once more.
package final class FailedRequests: Sendable {
    private let errors = Mutex<[ObjectIdentifier: any Error]>([:])

    package init() {}

    /// Why the request failed that a connection has in hand; `nil` when it was not tried. Asked once.
    package func take(_ channel: any Channel) -> (any Error)? {
        errors.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    func note(_ error: any Error, on channel: any Channel) {
        errors.withLock { $0[ObjectIdentifier(channel)] = error }
    }
}
