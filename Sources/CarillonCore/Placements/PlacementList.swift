/// Where networks are, as of one moment.
package struct PlacementList: Sendable, Equatable {
    /// Grows with every change.
    package var version: Int64
    package var placements: [NetworkID: PlacementName]
    /// Those that are on their way elsewhere.
    package var moving: Set<NetworkID>

    package init(version: Int64, placements: [NetworkID: PlacementName], moving: Set<NetworkID> = []) {
        self.version = version
        self.placements = placements
        self.moving = moving
    }

    /// The networks that are elsewhere than they were, have begun to move, or have ended it.
    package func moved(since former: PlacementList) -> Set<NetworkID> {
        let elsewhere = placements.filter { network, placement in
            former.placements[network].map { $0 != placement } ?? false
        }
        return Set(elsewhere.keys).union(moving.symmetricDifference(former.moving))
    }
}

/// Whether a placement takes new networks.
package enum PlacementState: String, Sendable, CaseIterable {
    /// It does; of several the one with the fewest.
    case open
    /// It does not.
    case full
    /// It does not, and its networks are to go elsewhere.
    case leaving
}

/// What home keeps of a placement.
package struct PlacementRecord: Sendable, Equatable {
    package var name: PlacementName
    package var state: PlacementState
    /// How many networks are listed there.
    package var networks: Int

    package init(name: PlacementName, state: PlacementState, networks: Int) {
        self.name = name
        self.state = state
        self.networks = networks
    }
}

/// The list of who is where, which home keeps.
package protocol PlacementCatalog: Sendable {
    /// The list; `nil` when it is still of that version.
    func list(unless version: Int64?) async throws -> PlacementList?
    /// All placements that are known, in the order of their names.
    func records() async throws -> [PlacementRecord]
    /// Has a placement take new networks, or take none; `false` when none of that name is known.
    func setState(_ state: PlacementState, of name: PlacementName) async throws -> Bool
    /// Decides where a network is made, before it is made there.
    ///
    /// One that is listed stays where it is listed, and a request which comes again goes where it went before, so that it meets what its first
    /// attempt has left.
    /// - Parameters:
    ///   - network: The network.
    ///   - wanted: Where whoever makes it wants it; the placement with the fewest otherwise.
    ///   - candidates: The placements that are configured here.
    ///   - request: The request, where its caller means to repeat it.
    /// - Returns: The placement.
    /// - Throws: ``PlacementProblem/full(_:)``, ``IdempotentRequest/Failure/differentBody``.
    func reserve(
        _ network: NetworkID,
        in wanted: PlacementName?,
        among candidates: [PlacementName],
        for request: IdempotentRequest?
    ) async throws -> PlacementName
}
