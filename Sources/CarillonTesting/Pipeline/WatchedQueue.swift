package import CarillonCore
import Synchronization

/// A queue that remembers what was claimed, and what was done to lanes.
package final class WatchedQueue: OutboxClaims, LaneStore {
    private let store: any OutboxClaims & LaneStore
    private let claimedGroups = Mutex<Set<DeliveryGroup.ID>>([])
    private let changedLanes = Mutex<[Int]>([])
    private let duePieces = Mutex<[Int]>([])
    private let dueLanes = Mutex<[(lanes: LaneSelection, excluded: [Lane])]>([])

    package init(_ store: any OutboxClaims & LaneStore) { self.store = store }

    /// The groups that were claimed because they were due.
    package var claimed: Set<DeliveryGroup.ID> { claimedGroups.withLock(\.self) }

    /// The lanes of which everything that waits was made due, each time anew, and those of them that were left out.
    package var madeDue: [(lanes: LaneSelection, excluded: [Lane])] { dueLanes.withLock(\.self) }

    /// How many lanes were changed at a time, where they were named.
    package var laneChanges: [Int] { changedLanes.withLock(\.self) }

    /// How many named lanes were made due at a time.
    package var madeDueTogether: [Int] { duePieces.withLock(\.self) }

    package func claimGroups(
        limit: Int,
        limitPerLane: Int,
        excluding excluded: ClaimExclusions
    ) async throws -> (groups: [RefreshedGroup], hasMore: Bool) {
        let claimed = try await store.claimGroups(limit: limit, limitPerLane: limitPerLane, excluding: excluded)
        claimedGroups.withLock { $0.formUnion(claimed.groups.map(\.group.id)) }
        return claimed
    }

    package func claimExpired(limit: Int, excluding networks: [NetworkID]) async throws -> [RefreshedGroup] {
        try await store.claimExpired(limit: limit, excluding: networks)
    }

    package func renew(_ groups: [DeliveryGroup]) async throws -> RenewedLeases { try await store.renew(groups) }

    package func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws {
        try await store.release(groups, after: delay, laneReason: laneReason)
    }

    package func laneConditions(of network: NetworkID?) async throws -> LaneConditions {
        try await store.laneConditions(of: network)
    }

    package func apply(_ change: LaneChange, to lanes: LaneSelection) async throws -> LaneConditions {
        try await store.apply(change, to: lanes)
    }

    /// As the store does, and remembers how many.
    package func apply(_ changes: [ChangedLane]) async throws -> LaneConditions {
        changedLanes.withLock { $0.append(changes.count) }
        return try await store.apply(changes)
    }

    /// As the store does, and remembers how many.
    package func makeDue(_ lanes: [Lane]) async throws {
        duePieces.withLock { $0.append(lanes.count) }
        try await store.makeDue(lanes)
    }

    /// As the store does, and remembers which.
    package func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws {
        dueLanes.withLock { $0.append((lanes, paused)) }
        try await store.makeDue(lanes, excluding: paused)
    }

    package func oldestWait() async throws -> Duration { try await store.oldestWait() }
}
