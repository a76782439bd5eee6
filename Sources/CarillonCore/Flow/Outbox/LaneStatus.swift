/// What a lane is doing, for people to look at (`GET /providers`).
package struct LaneStatus: Sendable, Equatable {
    /// Whether a lane is being sent to.
    package enum Circuit: String, Sendable {
        case closed
        /// It is not, until a probe succeeds.
        case open
    }

    /// Why what a lane's provider reports as gone is not believed (``DeviceReports``).
    package struct Brake: Sendable, Equatable {
        package var since: Timestamp
        /// How many of how many were reported.
        package var reason: String
    }

    package var lane: Lane
    package var circuit: Circuit
    /// Since when, for an open circuit.
    package var since: Timestamp?
    /// Why, for an open circuit.
    package var reason: String?
    /// Set while the brake on unregistrations is on, whether the circuit is open or not.
    package var brake: Brake?

    package init(lane: Lane, circuit: Circuit, since: Timestamp? = nil, reason: String? = nil) {
        self.lane = lane
        self.circuit = circuit
        self.since = since
        self.reason = reason
    }

    package init(lane: Lane, _ condition: LaneCondition) {
        self.init(lane: lane, circuit: condition.pause == nil ? .closed : .open)
        since = condition.pause?.since
        reason = condition.pause?.reason
        brake = condition.brakedSince.map { Brake(since: $0, reason: condition.brakeReason) }
    }
}
