/// What a lane is doing, for people to look at (`GET /providers`).
public struct LaneStatus: Sendable, Equatable {
    /// Whether a lane is being sent to.
    public enum Circuit: String, Sendable {
        /// It is.
        case closed
        /// It is not, until a probe succeeds.
        case open
    }

    /// The lane.
    public var lane: Lane
    /// Whether it is being sent to.
    public var circuit: Circuit
    /// Since when, for an open circuit.
    public var since: Timestamp?
    /// Why, for an open circuit.
    public var reason: String?

    /// A status by its parts.
    public init(lane: Lane, circuit: Circuit, since: Timestamp? = nil, reason: String? = nil) {
        self.lane = lane
        self.circuit = circuit
        self.since = since
        self.reason = reason
    }
}
