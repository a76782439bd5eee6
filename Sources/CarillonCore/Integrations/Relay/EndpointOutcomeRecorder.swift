package import Logging
import ServiceLifecycle
import Synchronization

/// How an endpoint fares that is asked.
package struct EndpointOutcome: Sendable, Equatable {
    package struct Key: Sendable, Hashable, Comparable {
        package var network: NetworkID
        package var endpoint: EndpointID

        /// The order in which rows are locked.
        package static func < (left: Self, right: Self) -> Bool {
            (left.network, left.endpoint) < (right.network, right.endpoint)
        }
    }

    /// When it answered well last; `nil` when it did not.
    package var succeededAt: Timestamp?
    /// What went wrong last; `nil` when its last answer was a good one.
    package var error: String?
}

/// Writes down how endpoints fare that are asked, for those who look at them: what came of all questions of a second together.
/// A network without such endpoints costs nothing, and what is lost when a process dies is only told a second later.
package final class EndpointOutcomeRecorder: Service {
    private static let interval = Duration.seconds(1)

    private let log: any EndpointLog
    private let clock: WallClock
    private let logger: Logger
    private let pending = Mutex<[EndpointOutcome.Key: EndpointOutcome]>([:])
    private let wakeups = Wakeups()

    package init(log: any EndpointLog, clock: WallClock = .system, logger: Logger) {
        self.log = log
        self.clock = clock
        self.logger = logger
    }

    /// Writes until graceful shutdown, and then what is left.
    package func run() async throws {
        await wakeups.repeating(every: Self.interval, jitter: 0.2) {
            await self.write()
            return false
        }
        await write()
    }

    /// Notes what came of a question; nothing when the endpoint was not asked.
    package func note(_ report: InterceptionReport, in network: NetworkID) {
        guard let isFailure = report.outcome.isFailure else { return }
        let key = EndpointOutcome.Key(network: network, endpoint: report.endpointID)
        let now = clock.now()
        let isFirst = pending.withLock { pending in
            let wasEmpty = pending.isEmpty
            if isFailure {
                pending[key, default: EndpointOutcome()].error = report.reason ?? report.outcome.rawValue
            } else {
                pending[key] = EndpointOutcome(succeededAt: now)
            }
            return wasEmpty
        }
        if isFirst { wakeups.call() }
    }

    /// Writes what was noted; what cannot be written is forgotten.
    func write() async {
        let outcomes = pending.withLock { pending in
            defer { pending = [:] }
            return pending
        }
        guard !outcomes.isEmpty else { return }
        do {
            try await log.note(outcomes)
        } catch {
            logger.debug("Could not write how endpoints fare", metadata: ["error": "\(error)"])
        }
    }
}
