package import struct Foundation.UUID

/// A network's way from one placement to another.
package struct NetworkMove: Sendable, Equatable {
    /// How far a move is.
    package enum Step: String, Sendable, CaseIterable {
        /// Nothing new is accepted; what providers have in hand is finished.
        case draining
        /// Nothing of the network changes any more.
        case fenced
        case copying
        /// There is no way back but another move.
        case switching
        /// The network is in its new placement; what is left in the former one is going to be removed.
        case purging
        case done
        /// The network is where it was.
        case cancelled

        /// Whether the network is neither here nor there.
        package var isUnderWay: Bool { [.draining, .fenced, .copying, .switching].contains(self) }
    }

    package var id: UUID
    package var network: NetworkID
    package var source: PlacementName
    package var target: PlacementName
    package var step: Step
    /// Somebody wants the network back where it was.
    package var isCancelled = false
    /// Why it was cancelled, or does not go on.
    package var reason: String?
    package var rows: Int64 = 0
    package var bytes: Int64 = 0
    package var startedAt: Timestamp
    /// For how long nothing could be changed in the network, up to now or to its end.
    package var frozen = Duration.zero
    /// Where something of the network is left that is to be removed.
    package var remains: PlacementName?

    package init(
        id: UUID,
        network: NetworkID,
        source: PlacementName,
        target: PlacementName,
        step: Step,
        startedAt: Timestamp
    ) {
        self.id = id
        self.network = network
        self.source = source
        self.target = target
        self.step = step
        self.startedAt = startedAt
    }
}

/// Why a network is not moved, or not back.
package enum MoveProblem: Error, Sendable, Equatable {
    /// It moves already.
    case inProgress
    /// It is in its new placement: only another move brings it back.
    case switched
}

/// The moves of networks, which home keeps.
package protocol MoveCatalog: Sendable {
    /// Begins a move.
    ///
    /// - Returns: The move and whether it has begun; it has not where the network is there already. `nil` when there is no such network.
    /// - Throws: ``MoveProblem/inProgress``.
    func begin(_ network: NetworkID, to target: PlacementName) async throws -> (move: NetworkMove, hasBegun: Bool)?
    /// A network's last move; `nil` when it never moved.
    func last(of network: NetworkID) async throws -> NetworkMove?
    /// Has a network stay where it is; `nil` when it does not move.
    ///
    /// - Throws: ``MoveProblem/switched``.
    func cancel(_ network: NetworkID) async throws -> NetworkMove?
}
