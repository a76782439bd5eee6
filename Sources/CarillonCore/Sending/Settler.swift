import Logging
import Synchronization

/// Writes down what was sent: takes what waits as soon as the last write is back, so that many groups share a commit.
///
/// While the database is away the outcomes are kept, however long: the fence makes a late write harmless. A group of which
/// one page can never be written is abandoned: were its later pages written, the devices of the lost one would vanish. Its
/// lease runs out, and whoever claims it sends all of it again (promise P3).
final class Settler: Sendable {
    private struct State {
        var waiting: [Settlement] = []
        var abandoned: [DeliveryGroup.ID: Int64] = [:]
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
    var groups: [DeliveryGroup] { state.withLock { $0.inFlight + $0.waiting.map(\.group) } }

    /// Hands over a settlement; those of one group are written in the order in which they are handed over.
    func submit(_ settlement: Settlement) {
        state.withLock { state in
            guard state.abandoned[settlement.group.id] != settlement.group.leaseToken else { return }
            state.waiting.append(settlement)
        }
        wake.yield()
    }

    /// Whether a group's lease must be left to run out.
    func hasAbandoned(_ group: DeliveryGroup) -> Bool {
        state.withLock { $0.abandoned[group.id] == group.leaseToken }
    }

    /// Nothing more will be submitted of this group.
    func forget(_ group: DeliveryGroup) {
        _ = state.withLock { $0.abandoned.removeValue(forKey: group.id) }
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

    private func nextBatch() -> [Settlement]? {
        state.withLock { state in
            var groups = Set<DeliveryGroup.ID>()
            // Two settlements of one group in one statement would meet each other's row.
            let count = state.waiting.prefix(Self.batchSize).prefix { groups.insert($0.group.id).inserted }
                .count
            guard count > 0 else {
                state.inFlight = []
                return nil
            }
            let batch = Array(state.waiting[..<count])
            state.waiting.removeFirst(count)
            state.inFlight = batch.map(\.group)
            return batch
        }
    }

    private func write(_ batch: [Settlement]) async {
        var backoff = Duration.milliseconds(50)
        while true {
            do {
                let stale = try await queue.settle(batch)
                for settlement in batch { count(settlement, isStale: stale.contains(settlement.group.id)) }
                return
            } catch  where error.isTransient && !Task.isCancelled {
                logger.debug("Writing outcomes again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: backoff)
                backoff = min(backoff * 2, .seconds(1))
            } catch  where batch.count > 1 && !error.isTransient {
                for settlement in batch { await write([settlement]) }
                return
            } catch {
                logger.error("Outcomes could not be written", metadata: ["error": "\(error)"])
                abandon(batch)
                return
            }
        }
    }

    private func abandon(_ batch: [Settlement]) {
        state.withLock { state in
            for settlement in batch { state.abandoned[settlement.group.id] = settlement.group.leaseToken }
            let abandoned = state.abandoned
            state.waiting.removeAll { abandoned[$0.group.id] == $0.group.leaseToken }
        }
    }

    private func count(_ settlement: Settlement, isStale: Bool) {
        if isStale { metrics.staleSettle() } else { metrics.settled(settlement) }
    }
}
