import Logging
import ServiceLifecycle
import Synchronization

/// Due retries, what other replicas left, and what is no longer worth sending.
extension Dispatcher {
    private static let batchSize = 64
    private static let groupsPerLaneAndClaim = 64

    func claimDueGroups() async {
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
            lanes.withLock {
                $0.claimed(
                    groups.count,
                    limitPerLane: Self.groupsPerLaneAndClaim,
                    leavingOutLanes: !closed.isEmpty
                )
            }
            return groups.count == limit
        } catch {
            logger.debug("Could not look for due deliveries", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Records deliveries whose life is over, of paused lanes too.
    func expireGroups() async {
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
    func poll() {
        claim.yield()
        wake.yield()
    }

    func measureAge() async {
        do {
            metrics.queueAge(try await queue.oldestWait())
        } catch {
            logger.debug("Could not measure the queue", metadata: ["error": "\(error)"])
        }
    }
}
