/// Looks at many networks at once, for whoever runs the service: with so many statements, however many networks there are.
package protocol NetworkReportSource: Sendable {
    /// All networks, in the order of their ids.
    func namedNetworks() async throws -> [NamedNetwork]
    /// What is wrong with some networks at a moment: all that is written down of it, which is not what is due and not what is counted.
    func troubles(of networks: [NetworkID], at now: Timestamp) async throws -> [NetworkID: [NetworkTrouble]]
    /// For how long the oldest of what is due has been waiting, of those of some networks that have any.
    func oldestWaits(of networks: [NetworkID]) async throws -> [NetworkID: Duration]
    /// What was counted since a moment in those of some networks in which a post was refused, and in those that are `asked` for; `known` is
    /// left out.
    func figures(
        of networks: [NetworkID],
        refusingSince moment: Timestamp,
        asked: Set<NetworkID>,
        without known: [StatisticsRow]
    ) async throws -> [StatisticsRow]
    /// What events some networks had: counted since a moment, without `known`.
    func activities(
        of networks: [NetworkID],
        since moment: Timestamp,
        without known: [StatisticsRow]
    ) async throws -> [NetworkID: NetworkActivity]
}

package struct NamedNetwork: Sendable, Equatable {
    package var id: NetworkID
    package var displayName: String?

    package init(id: NetworkID, displayName: String?) {
        self.id = id
        self.displayName = displayName
    }
}

/// What events a network had.
package struct NetworkActivity: Sendable, Equatable {
    /// How long without an event makes a network idle.
    package static let day = Duration.seconds(86_400)

    /// How many since the moment that was asked for.
    package var events: Int
    package var isOfLastDay: Bool
    /// Whether any is known.
    package var isKnown: Bool

    package init(events: Int = 0, isOfLastDay: Bool = false, isKnown: Bool = false) {
        self.events = events
        self.isOfLastDay = isOfLastDay
        self.isKnown = isKnown
    }

    /// What is so of a network that nothing is wrong with.
    var state: NetworkState { events > 0 || isOfLastDay ? .working : isKnown ? .idle : .new }
}

package enum NetworkState: String, Sendable, CaseIterable {
    /// Something is wrong with it.
    case failing
    /// It had an event within a day.
    case working
    /// It had none.
    case idle
    /// It has never had one, as far as is known.
    case new
}

package struct NetworkReport: Sendable, Equatable {
    package var network: NamedNetwork
    package var state: NetworkState
    /// What is wrong with it, the worst first.
    package var troubles: [NetworkTrouble]
    package var eventsOfLastHour: Int
    /// For how long the oldest of what waits has been waiting: of what is due, and of what waits for lanes since they are paused.
    package var oldestWait: Duration
}
