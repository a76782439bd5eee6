import ServiceLifecycle

/// Claims due retries, what other replicas left, and what is no longer worth sending.
package final class Claimer: Service {
    private static let batchSize = 64
    private static let pace = PollPace(interval: .milliseconds(350), jitter: 0.4)
    private static let expiryPace = PollPace(interval: .seconds(5), jitter: 0.2, longest: .seconds(15), isCalled: false)
    private static let measurePace = PollPace(interval: .seconds(5), longest: .seconds(15), isCalled: false)

    private let queue: SendingQueue
    private let claims: any OutboxClaims
    private let settlements: any SettlementSink
    private let metrics: PipelineMetrics
    private let watch: QueueWatch

    /// A claimer that fills `queue`; what may not be sent any more is written down by `settlements`, and what fails by `watch`.
    package init(
        queue: SendingQueue,
        claims: some OutboxClaims,
        settlements: some SettlementSink,
        metrics: PipelineMetrics,
        watch: QueueWatch
    ) {
        self.queue = queue
        self.claims = claims
        self.settlements = settlements
        self.metrics = metrics
        self.watch = watch
    }

    /// Works until graceful shutdown or cancellation.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                let activity = self.watch.activity
                group.addTask {
                    await activity.repeating(
                        Self.pace,
                        nextDue: { limit in try? await self.claims.nextDue(within: limit) },
                        { self.queue.poll() }
                    )
                }
                group.addTask { await activity.repeating(Self.expiryPace) { await self.expireGroups() } }
                group.addTask { await activity.repeating(Self.measurePace) { await self.measureAge() } }
                for await _ in self.queue.wants {
                    while await self.claimOnce() {}
                    if let network = self.queue.overflow { activity.leave(network) }
                }
            }
        }
    }

    /// Claims once; `true` when there is probably more, and room for it.
    private func claimOnce() async -> Bool {
        let limit = min(queue.room / (DeliveryGroup.maximumTargets + 16), Self.batchSize)
        guard limit > 0, !Task.isCancelled else { return false }
        let start = ContinuousClock.now
        let claimed = await watch.attempt(.deliveries) {
            try await claims.claimGroups(
                limit: limit,
                limitPerLane: queue.mostPerLaneAndClaim,
                excluding: queue.exclusions
            )
        }
        guard let claimed else { return false }
        if !claimed.groups.isEmpty { watch.activity.note() }
        await hold(claimed.groups, since: start)
        queue.claimed(hasMore: claimed.hasMore)
        return claimed.hasMore
    }

    /// Records deliveries whose life is over, of paused lanes too.
    func expireGroups() async {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let start = ContinuousClock.now
            let expired = await watch.attempt(.expired) {
                try await claims.claimExpired(limit: Self.batchSize, excluding: Array(queue.withheld))
            }
            guard let expired, !expired.isEmpty else { return }
            watch.activity.note()
            await hold(expired, since: start)
            guard expired.count == Self.batchSize else { return }
            await settlements.catchUp()
        }
    }

    /// Puts what was claimed into the queue; the claim began at `start`, and with it, at the earliest, the leases.
    private func hold(_ refreshed: [RefreshedGroup], since start: ContinuousClock.Instant) async {
        let now = ContinuousClock.now
        let look = LastLook(settlements: settlements)
        let groups = refreshed.map { refreshed in
            var held = LeasedGroup(group: look.look(at: refreshed), readPoint: refreshed.readPoint, readAt: now)
            held.leasedAt = start
            return held
        }
        await queue.submitClaimed(groups.filter { !$0.group.targets.isEmpty }.triedFirst)
    }

    private func measureAge() async {
        guard let age = await watch.attempt(.age, { try await claims.oldestWait() }) else { return }
        metrics.queueAge(age)
    }
}

extension [LeasedGroup] {
    /// Messages to endpoints that were tried before come before all else, the oldest first: where a circuit is open, the first one
    /// finds out whether it can be closed.
    var triedFirst: [LeasedGroup] {
        let tried = filter(\.group.isTriedMessage).sorted { $0.group.cause.eventID < $1.group.cause.eventID }
        return tried + filter { !$0.group.isTriedMessage }
    }
}
