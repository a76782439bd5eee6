package import Foundation

/// One page of an event, expanded: what has to be written in one commit.
package struct Expansion: Sendable {
    /// The event, with the fence and with the counts of all pages up to this one.
    package var event: PendingEvent
    /// Where the page before ended: a page is written only once, even when the answer to its commit was lost.
    package var after: UserID?
    /// The deliveries of this page.
    package var groups: [DeliveryGroup]
    /// Where this page ended, or `nil` when it was the last one.
    package var next: UserID?

    /// An expansion by its parts.
    package init(event: PendingEvent, after: UserID? = nil, groups: [DeliveryGroup], next: UserID?) {
        self.event = event
        self.after = after
        self.groups = groups
        self.next = next
    }
}

/// A group as the database has it now.
package struct RefreshedGroup: Sendable {
    /// The group, without the devices that are gone, with the addresses of today.
    package var group: DeliveryGroup
    /// Devices that are no longer the user's, or no longer active.
    package var gone: [Target]
    /// What the users of the other devices have set.
    package var settings: [UserID: ToggleSettings]
    /// The admin's switches.
    package var networkToggles: NetworkToggles
    /// The moment, or an earlier one.
    package var readPoint: ReadPoint

    /// A refreshed group by its parts.
    package init(
        group: DeliveryGroup,
        gone: [Target],
        settings: [UserID: ToggleSettings],
        networkToggles: NetworkToggles,
        readPoint: ReadPoint
    ) {
        self.readPoint = readPoint
        self.group = group
        self.gone = gone
        self.settings = settings
        self.networkToggles = networkToggles
    }
}

/// What was switched or unregistered in a network since a moment.
package enum Changes: Sendable, Equatable {
    /// Nothing that could forbid a delivery.
    case none
    /// Only these users are touched.
    case users(Set<UserID>)
    /// Everybody may be touched.
    case everybody

    /// Whether a delivery to this user has to be looked at again.
    package func touch(_ user: UserID) -> Bool {
        switch self {
        case .none: false
        case .users(let users): users.contains(user)
        case .everybody: true
        }
    }
}

/// The durable queue of deliveries.
package protocol DeliveryQueue: Sendable {
    /// Commits pages of expanded events: their deliveries, and how far each event is.
    ///
    /// `false` for an event whose lease was lost: nothing of it was written.
    func enqueue(_ expansions: [Expansion]) async throws -> [Bool]

    /// Takes groups whose time has come, round-robin over networks and lanes, at most `limit` in all and
    /// `limitPerLane` of each lane; lanes in `excluded` are left alone.
    ///
    /// A group that was claimed again and again without ever being settled or given back is recorded as dead
    /// (`crash loop`) instead of being returned.
    func claimGroups(limit: Int, limitPerLane: Int, excluding excluded: [Lane]) async throws -> [RefreshedGroup]

    /// Takes groups whose life is over, of whatever lane.
    func claimExpired(limit: Int) async throws -> [RefreshedGroup]

    /// Looks up devices and toggles of these groups anew.
    func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup]

    /// What changed in each network since a moment, for deliveries that were expanded then.
    func changes(since points: [(network: NetworkID, point: ReadPoint)]) async throws -> [Changes]

    /// Writes down what happened to groups: outcomes, what remains, dead letters, and the devices' own states.
    ///
    /// Answers the ids of groups whose fence did not match: nothing of those was written, and somebody else has them.
    func settle(_ settlements: [Settlement]) async throws -> Set<UUID>

    /// Holds the leases of these groups for another ``leaseDuration``; answers those still held.
    func renew(_ groups: [DeliveryGroup]) async throws -> Set<UUID>

    /// Gives groups back unsent, to be claimed again after `delay`, without counting an attempt; `laneReason` says what is
    /// wrong with their lane, where that is why.
    func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws

    /// Makes what waits for a provider's lanes due now, of one app or, without `appID`, of all: what it waited for is there.
    ///
    /// That is what has a ``Remainder/laneReason`` or was given back with one, reports that the brake holds included, and
    /// what never failed, which has nothing else to wait for. What waits for its own next attempt goes on waiting.
    func makeDue(_ provider: ProviderName, appID: String?, in network: NetworkID) async throws

    /// Lets go the brake of a lane (``UnregistrationBrake``) until a moment, in all replicas.
    func releaseBrake(of lane: Lane, until end: Timestamp) async throws

    /// The lanes whose brake is let go now.
    func releasedBrakes() async throws -> Set<Lane>

    /// How long the longest-waiting group that is due, and the longest-waiting event, have been waiting.
    func oldestWait() async throws -> Duration
}

extension DeliveryQueue {
    /// Gives groups back unsent, for no fault of their lane.
    package func release(_ groups: [DeliveryGroup], after delay: Duration) async throws {
        try await release(groups, after: delay, laneReason: nil)
    }
}
