package import Foundation

/// What a settle came to.
package struct SettleReceipt: Sendable, Equatable {
    /// The groups whose fence did not match: nothing of those was written, and somebody else has them.
    package var stale: Set<UUID> = []
    /// What lanes are now of which answers were counted.
    package var lanes: [Lane: LaneCondition] = [:]
    /// Users of whose several devices the last one was stopped by a toggle.
    package var stoppedUsers: [StoppedUser] = []

    /// Everything was written.
    package init() {}
}

/// What a claim leaves alone, since this replica could not hold it.
package struct ClaimExclusions: Sendable, Equatable {
    /// Networks that have their share of what it holds.
    package var networks: [NetworkID] = []
    /// Lanes that are full.
    package var lanes: [Lane] = []

    package init() {}
}

/// What came of a renewal of leases; groups that are in neither set are somebody else's.
package struct RenewedLeases: Sendable, Equatable {
    /// Those whose leases last for another ``leaseDuration``.
    package var renewed: Set<UUID>
    /// Those that were passed over, since somebody was writing their rows: their leases last for as long as they did.
    package var passed: Set<UUID>

    package init(renewed: Set<UUID> = [], passed: Set<UUID> = []) {
        self.renewed = renewed
        self.passed = passed
    }
}

/// Where expanded events are written.
package protocol OutboxWriter: Sendable {
    /// Commits pages of expanded events: their deliveries, and how far each event is.
    ///
    /// Messages that have one id are parts of one row (``RelayBundles``). `false` for an event whose lease was lost: nothing of it
    /// was written.
    func enqueue(_ expansions: [Expansion]) async throws -> [Bool]
}

/// The leases of deliveries.
package protocol OutboxClaims: Sendable {
    /// Takes groups whose time has come, a share of `limit` of each network in turn, those that wait longest first, and at
    /// most `limitPerLane` of each lane.
    ///
    /// What is due in a paused lane is put off to the end of the pause. A group that was claimed again and again without
    /// ever being settled or given back is recorded as dead (`crash loop`) instead of being returned.
    /// - Returns: The groups, and whether more may be due.
    func claimGroups(
        limit: Int,
        limitPerLane: Int,
        excluding excluded: ClaimExclusions
    ) async throws -> (groups: [RefreshedGroup], hasMore: Bool)

    /// How long it is until the first row becomes due, of those whose time comes within `limit`; `nil` when there is none.
    func nextDue(within limit: Duration) async throws -> Duration?

    /// Takes groups whose life is over, of whatever lane, but for those of some networks.
    func claimExpired(limit: Int, excluding networks: [NetworkID]) async throws -> [RefreshedGroup]

    /// Holds the leases of these groups for another ``leaseDuration``, without waiting for what somebody else is writing.
    func renew(_ groups: [DeliveryGroup]) async throws -> RenewedLeases

    /// Gives groups back unsent, to be claimed again after `delay`, without counting an attempt; `laneReason` says what is
    /// wrong with their lane, where that is why.
    func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws

    /// How long the longest-waiting group that is due, and the longest-waiting event, have been waiting.
    func oldestWait() async throws -> Duration
}

extension OutboxClaims {
    package func nextDue(within limit: Duration) async throws -> Duration? { nil }
}

/// What is asked just before sending.
package protocol OutboxReader: Sendable {
    /// Looks up devices and toggles of these groups anew.
    func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup]

    /// What changed in each network since a moment, for deliveries that were expanded then.
    func changes(since points: [(network: NetworkID, point: ReadPoint)]) async throws -> [Changes]
}

/// Where outcomes are written.
package protocol OutcomeLog: StoreThreadSource {
    /// Writes down what happened to groups: outcomes, what remains, dead letters, the devices' own states, and what lanes
    /// report. Devices that a lane reports as gone stay in use while its brake is on.
    ///
    /// It is all or nothing. What somebody else is writing is waited for as long as `lockWait`; the error is a
    /// ``TransientError/isContention`` when that takes longer.
    func settle(_ settlements: [Settlement], lockWait: Duration) async throws -> SettleReceipt
}

/// The whole table of deliveries.
package typealias Outbox = OutboxWriter & OutboxClaims & OutboxReader & OutcomeLog & LaneStore
