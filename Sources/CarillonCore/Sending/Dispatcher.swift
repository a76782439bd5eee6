package import Logging
import ServiceLifecycle
import Synchronization

/// Hands due deliveries to their providers and has the outcomes written down: the last stage.
///
/// Groups come from this replica's own fan-out in memory; due retries and what other replicas left are claimed by
/// polling. No transaction is open while a provider is called.
package final class Dispatcher: Service {
    let queue: any DeliveryQueue
    let devices: any DeviceStore
    let providers: [ProviderName: any Provider]
    let clock: WallClock
    let metrics: PipelineMetrics
    let logger: Logger
    let policy: OutcomePolicy
    private let settleInterval: Duration
    private let sendLimitAtShutdown: Duration
    let lastLook: LastLook
    let settler: Settler
    let lanes = Mutex(LaneTable())
    let brakes = Mutex(UnregistrationBrakes())
    let lateBrakes = Mutex(LateBrakes())
    let credentialChanges = Mutex(CredentialChanges())
    let ledgers = Mutex<[DeliveryGroup.ID: SendLedger]>([:])
    let wakeups: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation
    let claims: AsyncStream<Void>
    let claim: AsyncStream<Void>.Continuation

    private static let pollInterval = Duration.milliseconds(350)
    private static let renewInterval = Duration.seconds(15)
    private static let expiryInterval = Duration.seconds(15)
    private static let measureInterval = Duration.seconds(5)
    private static let tendInterval = Duration.seconds(10)
    private static let undoInterval = Duration.seconds(1)

    /// A dispatcher.
    ///
    /// - Parameters:
    ///   - queue: The deliveries.
    ///   - devices: Takes devices back into use that were unregistered before a brake went on.
    ///   - providers: One for each push service that can be sent to.
    ///   - policy: What becomes of devices by their providers' answers.
    ///   - settleInterval: How long outcomes of a group that is still being sent wait for others before they are written
    ///     down, give or take a quarter; a few of a large group wait for twice as long (promise P3: 250 ms with the write).
    ///   - sendLimitAtShutdown: How long what is being sent may go on when the service is to stop; it must leave the
    ///     rest of the time that a shutdown has for writing down what came of it.
    ///   - clock: The time that is written down.
    ///   - metrics: What is counted.
    ///   - logger: What is told.
    package init(
        queue: some DeliveryQueue,
        devices: any DeviceStore,
        providers: [any Provider],
        policy: OutcomePolicy = OutcomePolicy(),
        settleInterval: Duration = .milliseconds(80),
        sendLimitAtShutdown: Duration = .seconds(13),
        clock: WallClock,
        metrics: PipelineMetrics,
        logger: Logger
    ) {
        self.queue = queue
        self.devices = devices
        self.providers = Dictionary(providers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.policy = policy
        self.settleInterval = settleInterval
        self.sendLimitAtShutdown = sendLimitAtShutdown
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        lastLook = LastLook(clock: clock)
        settler = Settler(queue: queue, metrics: metrics, logger: logger)
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (claims, claim) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The lanes that are in use or paused.
    package var laneStatuses: [LaneStatus] {
        var brakes = brakes.withLock { $0.statuses }
        var statuses = lanes.withLock { $0.statuses }
        for index in statuses.indices { statuses[index].brake = brakes.removeValue(forKey: statuses[index].lane) }
        for (lane, brake) in brakes {
            var status = LaneStatus(lane: lane, circuit: .closed)
            status.brake = brake
            statuses.append(status)
        }
        return statuses.sorted { $0.lane < $1.lane }
    }

    /// Works until graceful shutdown: what is being sent is finished, or stopped when it takes too long, and written down;
    /// what waits is given back.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.settler.run() }
                group.addTask { await self.claimDueGroups() }
                group.addTask { await repeating(every: Self.pollInterval, jitter: 0.4) { self.poll() } }
                group.addTask { await repeating(every: Self.expiryInterval, jitter: 0.2) { await self.expireGroups() } }
                group.addTask { await repeating(every: Self.measureInterval) { await self.measureAge() } }
                group.addTask { await repeating(every: Self.tendInterval) { await self.tendLanes() } }
                group.addTask { await repeating(every: Self.undoInterval) { await self.undoUnregistrations() } }
                await withTaskGroup(of: Void.self) { companions in
                    // These go on through a shutdown, until the last group is sent.
                    companions.addTask {
                        await untilCancelled(every: self.settleInterval / 4) { await self.settlePages() }
                    }
                    companions.addTask { await untilCancelled(every: Self.renewInterval) { await self.renewLeases() } }
                    await self.sendUntilShutdown()
                    companions.cancelAll()
                }
                self.settler.close()
            }
        } onGracefulShutdown: {
            self.wake.finish()
            self.claim.finish()
        }
    }

    private func sendUntilShutdown() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendGroups() }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: self.sendLimitAtShutdown)
            }
            await group.next()
            group.cancelAll()
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
            if groups.contains(where: { !$0.leased }) { lanes.overflowed() }
            return groups.filter { group in
                group.leased && !lanes.fill(HeldGroup(group: group, readPoint: readPoint, leasedAt: now))
            }
        }
        wake.yield()
        await giveBack(refused, after: .zero)
    }
}

// MARK: - While sending

extension Dispatcher {
    private func settlePages() async {
        let now = ContinuousClock.now
        for ledger in ledgers.withLock({ Array($0.values) }) where ledger.isPageDue(after: settleInterval, at: now) {
            await settle(ledger, isOver: false)
        }
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
