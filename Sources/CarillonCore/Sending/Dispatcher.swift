public import Logging
public import ServiceLifecycle
import Synchronization

/// Hands due deliveries to their providers and has the outcomes written down: the last stage.
///
/// Groups come from this replica's own fan-out in memory; due retries and what other replicas left are claimed by
/// polling. No transaction is open while a provider is called.
public final class Dispatcher: Service {
    private let queue: any DeliveryQueue
    private let providers: [ProviderName: any Provider]
    private let clock: WallClock
    private let metrics: PipelineMetrics
    private let logger: Logger
    private let policy: OutcomePolicy
    private let settleInterval: Duration
    private let lastLook: LastLook
    private let settler: Settler
    private let lanes = Mutex(LaneTable())
    private let ledgers = Mutex<[DeliveryGroup.ID: SendLedger]>([:])
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let claims: AsyncStream<Void>
    private let claim: AsyncStream<Void>.Continuation

    private static let batchSize = 64
    private static let groupsPerLaneAndClaim = 16
    private static let pollInterval = Duration.milliseconds(350)
    private static let renewInterval = Duration.seconds(15)
    private static let expiryInterval = Duration.seconds(15)
    private static let measureInterval = Duration.seconds(5)
    private static let patience = Duration.milliseconds(200)
    private static let settleMargin = Duration.seconds(10)
    private static let longestBacklog = 2_000

    /// A dispatcher.
    ///
    /// - Parameters:
    ///   - queue: The deliveries.
    ///   - providers: One for each push service that can be sent to.
    ///   - policy: What becomes of devices by their providers' answers.
    ///   - settleInterval: How often a group that is still being sent is written down (promise P3).
    ///   - clock: The time that is written down.
    ///   - metrics: What is counted.
    ///   - logger: What is told.
    public init(
        queue: some DeliveryQueue,
        providers: [any Provider],
        policy: OutcomePolicy = OutcomePolicy(),
        settleInterval: Duration = .milliseconds(250),
        clock: WallClock,
        metrics: PipelineMetrics,
        logger: Logger
    ) {
        self.queue = queue
        self.providers = Dictionary(providers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.policy = policy
        self.settleInterval = settleInterval
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        lastLook = LastLook(clock: clock)
        settler = Settler(queue: queue, metrics: metrics, logger: logger)
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (claims, claim) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The lanes that are in use or paused.
    public var laneStatuses: [LaneStatus] { lanes.withLock { $0.statuses } }

    /// Works until graceful shutdown: what is being sent is finished and written down, what waits is given back.
    public func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.settler.run() }
                group.addTask { await self.claimDueGroups() }
                group.addTask { await repeating(every: Self.pollInterval, jitter: 0.4) { self.poll() } }
                group.addTask { await repeating(every: Self.expiryInterval, jitter: 0.2) { await self.expireGroups() } }
                group.addTask { await repeating(every: Self.measureInterval) { await self.measureAge() } }
                await withTaskGroup(of: Void.self) { companions in
                    // These go on through a shutdown, until the last group is sent.
                    companions.addTask { await untilCancelled(every: self.settleInterval) { await self.settlePages() } }
                    companions.addTask { await untilCancelled(every: Self.renewInterval) { await self.renewLeases() } }
                    await self.sendGroups()
                    companions.cancelAll()
                }
                self.settler.close()
            }
        } onGracefulShutdown: {
            self.wake.finish()
            self.claim.finish()
        }
    }
}

// MARK: - From the fan-out

extension Dispatcher {
    /// Marks the groups for which there is room as leased to this replica; the others are for whoever claims them.
    func reserve(_ groups: inout [DeliveryGroup]) {
        let now = ContinuousClock.now
        lanes.withLock { lanes in
            for index in groups.indices { groups[index].leased = lanes.reserve(groups[index], at: now) }
        }
    }

    /// Gives the room of groups back that were not written.
    func cancelReservations(_ groups: [DeliveryGroup]) {
        lanes.withLock { lanes in
            for group in groups where group.leased { lanes.cancelReservation(group) }
        }
    }

    /// Takes over the groups that were marked as leased, now that they are durable.
    func submit(_ groups: [DeliveryGroup], readPoint: ReadPoint) async {
        let now = ContinuousClock.now
        let refused = lanes.withLock { lanes in
            if groups.contains(where: { !$0.leased }) { lanes.hasOverflow = true }
            return groups.filter { group in
                group.leased && !lanes.fill(HeldGroup(group: group, readPoint: readPoint, leasedAt: now))
            }
        }
        wake.yield()
        await giveBack(refused, after: .zero)
    }
}

// MARK: - Sending

extension Dispatcher {
    private func sendGroups() async {
        await withDiscardingTaskGroup { group in
            for await _ in wakeups {
                while !Task.isCancelled, let batch = nextBatch() {
                    let ready = await lookAgain(batch)
                    for held in ready { group.addTask { await self.send(held) } }
                    metrics.waiting(groups: lanes.withLock { $0.count })
                    await waitForSettler()
                }
            }
            let left = lanes.withLock { $0.close() }
            await giveBack(left.map(\.group), after: .zero)
        }
    }

    private func nextBatch() -> [HeldGroup]? {
        let batch = lanes.withLock { $0.next(upTo: Self.batchSize, at: .now) }
        return batch.isEmpty ? nil : batch
    }

    /// Keeps what is sent but not written down yet within bounds.
    private func waitForSettler() async {
        while settler.backlog > Self.longestBacklog, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Obeys switches flipped and devices unregistered since these groups were expanded.
    private func lookAgain(_ batch: [HeldGroup]) async -> [HeldGroup] {
        let now = ContinuousClock.now
        let safe = batch.filter { held in
            let deadline = providers[held.group.lane.provider]?.deadline ?? .zero
            let isSafe = now - held.leasedAt < leaseDuration - deadline - Self.settleMargin
            if !isSafe { leaveToLease(held) }
            return isSafe
        }
        do {
            return try await withoutWithdrawn(safe)
        } catch {
            // Switches that cannot be seen must not be overridden: the groups wait until the database can be asked.
            logger.debug("Could not look for changes", metadata: ["error": "\(error)"])
            let refused = lanes.withLock { lanes in
                safe.filter { held in
                    lanes.finished(held.group.lane, at: now)
                    return Task.isShuttingDownGracefully || !lanes.add(held)
                }
            }
            await giveBack(refused.map(\.group), after: .zero)
            try? await Task.sleep(for: Self.patience)
            return []
        }
    }

    /// Groups less what the reading of the toggles that they come from did not see.
    private func withoutWithdrawn(_ batch: [HeldGroup]) async throws -> [HeldGroup] {
        guard !batch.isEmpty else { return batch }
        let changes = try await queue.changes(
            since: batch.map { (network: $0.group.lane.networkID, point: $0.readPoint) }
        )
        let touched = zip(batch.indices, changes).filter { index, changes in
            batch[index].group.targets.contains { changes.touch($0.userID) }
        }.map(\.0)
        guard !touched.isEmpty else { return batch }
        var ready = batch
        for (index, refreshed) in zip(touched, try await queue.refresh(touched.map { batch[$0].group })) {
            ready[index].group = withdraw(refreshed)
            if ready[index].group.targets.isEmpty {
                lanes.withLock { $0.finished(refreshed.group.lane, at: .now) }
            }
        }
        return ready.filter { !$0.group.targets.isEmpty }
    }

    /// Leaves a group to its lease: when that has run out, the row is claimed again.
    private func leaveToLease(_ held: HeldGroup) {
        lanes.withLock { $0.finished(held.group.lane, at: .now) }
        metrics.lostLease()
    }

    /// Has what may not be sent any more written down; answers what may.
    private func withdraw(_ refreshed: RefreshedGroup) -> DeliveryGroup {
        let (group, records) = lastLook.look(at: refreshed)
        guard !records.isEmpty || group.targets.isEmpty else { return group }
        let rest = Remainder(targets: group.targets, attempt: group.attempt, delay: nil)
        let remainders = group.targets.isEmpty ? [] : [rest]
        settler.submit(Settlement(group: refreshed.group, records: records, remainders: remainders))
        return group
    }

    private func send(_ held: HeldGroup) async {
        let group = held.group
        let ledger = SendLedger(group)
        ledgers.withLock { $0[group.id] = ledger }
        if let provider = providers[group.lane.provider] {
            await provider.send(group) { target, outcome in ledger.report(target, outcome) }
        } else {
            let reason = "no credential for \(group.lane.provider.rawValue)"
            for target in group.targets { ledger.report(target, .deferLane(after: .seconds(30), reason: reason)) }
        }
        _ = ledgers.withLock { $0.removeValue(forKey: group.id) }
        await settle(ledger, isOver: true)
        settler.forget(group)
        let wantsMore = lanes.withLock { lanes in
            lanes.finished(group.lane, at: .now)
            return lanes.wantsMore(of: group.lane)
        }
        wake.yield()
        if wantsMore { claim.yield() }
    }

    /// Turns what a provider has reported into a settlement, and pauses the lane when nothing in it can succeed.
    private func settle(_ ledger: SendLedger, isOver: Bool) async {
        let (waiting, pause) = ledger.inTurn { settlePage(of: ledger, isOver: isOver) }
        await giveBack(waiting, after: pause)
    }

    /// Settles what was reported since the last page; answers what waited in a lane that had to be paused.
    private func settlePage(of ledger: SendLedger, isOver: Bool) -> ([DeliveryGroup], Duration) {
        let page = ledger.takePage()
        // What was reported before is settled already, and the row may be somebody else's by now.
        guard !page.outcomes.isEmpty || (isOver && !page.unreported.isEmpty) else { return ([], .zero) }
        let lane = ledger.group.lane
        var (settlement, news) = policy.settle(
            ledger.group,
            outcomes: page.outcomes,
            unreported: page.unreported,
            isOver: isOver,
            now: clock.now(),
            random: { .random(in: -1...1) }
        )
        var given: ([DeliveryGroup], Duration) = ([], .zero)
        switch news {
        case .none:
            break
        case .works:
            lanes.withLock { $0.succeeded(lane) }
        case .pause(let after, let reason):
            given = open(lane, retryAfter: after, reason: reason)
            for index in settlement.remainders.indices where settlement.remainders[index].delay == .zero {
                settlement.remainders[index].delay = given.1
            }
        }
        settler.submit(settlement)
        return given
    }

    /// Opens a lane's circuit; answers what waited in the lane and the pause.
    private func open(_ lane: Lane, retryAfter: Duration?, reason: String) -> ([DeliveryGroup], Duration) {
        let now = ContinuousClock.now
        let wallTime = clock.now()
        logger.notice("A lane is paused", metadata: ["lane": "\(lane)", "reason": "\(reason)"])
        return lanes.withLock { lanes in
            let groups = lanes.open(lane, at: now, wallTime: wallTime, retryAfter: retryAfter, reason: reason)
            return (groups.map(\.group), lanes.pause(of: lane, at: now) ?? .zero)
        }
    }

    private func giveBack(_ groups: [DeliveryGroup], after delay: Duration) async {
        guard !groups.isEmpty else { return }
        do {
            try await queue.release(groups, after: delay)
        } catch {
            logger.debug("Deliveries stay leased until their leases run out", metadata: ["error": "\(error)"])
        }
    }
}

// MARK: - From the database

extension Dispatcher {
    private func claimDueGroups() async {
        for await _ in claims {
            while await claimOnce() {}
        }
    }

    /// Claims once; `true` when there is probably more.
    private func claimOnce() async -> Bool {
        let (room, closed) = lanes.withLock { ($0.room, $0.closedLanes(at: .now)) }
        let limit = min(room / (DeliveryGroup.maximumTargets + 16), Self.batchSize)
        guard limit > 0 else { return false }
        do {
            let groups = try await queue.claimGroups(
                limit: limit,
                limitPerLane: Self.groupsPerLaneAndClaim,
                excluding: closed
            )
            await hold(groups)
            if groups.count >= Self.groupsPerLaneAndClaim { lanes.withLock { $0.hasOverflow = true } }
            if groups.isEmpty { lanes.withLock { $0.hasOverflow = !closed.isEmpty && $0.hasOverflow } }
            return groups.count == limit
        } catch {
            logger.debug("Could not look for due deliveries", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Records deliveries whose life is over, of paused lanes too.
    private func expireGroups() async {
        do {
            while !Task.isShuttingDownGracefully {
                let expired = try await queue.claimExpired(limit: Self.batchSize)
                await hold(expired)
                guard expired.count == Self.batchSize else { return }
                await waitForSettler()
            }
        } catch {
            logger.debug("Could not look for expired deliveries", metadata: ["error": "\(error)"])
        }
    }

    private func hold(_ refreshed: [RefreshedGroup]) async {
        let now = ContinuousClock.now
        let groups = refreshed.map { HeldGroup(group: withdraw($0), readPoint: $0.readPoint, leasedAt: now) }
            .filter { !$0.group.targets.isEmpty }
        let refused = lanes.withLock { lanes in groups.filter { !lanes.add($0) } }
        wake.yield()
        await giveBack(refused.map(\.group), after: .zero)
    }

    /// Looks for due rows, and for groups that waited for a pause to end.
    private func poll() {
        claim.yield()
        wake.yield()
    }

    private func measureAge() async {
        do {
            metrics.queueAge(try await queue.oldestWait())
        } catch {
            logger.debug("Could not measure the queue", metadata: ["error": "\(error)"])
        }
    }
}

// MARK: - While sending

extension Dispatcher {
    private func settlePages() async {
        for ledger in ledgers.withLock({ Array($0.values) }) { await settle(ledger, isOver: false) }
    }

    private func renewLeases() async {
        let waiting = lanes.withLock { $0.waiting.map(\.group) }
        let sending = ledgers.withLock { $0.values.map(\.group) }.filter { !settler.hasAbandoned($0) }
        let groups = waiting + sending + settler.groups
        guard !groups.isEmpty else { return }
        let now = ContinuousClock.now
        do {
            let held = try await queue.renew(groups)
            lanes.withLock { $0.renewed(at: now, asked: Set(waiting.map(\.id)), held: held) }
            for group in waiting where !held.contains(group.id) {
                logger.debug("A lease was lost", metadata: ["delivery.group": "\(group.id)"])
                metrics.lostLease()
            }
        } catch {
            logger.debug("Could not renew leases of deliveries", metadata: ["error": "\(error)"])
        }
    }
}
