package import Logging
import ServiceLifecycle
import Synchronization

/// Hands groups to their providers, and what these report to the last stage.
///
/// No transaction is open while a provider is called.
package final class Sender: Service {
    private static let renewInterval = Duration.seconds(10)
    private static let patience = Duration.milliseconds(200)
    private static let settleMargin = Duration.seconds(10)
    /// Within promise P3 outcomes have time to wait for others, for the write of their group that is under way, and for their own,
    /// if each write takes no longer than this.
    private static let usualWrite = Duration.milliseconds(25)
    private static let mostHaste = Duration.milliseconds(150)

    private let queue: SendingQueue
    private let reader: any OutboxReader
    private let claims: any OutboxClaims
    private let outcomes: any OutcomeSink
    private let settlements: any SettlementSink
    private let lanes: LaneHealth
    private let providers: [ProviderName: any Provider]
    private let pageInterval: Duration
    private let metrics: PipelineMetrics
    private let statistics: StatisticsRecorder
    private let watch: QueueWatch
    private let logger: Logger
    /// By their ledgers: a group whose lease was lost may be claimed again while it is still with its provider.
    private let sending = Mutex<[ObjectIdentifier: Sending]>([:])
    /// Says that something is being sent again.
    private let begins: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation

    private struct Sending {
        var grant: SendingQueue.Queue.Grant
        let ledger: SendLedger
        /// What calls the provider.
        var call: Task<Void, Never>?
    }

    /// - Parameters:
    ///   - queue: What is to be sent.
    ///   - reader: Asked for switches that were flipped meanwhile.
    ///   - claims: The leases of what is being sent.
    ///   - outcomes: Judges what came of it.
    ///   - settlements: Writes it down.
    ///   - lanes: Asked whether it is this replica that tries a paused lane.
    ///   - providers: One for each push service that can be sent to.
    ///   - pageInterval: How long outcomes of a group that is still being sent wait for others before they are handed on,
    ///     give or take a quarter; a few of a large group wait for twice as long, and all for less while the database is slow
    ///     (promise P3: 250 ms with the write).
    ///   - metrics: What is counted.
    ///   - statistics: What is counted for networks.
    ///   - watch: Told how looking for changes goes.
    ///   - logger: What is told.
    package init(
        queue: SendingQueue,
        reader: some OutboxReader,
        claims: some OutboxClaims,
        outcomes: some OutcomeSink,
        settlements: some SettlementSink,
        lanes: LaneHealth,
        providers: [any Provider],
        pageInterval: Duration = .milliseconds(80),
        metrics: PipelineMetrics,
        statistics: StatisticsRecorder = StatisticsRecorder(),
        watch: QueueWatch,
        logger: Logger
    ) {
        self.queue = queue
        self.reader = reader
        self.claims = claims
        self.outcomes = outcomes
        self.settlements = settlements
        self.lanes = lanes
        self.providers = Dictionary(providers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.pageInterval = pageInterval
        self.metrics = metrics
        self.statistics = statistics
        (begins, begin) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.watch = watch
        self.logger = logger
    }

    /// Works until graceful shutdown: from then on nothing is begun; what is on the wire is waited for, each request up to
    /// its own deadline, and what waits is given back.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { companions in
                // These go on through a shutdown, until the last group is sent.
                companions.addTask { await self.handOnPagesInTime() }
                companions.addTask { await untilCancelled(every: Self.renewInterval) { await self.renewLeases() } }
                await self.sendGroups()
                companions.cancelAll()
            }
        } onCancelOrGracefulShutdown: {
            self.queue.close()
        }
        for network in await queue.shutDown() { watch.activity.leave(network) }
    }

    private func sendGroups() async {
        await withDiscardingTaskGroup { group in
            for await _ in queue.wakeups {
                while !isEnding, let batch = await nextBatch() {
                    let grants = await lookAgain(batch)
                    for grant in grants {
                        group.addTask {
                            await self.send(grant)
                            self.metrics.waiting(groups: self.queue.count)
                        }
                    }
                    metrics.waiting(groups: queue.count)
                }
            }
            group.cancelAll()
        }
    }

    private var isEnding: Bool { Task.isCancelled || Task.isShuttingDownGracefully }

    private func nextBatch() async -> [SendingQueue.Queue.Grant]? {
        await settlements.catchUp()
        let batch = isEnding ? [] : queue.next()
        return batch.isEmpty ? nil : batch
    }
}

// MARK: - The last look

extension Sender {
    /// Obeys switches flipped and devices unregistered since these groups were expanded.
    private func lookAgain(_ batch: [SendingQueue.Queue.Grant]) async -> [SendingQueue.Queue.Grant] {
        guard let allowed = await watch.attempt(.changes, { try await withoutForbidden(batch) }) else {
            // Switches that cannot be seen must not be overridden: the groups wait until the database can be asked.
            queue.finished(batch)
            let (safe, late) = batch.divided { isSafe($0.item) && !isEnding }
            await queue.submitClaimed(safe.map(\.item))
            await queue.giveBack(late.map(\.item.group), after: .zero)
            try? await Task.sleep(for: Self.patience)
            return []
        }
        var (safe, late) = allowed.divided { isSafe($0.item) }
        // The database may have kept us waiting, and may do so again.
        while !late.isEmpty {
            queue.finished(late)
            await queue.giveBack(late.map(\.item.group), after: .zero)
            (safe, late) = safe.divided { isSafe($0.item) }
        }
        guard !isEnding else {
            queue.finished(safe)
            await queue.giveBack(safe.map(\.item.group), after: .zero)
            return []
        }
        return safe
    }

    /// Whether a group's lease lasts until its provider has answered and, within the margin, that is written down.
    private func isSafe(_ held: LeasedGroup, margin: Duration = settleMargin) -> Bool {
        let deadline = providers[held.group.lane.provider]?.deadline ?? .zero
        return ContinuousClock.now - held.leasedAt < leaseDuration - deadline - margin
    }

    /// Groups less what the reading of the toggles that they come from did not see, and less those that waited too long.
    private func withoutForbidden(_ batch: [SendingQueue.Queue.Grant]) async throws -> [SendingQueue.Queue.Grant] {
        // Everybody's groups wait for it, one batch after the other.
        let changes = try await UnitOfWork.$isUrgent.withValue(true) {
            try await reader.changes(since: batch.map { (network: $0.tenant, point: $0.item.readPoint) })
        }
        let now = ContinuousClock.now
        let touched = zip(batch.indices, changes).filter { index, changes in
            let held = batch[index].item
            return held.isTouchedByTime(at: now) || held.group.targets.contains { changes.touch($0.userID) }
        }.map(\.0)
        guard !touched.isEmpty else { return batch }
        let look = LastLook(settlements: settlements)
        var ready = batch
        for (index, refreshed) in zip(touched, try await reader.refresh(touched.map { batch[$0].item.group })) {
            ready[index].item.group = look.look(at: refreshed)
            ready[index].item.readPoint = refreshed.readPoint
            ready[index].item.readAt = now
        }
        queue.finished(ready.filter(\.item.group.targets.isEmpty))
        return ready.filter { !$0.item.group.targets.isEmpty }
    }
}

// MARK: - Sending

extension Sender {
    private func send(_ grant: SendingQueue.Queue.Grant) async {
        let group = grant.item.group
        // While it waits for its turn nobody renews its lease.
        if grant.isProbe, await !lanes.takeTrial(of: group.lane) || !isSafe(grant.item) {
            return await leaveToOthers(grant)
        }
        let ledger = SendLedger(grant.item, isProbe: grant.isProbe)
        let isFirst = sending.withLock { sending in
            sending[ObjectIdentifier(ledger)] = Sending(grant: grant, ledger: ledger)
            return sending.count == 1
        }
        if isFirst { begin.yield() }
        if let provider = providers[group.lane.provider] {
            if await probe(grant, provider, ledger) {
                let rest = ledger.rest
                statistics.noteHandOver(of: grant.item, devices: rest.targets.count)
                let call = Task { await provider.send(rest) { self.note($0, $1, in: ledger) } }
                sending.withLock { $0[ObjectIdentifier(ledger)]?.call = call }
                await withTaskCancellationHandler {
                    await call.value
                } onCancel: {
                    call.cancel()
                }
            }
        } else {
            let reason = "no credential for \(group.lane.provider.rawValue)"
            for target in group.targets { ledger.report(target, .deferLane(after: .seconds(30), reason: reason)) }
        }
        let last = sending.withLock { $0.removeValue(forKey: ObjectIdentifier(ledger)) }
        handOn(ledger, isOver: true)
        settlements.forget(group)
        queue.finished([last?.grant ?? grant])
    }

    /// Gives a group back whose lane is tried with another one, until what came of that has to be known.
    private func leaveToOthers(_ grant: SendingQueue.Queue.Grant) async {
        let condition = lanes.condition(of: grant.lane)
        let rest = condition?.remainingPause(at: grant.item.time(at: .now)) ?? .seconds(1)
        queue.finished([grant])
        await queue.giveBack([grant.item.group], after: rest, laneReason: condition?.pause?.reason)
    }

    /// Tries a paused lane with one device, or with as many as it takes for an outcome that tells something; whether the others of the
    /// group can follow.
    private func probe(
        _ grant: SendingQueue.Queue.Grant,
        _ provider: any Provider,
        _ ledger: SendLedger
    ) async -> Bool {
        guard grant.isProbe, grant.item.group.targets.count > 1 else { return true }
        for target in grant.item.group.targets {
            var one = grant.item.group
            one.targets = [target]
            let isUntold = Mutex(false)
            statistics.noteHandOver(of: grant.item, devices: 1)
            await provider.send(one) { target, outcome in
                isUntold.withLock { $0 = outcome.isUntold }
                ledger.report(target, outcome)
            }
            guard isUntold.withLock(\.self), !isEnding else { break }
        }
        handOn(ledger, isOver: false)
        ledger.endProbe()
        return queue.isSending(grant.lane) && !isEnding
    }

    /// Hands on what a provider has reported since the last page.
    private func handOn(_ ledger: SendLedger, isOver: Bool) {
        ledger.inOrder {
            let page = ledger.takePage(isOver: isOver)
            // What was reported before is settled already, and the row may be somebody else's by now.
            guard !page.outcomes.isEmpty || isOver && !page.unreported.isEmpty else { return }
            outcomes.take(page)
        }
    }

    /// Notes an outcome, and hands on what has waited for it for long enough: however late timers are, what comes in finds that out.
    private func note(_ target: Target, _ outcome: Outcome, in ledger: SendLedger) {
        ledger.report(target, outcome)
        let haste = Self.haste(whileWritesTake: settlements.writeTime)
        if ledger.isPageDue(after: pageInterval, less: haste, at: .now) { handOn(ledger, isOver: false) }
    }

    /// By how much sooner outcomes are handed on while writes take so long; not at once, lest each one hands on all that is left.
    static func haste(whileWritesTake time: Duration) -> Duration {
        min(mostHaste, max(.zero, (time - usualWrite) * 2))
    }

    private func handOnPagesInTime() async {
        for await _ in begins {
            while let moment = handOnPages() {
                guard (try? await Task.sleep(until: moment)) != nil else { return }
            }
        }
    }

    /// Hands on what has waited for long enough; answers when to look again, and `nil` while nothing is being sent.
    private func handOnPages() -> ContinuousClock.Instant? {
        let now = ContinuousClock.now
        sending.withLock { sending in
            var shrunk: [(key: ObjectIdentifier, grant: SendingQueue.Queue.Grant)] = []
            // A few messages that are not answered must not hold up those behind them.
            for (key, one) in sending where one.grant.item.group.terms != nil {
                var grant = one.grant
                if queue.shrink(&grant, to: one.ledger.unreportedCount) { shrunk.append((key, grant)) }
            }
            for (key, grant) in shrunk { sending[key]?.grant = grant }
        }
        let haste = Self.haste(whileWritesTake: settlements.writeTime)
        var next = now + pageInterval / 4
        let all = sending.withLock { Array($0.values) }
        guard !all.isEmpty else { return nil }
        for one in all {
            // What is begun from now on may be claimed by others before it is answered.
            if !isSafe(one.grant.item, margin: .zero) { one.call?.cancel() }
            guard let moment = one.ledger.momentOfPage(after: pageInterval, less: haste) else { continue }
            if moment <= now { handOn(one.ledger, isOver: false) } else { next = min(next, moment) }
        }
        return next
    }

    private func renewLeases() async {
        let waiting = queue.waiting.map(\.group)
        let sending = sending.withLock { $0.values.map(\.ledger.group) }.filter { !settlements.hasAbandoned($0) }
        let groups = waiting + sending + settlements.groups
        guard !groups.isEmpty else { return }
        let now = ContinuousClock.now
        do {
            let leases = try await claims.renew(groups)
            self.sending.withLock { sending in
                for (key, one) in sending where leases.renewed.contains(one.ledger.group.id) {
                    sending[key]?.grant.item.leasedAt = now
                }
            }
            for group in queue.renewed(at: now, asked: Set(waiting.map(\.id)), leases) {
                logger.debug("A lease was lost", metadata: group.metadata)
                metrics.lostLease()
            }
        } catch {
            logger.debug("Could not renew leases of deliveries", metadata: ["error": "\(error)"])
        }
    }
}

extension Array {
    /// The elements that pass and those that do not, in their order.
    fileprivate func divided(by passes: (Element) -> Bool) -> (passing: [Element], others: [Element]) {
        var divided: (passing: [Element], others: [Element]) = ([], [])
        for element in self {
            if passes(element) { divided.passing.append(element) } else { divided.others.append(element) }
        }
        return divided
    }
}

extension StatisticsRecorder {
    /// Notes how long notifications took that are handed to their provider for the first time, as far as anybody here knows:
    /// those to so many devices of a group.
    fileprivate func noteHandOver(of held: LeasedGroup, devices: Int) {
        let group = held.group
        guard devices > 0, group.attempt == 0, case .devices = group.payload, !group.cause.isRevived else { return }
        let wait = now - (held.acceptedAt ?? group.cause.receivedAt)
        add(to: group.lane.networkID) { $0.latency.note(wait.wholeMilliseconds, count: devices) }
    }
}
