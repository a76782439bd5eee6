import CarillonCore
import Synchronization

/// Failures in a row at one server, whatever else it is sent meanwhile: what is left of a group waits with its lane then.
final class FailureStreak: Sendable {
    /// As many as have a lane tried with one send at a time.
    private static let longest = 10

    private let count = Mutex(0)

    var isLong: Bool { count.withLock { $0 >= Self.longest } }

    /// Counts what has become of a message to an endpoint.
    func note(messageWith outcome: Outcome) {
        switch outcome {
        case .retry, .timedOut: add()
        case .unregister: count.withLock { $0 = Self.longest }
        case .delivered: reset()
        case .deferLane, .quarantine, .misconfigured, .bug, .unsendable: break
        }
    }

    /// Counts what has become of a device, whose failures say something of the server only where that does not answer.
    func note(deviceWith outcome: Outcome) {
        switch outcome {
        case .timedOut: add()
        case .unsendable: break
        case .delivered, .retry, .deferLane, .unregister, .quarantine, .misconfigured, .bug: reset()
        }
    }

    private func add() { count.withLock { $0 += 1 } }

    /// One that was on its way when it was too late says nothing.
    private func reset() { count.withLock { if $0 < Self.longest { $0 = 0 } } }
}
