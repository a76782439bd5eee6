package import CarillonCore
package import struct Foundation.UUID

/// A group in the queue.
struct MemoryGroupRow {
    var group: DeliveryGroup
    /// When it may be claimed: the end of the lease while it is leased.
    var runAt: Timestamp
    /// Why it waits, where that is for its lane.
    var laneReason: String?
    var rescues = 0
}

/// A line of the outcome log.
struct MemoryRecord {
    var lane: Lane
    var place: FailurePlace
    var record: DeviceRecord

    var provider: ProviderName { lane.provider }
}

/// A delivery that was given up, with what reviving it needs.
struct MemoryDeadLetter {
    var letter: DeadLetter
    var cause: DeliveryCause
    var push: Push
    var deviceCounts: [UserID: Int]?
}

extension MemoryStore: OutboxWriter, OutboxClaims, OutboxReader, OutcomeLog {
    /// Commits pages of expanded events: their deliveries, and how far each event is.
    package func enqueue(_ expansions: [Expansion]) async throws -> [Bool] {
        let now = clock.now()
        return try withState { state in
            let written = expansions.map { expansion in
                let id = expansion.event.networkID
                guard state.networks[id]?.holds(expansion.event, after: expansion.after) ?? false else { return false }
                state.networks[id]?.enqueue(expansion, at: now)
                return true
            }
            for group in zip(expansions, written).flatMap({ $1 ? $0.groups : [] }).joined {
                let runAt = group.leased ? now + leaseDuration : now
                state.networks[group.lane.networkID]?.groups[group.id] = MemoryGroupRow(group: group, runAt: runAt)
            }
            return written
        }
    }

    /// Takes groups whose time has come, a share of `limit` of each network in turn, at most `limitPerLane` of each lane.
    package func claimGroups(
        limit: Int,
        limitPerLane: Int,
        excluding excluded: ClaimExclusions
    ) async throws -> (groups: [RefreshedGroup], hasMore: Bool) {
        let now = clock.now()
        return try withState { state in
            let networks = state.networksInTurn(dueAt: now).filter { !excluded.networks.contains($0) }
            guard let last = networks.last else { return ([], false) }
            state.lastServedNetwork = last
            let share = (limit + networks.count - 1) / networks.count
            var claimed: [RefreshedGroup] = []
            for id in networks {
                state.putOffPaused(of: id, at: now)
                var taken: [Lane: Int] = [:]
                let point = ReadPoint(state.readPoint, moment: now)
                claimed +=
                    state.networks[id]?.claim(share, at: now, ids: ids, readPoint: point) { group in
                        guard !excluded.lanes.contains(group.lane) else { return false }
                        taken[group.lane, default: 0] += 1
                        return taken[group.lane, default: 0] <= limitPerLane
                    } ?? []
            }
            return (claimed, claimed.count >= share)
        }
    }

    /// Takes groups whose life is over, of whatever lane.
    package func claimExpired(limit: Int) async throws -> [RefreshedGroup] {
        let now = clock.now()
        return try withState { state in
            var claimed: [RefreshedGroup] = []
            for id in state.sortedIDs where claimed.count < limit {
                let share = limit - claimed.count
                let point = ReadPoint(state.readPoint, moment: now)
                claimed +=
                    state.networks[id]?.claim(share, at: now, ids: ids, readPoint: point, isExpired: true) { _ in true }
                    ?? []
            }
            return claimed
        }
    }

    /// Looks up devices and toggles of these groups anew.
    package func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup] {
        let now = clock.now()
        return try withState { state in
            try groups.map { group in
                guard let network = state.networks[group.lane.networkID] else { throw UnknownNetwork() }
                return network.refresh(group, at: ReadPoint(state.readPoint, moment: now))
            }
        }
    }

    /// What changed in each network since a moment, for deliveries that were expanded then.
    package func changes(since points: [(network: NetworkID, point: ReadPoint)]) async throws -> [Changes] {
        try withState { state in
            points.map { id, point in
                guard let seen = Int(point.rawValue) else { return .everybody }
                let news = state.changes.dropFirst(seen).filter { $0.network == id }
                if news.contains(where: { $0.user == nil }) { return .everybody }
                let users = Set(news.compactMap(\.user))
                return users.isEmpty ? .none : .users(users)
            }
        }
    }

    /// Writes down what happened to groups: outcomes, what remains, dead letters, the devices' own states, and what lanes
    /// report.
    package func settle(_ settlements: [Settlement]) async throws -> SettleReceipt {
        let now = clock.now()
        return try withState { state in
            var receipt = SettleReceipt()
            for settlement in settlements {
                let lane = settlement.group.lane
                guard state.networks[lane.networkID]?.holds(settlement.group) ?? false else {
                    receipt.stale.insert(settlement.group.id)
                    continue
                }
                if let answers = settlement.answers, let condition = state.note(answers, of: lane, at: now) {
                    receipt.lanes[lane] = condition
                }
                let isBraked = state.lanes[lane]?.condition.brakedSince != nil
                state.networks[lane.networkID]?.settle(settlement, at: now, ids: ids, isBraked: isBraked)
                receipt.stoppedUsers += state.networks[lane.networkID]?.usersStopped(by: settlement) ?? []
            }
            return receipt
        }
    }

    /// Holds the leases of these groups for another ``leaseDuration``; answers those still held.
    package func renew(_ groups: [DeliveryGroup]) async throws -> Set<UUID> {
        let now = clock.now()
        return try withState { state in
            let held = groups.filter { state.networks[$0.lane.networkID]?.holds($0) ?? false }
            for group in held { state.networks[group.lane.networkID]?.groups[group.id]?.runAt = now + leaseDuration }
            return Set(held.map(\.id))
        }
    }

    /// Gives groups back unsent, to be claimed again after `delay`, without counting an attempt; `laneReason` says what is
    /// wrong with their lane, where that is why.
    package func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws {
        let now = clock.now()
        try withState { state in
            for group in groups where state.networks[group.lane.networkID]?.holds(group) ?? false {
                state.networks[group.lane.networkID]?.groups[group.id]?.group.leased = false
                state.networks[group.lane.networkID]?.groups[group.id]?.rescues = 0
                state.networks[group.lane.networkID]?.groups[group.id]?.laneReason = laneReason
                state.networks[group.lane.networkID]?.groups[group.id]?.runAt = now + max(.zero, delay)
            }
        }
    }

    /// How long the longest-waiting group that is due, and the longest-waiting event, have been waiting.
    package func oldestWait() async throws -> Duration {
        let now = clock.now()
        return try withState { state in
            let waits = state.networks.values.flatMap { network in
                network.inbox.values.map(\.pending.receivedAt) + network.groups.values.map(\.runAt)
            }
            return max(.zero, waits.map { now - $0 }.max() ?? .zero)
        }
    }
}

extension MemoryState {
    /// The networks with something due, beginning behind the one that was served last.
    fileprivate func networksInTurn(dueAt now: Timestamp) -> [NetworkID] {
        let due = networks.filter { _, network in
            network.groups.values.contains { $0.runAt <= now && $0.group.expiresAt > now }
        }
        let ids = due.keys.sorted()
        guard let last = lastServedNetwork else { return ids }
        return ids.filter { last < $0 } + ids.filter { !(last < $0) }
    }

    fileprivate mutating func putOffPaused(of id: NetworkID, at now: Timestamp) {
        for (key, row) in networks[id]?.groups ?? [:] where row.runAt <= now {
            guard let pause = lanes[row.group.lane]?.condition.pause, now < pause.until else { continue }
            networks[id]?.groups[key]?.runAt =
                pause.until + row.group.wait(for: .zero, afterFailures: row.group.attempt)
            networks[id]?.groups[key]?.laneReason = pause.reason
            networks[id]?.groups[key]?.group.leased = false
        }
    }
}
