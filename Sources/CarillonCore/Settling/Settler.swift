import DequeModule
package import Logging
import ServiceLifecycle
import Synchronization

/// Writes down what was sent: at once when nothing was written lately, and otherwise what has gathered for a moment, so that many
/// groups share a commit; pages of one group that wait together are one. So the more there is, and the slower the database is, the
/// fewer and the larger writes it gets.
///
/// While the database is away the outcomes are kept, however long: the fence makes a late write harmless. A group of which
/// one page can never be written is abandoned: were its later pages written, the devices of the lost one would vanish. Its
/// lease runs out, and whoever claims it sends all of it again (promise P3).
package final class Settler: Service {
    private struct State {
        var waiting: Deque<Settlement> = []
        /// The last settlement of each group that waits, by its place in line; the first in line has the place `served`.
        var places: [DeliveryGroup.ID: Int] = [:]
        var served = 0
        var abandoned: [DeliveryGroup.ID: Int64] = [:]
        var inFlight: [DeliveryGroup] = []
        var writeTime = Duration.zero
        var isClosed = false

        mutating func append(_ settlement: Settlement) {
            let group = settlement.group
            if let place = places[group.id], waiting[place - served].group.leaseToken == group.leaseToken,
                let merged = waiting[place - served].followed(by: settlement)
            {
                waiting[place - served] = merged
            } else {
                places[group.id] = served + waiting.count
                waiting.append(settlement)
            }
        }

        mutating func takeFirst(_ count: Int) -> [Settlement] {
            let batch = Array(waiting.prefix(count))
            for (index, settlement) in batch.enumerated() where places[settlement.group.id] == served + index {
                places[settlement.group.id] = nil
            }
            waiting.removeFirst(count)
            served += count
            return batch
        }

        mutating func removeAbandoned() {
            waiting.removeAll { abandoned[$0.group.id] == $0.group.leaseToken }
            places = [:]
            for (index, settlement) in waiting.enumerated() { places[settlement.group.id] = served + index }
        }
    }

    private static let batchSize = 256
    /// With so many settlements waiting, they are not left to gather more.
    private static let crowd = 64
    /// How long they gather, from the beginning of the last write: a small part of what promise P3 allows.
    private static let patience = Duration.milliseconds(20)
    /// How many devices are written at a time, so that none waits long for the others.
    private static let batchWeight = 20_000

    private let log: any OutcomeLog
    private let lanes: LaneKeeper
    private let metrics: PipelineMetrics
    private let statistics: StatisticsRecorder
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// A settler that writes to `log` and tells `lanes` what that came to.
    package init(
        log: some OutcomeLog,
        lanes: LaneKeeper,
        metrics: PipelineMetrics,
        statistics: StatisticsRecorder = StatisticsRecorder(),
        logger: Logger
    ) {
        self.log = log
        self.lanes = lanes
        self.metrics = metrics
        self.statistics = statistics
        self.logger = logger
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How many settlements wait.
    var backlog: Int { state.withLock { $0.waiting.count } }

    /// How long a write takes at the moment: the longest of the last few, each counting for less than the one after it.
    var writeTime: Duration { state.withLock { $0.writeTime } }

    /// The groups whose settlements wait or are being written, for renewing leases.
    var groups: [DeliveryGroup] { state.withLock { $0.inFlight + $0.waiting.map(\.group) } }

    /// Hands over a settlement; those of one group are written in the order in which they are handed over.
    func submit(_ settlement: Settlement) {
        state.withLock { state in
            guard state.abandoned[settlement.group.id] != settlement.group.leaseToken else { return }
            state.append(settlement)
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

    /// Writes until graceful shutdown, and then what is left.
    package func run() async throws {
        await withGracefulShutdownHandler {
            for await _ in wakeups {
                while let batch = nextBatch() {
                    let start = ContinuousClock.now
                    await write(batch)
                    if backlog < Self.crowd { try? await Task.sleep(until: start + Self.patience) }
                }
                if state.withLock({ $0.isClosed && $0.waiting.isEmpty }) { return }
            }
        } onGracefulShutdown: {
            self.state.withLock { $0.isClosed = true }
            self.wake.yield()
        }
    }

    private func nextBatch() -> [Settlement]? {
        state.withLock { state in
            var groups = Set<DeliveryGroup.ID>()
            var weight = 0
            // Two settlements of one group in one statement would meet each other's row.
            let count = state.waiting.prefix(Self.batchSize).prefix { settlement in
                defer { weight += settlement.weight }
                return weight < Self.batchWeight && groups.insert(settlement.group.id).inserted
            }.count
            guard count > 0 else {
                state.inFlight = []
                return nil
            }
            let batch = state.takeFirst(count)
            state.inFlight = batch.map(\.group)
            return batch
        }
    }

    private func write(_ batch: [Settlement]) async {
        var backoff = Duration.milliseconds(50)
        while true {
            do {
                let start = ContinuousClock.now
                let receipt = try await log.settle(batch)
                let time = ContinuousClock.now - start
                state.withLock { $0.writeTime = max(time, $0.writeTime * 3 / 4) }
                lanes.learn(receipt.lanes)
                count(batch, receipt)
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
            state.removeAbandoned()
        }
    }

    private func count(_ batch: [Settlement], _ receipt: SettleReceipt) {
        var news: [NetworkID: StatisticsFigures] = [:]
        for settlement in batch {
            guard !receipt.stale.contains(settlement.group.id) else {
                metrics.staleSettle()
                continue
            }
            metrics.settled(settlement)
            news[settlement.group.lane.networkID, default: StatisticsFigures()].count(settlement)
        }
        for user in receipt.stoppedUsers { news[user.networkID, default: StatisticsFigures()].count(user) }
        statistics.add(news)
    }
}

extension Settlement {
    /// About how many devices have to be written.
    fileprivate var weight: Int { remainders.reduce(records.count) { $0 + $1.targets.count } }

    /// This page and the next as one; `nil` when the group is over with this one.
    ///
    /// What this page left to be sent is what the next one tells of.
    fileprivate func followed(by next: Settlement) -> Settlement? {
        guard let rest = remainders.first, rest.delay == nil else { return nil }
        var merged = self
        merged.records += next.records
        merged.troubles.merge(next.troubles) { _, new in new }
        if let answers = next.answers { merged.answers = merged.answers.map { $0.adding(answers) } ?? answers }
        merged.remainders = next.remainders + remainders.dropFirst()
        return merged
    }
}
