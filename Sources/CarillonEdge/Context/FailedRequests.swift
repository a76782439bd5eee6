package import CarillonCore
package import NIOCore
import Synchronization

/// Why requests failed that were taken on their event loop and handed on after all: what took as long as it may is not tried once more.
package final class FailedRequests: Sendable {
    /// Why one failed, whose sender's it turned out to be, and when it was there.
    package typealias Failure = (error: any Error, network: NetworkID, since: ContinuousClock.Instant)

    private let failures = Mutex<[ObjectIdentifier: Failure]>([:])

    package init() {}

    /// Why the request failed that a connection has in hand; `nil` when it was not tried. Asked once, before anything else is.
    package func take(_ channel: any NIOCore.Channel) -> Failure? {
        failures.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    func note(_ failure: Failure, on channel: any NIOCore.Channel) {
        failures.withLock { $0[ObjectIdentifier(channel)] = failure }
    }
}
