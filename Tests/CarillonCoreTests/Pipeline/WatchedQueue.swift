import CarillonTesting
import Foundation
import Synchronization

@testable import CarillonCore

/// A queue in memory whose settlements a test can refuse, and that remembers what was claimed.
final class WatchedQueue: DeliveryQueue {
    /// A write that can never succeed.
    struct NeverWritten: TransientError {
        var isTransient: Bool { false }
    }

    private let store: MemoryStore
    private let refuses: @Sendable (Settlement) -> Bool
    private let claimedGroups = Mutex<Set<DeliveryGroup.ID>>([])
    private let settled = Mutex<[[Settlement]]>([])

    init(_ store: MemoryStore, refusing refuses: @Sendable @escaping (Settlement) -> Bool = { _ in false }) {
        self.store = store
        self.refuses = refuses
    }

    /// The groups that were claimed because they were due.
    var claimed: Set<DeliveryGroup.ID> { claimedGroups.withLock(\.self) }

    /// What was written down.
    var settlements: [Settlement] { settled.withLock { $0.flatMap(\.self) } }

    /// How many settlements were written at a time.
    var writes: [Int] { settled.withLock { $0.map(\.count) } }

    func claimGroups(limit: Int, limitPerLane: Int, excluding excluded: [Lane]) async throws -> [RefreshedGroup] {
        let groups = try await store.claimGroups(limit: limit, limitPerLane: limitPerLane, excluding: excluded)
        claimedGroups.withLock { $0.formUnion(groups.map(\.group.id)) }
        return groups
    }

    func settle(_ settlements: [Settlement]) async throws -> Set<UUID> {
        if settlements.contains(where: refuses) { throw NeverWritten() }
        let stale = try await store.settle(settlements)
        settled.withLock { $0.append(settlements) }
        return stale
    }

    func enqueue(_ expansions: [Expansion]) async throws -> [Bool] { try await store.enqueue(expansions) }

    func claimExpired(limit: Int) async throws -> [RefreshedGroup] { try await store.claimExpired(limit: limit) }

    func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup] { try await store.refresh(groups) }

    func changes(since points: [(network: NetworkID, point: ReadPoint)]) async throws -> [Changes] {
        try await store.changes(since: points)
    }

    func renew(_ groups: [DeliveryGroup]) async throws -> Set<UUID> { try await store.renew(groups) }

    func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws {
        try await store.release(groups, after: delay, laneReason: laneReason)
    }

    func makeDue(_ provider: ProviderName, appID: String?, in network: NetworkID) async throws {
        try await store.makeDue(provider, appID: appID, in: network)
    }

    func releaseBrake(of lane: Lane, until end: Timestamp) async throws {
        try await store.releaseBrake(of: lane, until: end)
    }

    func releasedBrakes() async throws -> Set<Lane> { try await store.releasedBrakes() }

    func oldestWait() async throws -> Duration { try await store.oldestWait() }
}
