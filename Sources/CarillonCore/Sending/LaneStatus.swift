/// What a lane is doing, for people to look at (`GET /providers`).
public struct LaneStatus: Sendable, Equatable {
    /// Whether a lane is being sent to.
    public enum Circuit: String, Sendable {
        /// It is.
        case closed
        /// It is not, until a probe succeeds.
        case open
    }

    /// Why what a lane's provider reports as gone is not believed (``HeldReports``).
    public struct Brake: Sendable, Equatable {
        /// Since when.
        public var since: Timestamp
        /// How many of how many were reported.
        public var reason: String

        /// A brake that is on.
        public init(since: Timestamp, reason: String) {
            self.since = since
            self.reason = reason
        }
    }

    /// The lane.
    public var lane: Lane
    /// Whether it is being sent to.
    public var circuit: Circuit
    /// Since when, for an open circuit.
    public var since: Timestamp?
    /// Why, for an open circuit.
    public var reason: String?
    /// Set while the brake on unregistrations is on, whether the circuit is open or not.
    public var brake: Brake?

    /// A status by its parts.
    public init(lane: Lane, circuit: Circuit, since: Timestamp? = nil, reason: String? = nil) {
        self.lane = lane
        self.circuit = circuit
        self.since = since
        self.reason = reason
    }
}
