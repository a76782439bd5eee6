package struct LaneSelection: Sendable, Equatable {
    package var networkID: NetworkID
    package var provider: ProviderName
    /// The app or host; `nil` for all that anything is wrong with.
    package var appID: String?

    package init(networkID: NetworkID, provider: ProviderName, appID: String?) {
        self.networkID = networkID
        self.provider = provider
        self.appID = appID
    }

    package init(_ lane: Lane) {
        self.init(networkID: lane.networkID, provider: lane.provider, appID: lane.appID)
    }

    package func contains(_ lane: Lane) -> Bool {
        networkID == lane.networkID && provider == lane.provider && appID ?? lane.appID == lane.appID
    }
}

package struct ChangedLane: Sendable {
    package var lane: Lane
    package var change: LaneChange

    package init(_ lane: Lane, _ change: LaneChange) {
        self.lane = lane
        self.change = change
    }
}

/// What is wrong with lanes, at one moment.
package struct LaneConditions: Sendable {
    /// The moment, by the database's clock.
    package var moment: Timestamp
    /// The lanes that are not well.
    package var lanes: [Lane: LaneCondition]
    /// Those that a change made otherwise than they were.
    package var changed: Set<Lane> = []

    package init(moment: Timestamp, lanes: [Lane: LaneCondition]) {
        self.moment = moment
        self.lanes = lanes
    }
}

/// Remembers what is wrong with lanes, for all replicas and through restarts.
package protocol LaneStore: Sendable {
    /// The lanes that something is wrong with, of one network or of all.
    func laneConditions(of network: NetworkID?) async throws -> LaneConditions

    /// Changes lanes, those that are well only where one is named; answers what they are then.
    func apply(_ change: LaneChange, to lanes: LaneSelection) async throws -> LaneConditions

    /// Changes lanes one after the other, all at one moment: a network can have thousands. Answers what they are then.
    func apply(_ changes: [ChangedLane]) async throws -> LaneConditions

    /// Makes what waits for lanes due now: what has a ``Remainder/laneReason`` or was given back with one, reports that
    /// the brake holds included. What waits for its own next attempt goes on waiting, as does all of those lanes among them
    /// that are paused.
    func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws

    /// Makes what waits for these lanes due now, which work again: not what the brake holds.
    func makeDue(_ lanes: [Lane]) async throws
}
