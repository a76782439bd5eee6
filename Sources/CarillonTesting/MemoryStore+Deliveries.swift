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
    var provider: ProviderName
    var record: DeviceRecord
}

/// A delivery that was given up, with what reviving it needs.
struct MemoryDeadLetter {
    var letter: DeadLetter
    var cause: DeliveryCause
    var notification: Notification
}

extension MemoryStore: DeliveryQueue {
    /// Commits pages of expanded events: their deliveries, and how far each event is.
    package func enqueue(_ expansions: [Expansion]) async throws -> [Bool] {
        let now = clock.now()
        return try withState { state in
            expansions.map { expansion in
                let id = expansion.event.networkID
                guard state.networks[id]?.holds(expansion.event, after: expansion.after) ?? false else { return false }
                state.networks[id]?.enqueue(expansion, at: now)
                return true
            }
        }
    }

    /// Takes groups whose time has come, round-robin over networks and lanes, at most `limit` in all and
    /// `limitPerLane` of each lane; lanes in `excluded` are left alone.
    package func claimGroups(limit: Int, limitPerLane: Int, excluding excluded: [Lane]) async throws -> [RefreshedGroup]
    {
        let now = clock.now()
        return try withState { state in
            var claimed: [RefreshedGroup] = []
            for lane in state.lanesInTurn(dueAt: now) where !excluded.contains(lane) && claimed.count < limit {
                state.lastServedLane = lane
                let share = min(limitPerLane, limit - claimed.count)
                let point = state.readPoint
                claimed +=
                    state.networks[lane.networkID]?.claim(share, at: now, ids: ids, readPoint: point) {
                        $0.lane == lane
                    }
                    ?? []
            }
            return claimed
        }
    }

    /// Takes groups whose life is over, of whatever lane.
    package func claimExpired(limit: Int) async throws -> [RefreshedGroup] {
        let now = clock.now()
        return try withState { state in
            var claimed: [RefreshedGroup] = []
            for id in state.sortedIDs where claimed.count < limit {
                let share = limit - claimed.count
                let point = state.readPoint
                claimed +=
                    state.networks[id]?.claim(share, at: now, ids: ids, readPoint: point, isExpired: true) { _ in true }
                    ?? []
            }
            return claimed
        }
    }

    /// Looks up devices and toggles of these groups anew.
    package func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup] {
        try withState { state in
            try groups.map { group in
                guard let network = state.networks[group.lane.networkID] else { throw UnknownNetwork() }
                return network.refresh(group, at: state.readPoint)
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

    /// Writes down what happened to groups: outcomes, what remains, dead letters, and the devices' own states.
    package func settle(_ settlements: [Settlement]) async throws -> Set<UUID> {
        let now = clock.now()
        return try withState { state in
            var stale: Set<UUID> = []
            for settlement in settlements {
                let id = settlement.group.lane.networkID
                guard state.networks[id]?.holds(settlement.group) ?? false else {
                    stale.insert(settlement.group.id)
                    continue
                }
                state.networks[id]?.settle(settlement, at: now, ids: ids)
            }
            return stale
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

    /// Makes what waits for a provider's lanes due now, of one app or, without `appID`, of all.
    package func makeDue(_ provider: ProviderName, appID: String?, in network: NetworkID) async throws {
        let now = clock.now()
        try withNetwork(network) { network in
            for (id, row) in network.groups where row.group.lane.provider == provider && !row.group.leased {
                guard appID ?? row.group.lane.appID == row.group.lane.appID else { continue }
                guard row.laneReason != nil || row.group.attempt == 0 else { continue }
                network.groups[id]?.runAt = min(row.runAt, now)
            }
        }
    }

    /// Lets go the brake of a lane until a moment, in all replicas.
    package func releaseBrake(of lane: Lane, until end: Timestamp) async throws {
        try withState { $0.releasedBrakes[lane] = end }
    }

    /// The lanes whose brake is let go now.
    package func releasedBrakes() async throws -> Set<Lane> {
        let now = clock.now()
        return try withState { state in Set(state.releasedBrakes.filter { $0.value > now }.keys) }
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
    /// The lanes with something due, beginning behind the one that was served last.
    fileprivate func lanesInTurn(dueAt now: Timestamp) -> [Lane] {
        let due = networks.values.flatMap { network in
            network.groups.values.filter { $0.runAt <= now && $0.group.expiresAt > now }.map(\.group.lane)
        }
        let lanes = Set(due).sorted()
        guard let last = lastServedLane else { return lanes }
        return lanes.filter { last < $0 } + lanes.filter { !(last < $0) }
    }
}
