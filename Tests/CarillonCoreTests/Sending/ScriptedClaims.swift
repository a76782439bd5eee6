import CarillonTesting
import Foundation
import Synchronization

@testable import CarillonCore

/// Claims of a table with one group in it, which are answered when a test lets them.
final class ScriptedClaims: OutboxClaims {
    private struct State {
        var groups: [RefreshedGroup]
        var claims = 0
        var isOpen: Bool
        var released: [DeliveryGroup.ID] = []
    }

    private let state: Mutex<State>

    init(_ groups: [RefreshedGroup] = [], isOpen: Bool = true) {
        state = Mutex(State(groups: groups, isOpen: isOpen))
    }

    /// How many claims were begun.
    var claims: Int { state.withLock(\.claims) }

    /// What was given back.
    var released: [DeliveryGroup.ID] { state.withLock(\.released) }

    func open() { state.withLock { $0.isOpen = true } }

    private func claim() async throws -> [RefreshedGroup] {
        state.withLock { $0.claims += 1 }
        try await waitUntil { state.withLock(\.isOpen) }
        return state.withLock { state in
            defer { state.groups = [] }
            return state.groups
        }
    }

    func claimGroups(
        limit: Int,
        limitPerLane: Int,
        excluding excluded: ClaimExclusions
    ) async throws -> (groups: [RefreshedGroup], hasMore: Bool) {
        (try await claim(), false)
    }

    func claimExpired(limit: Int, excluding networks: [NetworkID]) async throws -> [RefreshedGroup] {
        try await claim()
    }

    func renew(_ groups: [DeliveryGroup]) async throws -> RenewedLeases {
        RenewedLeases(renewed: Set(groups.map(\.id)))
    }

    func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws {
        // As a statement does.
        try Task.checkCancellation()
        state.withLock { $0.released += groups.map(\.id) }
    }

    func oldestWait() async throws -> Duration { .zero }
}
