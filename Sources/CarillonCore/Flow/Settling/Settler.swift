package import Logging
import ServiceLifecycle
import Synchronization

/// Writes down what was sent: at once when nothing was written lately, and otherwise what has gathered for a moment, so that many
/// groups share a commit (``SettlementLines``). So the more there is, and the slower the database is, the fewer and the larger
/// writes it gets, as long as nothing gets too old meanwhile (``SettlePacing``): a write that hangs holds up no others.
///
/// Of a network whose rows somebody holds, outcomes are written by themselves, and meanwhile nothing more is sent of it: it keeps none of
/// the others waiting.
///
/// While the database is away the outcomes are kept, however long: the fence makes a late write harmless. A group of which
/// one page can never be written is abandoned: were its later pages written, the devices of the lost one would vanish. Its
/// lease runs out, and whoever claims it sends all of it again (promise P3).
package final class Settler: Service, SettlementSink {
    private struct State {
        var lines = SettlementLines()
        var pacing = SettlePacing()
        var abandoned: [DeliveryGroup.ID: Int64] = [:]
        /// When somebody is going to look whether it is time for the next write.
        var look: ContinuousClock.Instant?
        var isClosed = false
    }

    private struct Write {
        var start: ContinuousClock.Instant
        var batch: [Settlement]
        /// Whether it is of a network of which somebody holds rows.
        var isTry = false

        /// How long it waits for what others have locked, and, but for a try, all networks with it.
        var lockWait: Duration { .milliseconds(isTry ? 300 : 100) }
    }

    /// With so many settlements waiting, nothing more is found out.
    private static let longestBacklog = 2_000

    private let log: any OutcomeLog
    private let lanes: LaneHealth
    private let metrics: PipelineMetrics
    private let statistics: StatisticsRecorder
    private let logger: Logger
    private let state = Mutex(State())
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// A settler that writes to `log` and tells `lanes` what that came to.
    package init(
        log: some OutcomeLog,
        lanes: LaneHealth,
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

    var backlog: Int { state.withLock { $0.lines.count } }

    /// Whether outcomes wait too long, or too many of them, but for those of networks of which somebody holds rows.
    package var isBehind: Bool {
        state.withLock { state in
            let line = state.lines.shared
            return line.count > Self.longestBacklog || SettlePacing.isLate(oldest: line.oldest, at: .now)
        }
    }

    package var writeTime: Duration { state.withLock { $0.pacing.writeTime(at: .now) } }

    package var groups: [DeliveryGroup] { state.withLock { $0.lines.groups } }

    package func submit(_ settlement: Settlement) {
        state.withLock { state in
            guard state.abandoned[settlement.group.id] != settlement.group.leaseToken else { return }
            state.lines.append(settlement)
        }
        wake.yield()
    }

    package func hasAbandoned(_ group: DeliveryGroup) -> Bool {
        state.withLock { $0.abandoned[group.id] == group.leaseToken }
    }

    package func forget(_ group: DeliveryGroup) {
        _ = state.withLock { $0.abandoned.removeValue(forKey: group.id) }
    }

    /// Writes until graceful shutdown, and then what is left.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { tasks in
                for await _ in wakeups {
                    while let write = nextWrite() {
                        tasks.addTask(on: log.freeThread()) {
                            self.end(write, learning: try await self.writeOnce(write.batch, waiting: write.lockWait))
                        } otherwise: { failure in
                            let written = await self.write(write.batch, waiting: write.lockWait, after: failure)
                            self.end(write, learning: written.lanes, holding: written.held)
                        }
                    }
                    if let moment = nextLook() { tasks.addTask { await self.look(at: moment) } }
                    if isOver { return }
                }
            }
        } onGracefulShutdown: {
            self.state.withLock { $0.isClosed = true }
            self.wake.yield()
        }
    }

    private var isOver: Bool {
        state.withLock { state in
            state.isClosed && state.lines.count == 0 && !state.pacing.isWriting && !state.lines.isTrying
        }
    }

    private func nextWrite() -> Write? {
        state.withLock { state in
            let now = ContinuousClock.now
            if let batch = state.lines.nextTry(at: now) { return Write(start: now, batch: batch, isTry: true) }
            let (ready, oldest) = (state.lines.shared.ready, state.lines.shared.oldest)
            guard state.pacing.begin(waiting: ready, oldest: oldest, at: now) else { return nil }
            let batch = state.lines.next()
            // What is in line may have to wait for what is being written of its groups.
            guard !batch.isEmpty else {
                _ = state.pacing.end(now)
                return nil
            }
            return Write(start: now, batch: batch)
        }
    }

    /// When to look again whether it is time for the next write; `nil` when somebody is going to by then.
    private func nextLook() -> ContinuousClock.Instant? {
        state.withLock { state in
            let (ready, oldest) = (state.lines.shared.ready, state.lines.shared.oldest)
            let moments = [state.pacing.moment(waiting: ready, oldest: oldest, at: .now), state.lines.momentOfTry]
            guard let moment = moments.compactMap(\.self).min() else { return nil }
            if let look = state.look, look <= moment { return nil }
            state.look = moment
            return moment
        }
    }

    private func look(at moment: ContinuousClock.Instant) async {
        try? await Task.sleep(until: moment)
        state.withLock { state in
            if state.look == moment { state.look = nil }
        }
        wake.yield()
    }

    /// Ends a write of which `held` was not written.
    private func end(_ write: Write, learning lanes: [Lane], holding held: [Settlement] = []) {
        let wasBeside = change { state in
            if write.isTry {
                state.lines.endTry(write.batch, holding: held, at: .now)
                return true
            }
            state.lines.end(write.batch, holding: held, at: .now)
            return state.pacing.end(write.start)
        }
        // What the other one came to may have been learnt in the wrong order.
        if wasBeside { for network in Set(lanes.map(\.networkID)) { self.lanes.hear(of: network) } }
        wake.yield()
    }

    /// Changes what waits, and says of which networks nothing more is to be sent.
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in
            let before = state.lines.heldNetworks
            let value = body(&state)
            let held = state.lines.heldNetworks
            if held != before { lanes.queue.withhold(held) }
            return value
        }
    }

    /// Writes settlements, however long it takes, but for those of networks of which somebody holds rows; answers the lanes of which
    /// something was learnt, and what was not written.
    private func write(
        _ batch: [Settlement],
        waiting lockWait: Duration,
        after failure: (any Error)? = nil
    ) async -> (lanes: [Lane], held: [Settlement]) {
        var backoff = Duration.milliseconds(50)
        var failure = failure
        while true {
            do {
                if let former = failure.take() { throw former }
                return (try await writeOnce(batch, waiting: lockWait), [])
            } catch  where error.isContention && !Task.isCancelled {
                let shares = Dictionary(grouping: batch, by: \.group.lane.networkID).values
                logger.debug("Outcomes wait for what others write", metadata: ["error": "\(error)"])
                return shares.count > 1 ? await write(apart: Array(shares), waiting: lockWait) : ([], batch)
            } catch  where error.isTransient && !Task.isCancelled {
                logger.debug("Writing outcomes again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: backoff)
                backoff = min(backoff * 2, .seconds(1))
            } catch  where batch.count > 1 && !error.isTransient {
                return await write(apart: batch.map { [$0] }, waiting: lockWait)
            } catch {
                var metadata = batch.first?.group.metadata ?? [:]
                metadata["error"] = "\(error)"
                logger.error("Outcomes could not be written", metadata: metadata)
                abandon(batch)
                return ([], [])
            }
        }
    }

    /// Writes settlements; answers the lanes of which something was learnt.
    private func writeOnce(_ batch: [Settlement], waiting lockWait: Duration) async throws -> [Lane] {
        let start = ContinuousClock.now
        let receipt = try await log.settle(batch, lockWait: lockWait)
        let now = ContinuousClock.now
        state.withLock { $0.pacing.note(now - start, at: now) }
        lanes.learn(receipt.lanes)
        count(batch, receipt)
        return Array(receipt.lanes.keys)
    }

    /// Writes shares of a batch one after the other.
    private func write(
        apart shares: [[Settlement]],
        waiting lockWait: Duration
    ) async -> (lanes: [Lane], held: [Settlement]) {
        var (lanes, held): ([Lane], [Settlement]) = ([], [])
        for share in shares {
            let (learnt, unwritten) = await write(share, waiting: lockWait)
            lanes += learnt
            held += unwritten
        }
        return (lanes, held)
    }

    private func abandon(_ batch: [Settlement]) {
        change { state in
            for settlement in batch { state.abandoned[settlement.group.id] = settlement.group.leaseToken }
            state.lines.removeAll { state.abandoned[$0.group.id] == $0.group.leaseToken }
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
            if settlement.group.cause.trace != nil {
                logger.debug("Deliveries were settled", metadata: settlement.metadata)
            }
            news[settlement.group.lane.networkID, default: StatisticsFigures()].count(settlement)
        }
        for user in receipt.stoppedUsers { news[user.networkID, default: StatisticsFigures()].count(user) }
        statistics.add(news)
    }
}
