import Logging
import Synchronization

/// Writes down what was sent: takes what waits as soon as the last write is back, so that many groups share a commit.
///
/// While the database is away the outcomes are kept as long as their leases last; what cannot be written until then is
/// sent again by whoever claims it (promise P3).
final class Settler: Sendable {
    private struct Pending {
        var settlement: Settlement
        var deadline: ContinuousClock.Instant
    }

    private struct State {
        var waiting: [Pending] = []
        var inFlight: [DeliveryGroup] = []
        var isClosed = false
    }

    private static let batchSize = 256

    private let queue: any DeliveryQueue
    private let metrics: PipelineMetrics
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(queue: some DeliveryQueue, metrics: PipelineMetrics, logger: Logger) {
        self.queue = queue
        self.metrics = metrics
        self.logger = logger
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How many settlements wait.
    var backlog: Int { state.withLock { $0.waiting.count } }

    /// The groups whose settlements wait or are being written, for renewing leases.
    var groups: [DeliveryGroup] { state.withLock { $0.inFlight + $0.waiting.map(\.settlement.group) } }

    /// Hands over a settlement; those of one group are written in the order in which they are handed over.
    func submit(_ settlement: Settlement) {
        let deadline = ContinuousClock.now + leaseDuration
        state.withLock { $0.waiting.append(Pending(settlement: settlement, deadline: deadline)) }
        wake.yield()
    }

    /// Writes until closed and empty.
    func run() async {
        for await _ in wakeups {
            while let batch = nextBatch() { await write(batch) }
            if state.withLock({ $0.isClosed && $0.waiting.isEmpty }) { return }
        }
    }

    /// Lets ``run()`` end when all is written.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.yield()
    }

    private func nextBatch() -> [Pending]? {
        state.withLock { state in
            var groups = Set<DeliveryGroup.ID>()
            // Two settlements of one group in one statement would meet each other's row.
            let count = state.waiting.prefix(Self.batchSize).prefix { groups.insert($0.settlement.group.id).inserted }
                .count
            guard count > 0 else {
                state.inFlight = []
                return nil
            }
            let batch = Array(state.waiting[..<count])
            state.waiting.removeFirst(count)
            state.inFlight = batch.map(\.settlement.group)
            return batch
        }
    }

    private func write(_ batch: [Pending]) async {
        var backoff = Duration.milliseconds(50)
        while true {
            do {
                let stale = try await queue.settle(batch.map(\.settlement))
                for pending in batch { count(pending.settlement, isStale: stale.contains(pending.settlement.group.id)) }
                return
            } catch  where error.isTransient && batch.contains(where: { $0.deadline > .now }) && !Task.isCancelled {
                logger.debug("Writing outcomes again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: backoff)
                backoff = min(backoff * 2, .seconds(1))
            } catch  where batch.count > 1 && !error.isTransient {
                for pending in batch { await write([pending]) }
                return
            } catch {
                logger.error("Outcomes could not be written in time", metadata: ["error": "\(error)"])
                return
            }
        }
    }

    private func count(_ settlement: Settlement, isStale: Bool) {
        if isStale { metrics.staleSettle() } else { metrics.settled(settlement) }
    }
}
