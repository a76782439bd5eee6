/// What operators do about networks that move.
extension PlacementAdministration {
    /// What is needed to have networks move.
    package struct Moves: Sendable {
        fileprivate let catalog: any MoveCatalog
        fileprivate let directory: PlacementDirectory
        fileprivate let patience: Duration
        fileprivate let changed: @Sendable (NetworkID) -> Void

        package init(
            catalog: some MoveCatalog,
            directory: PlacementDirectory,
            patience: Duration = .seconds(1),
            changed: @escaping @Sendable (NetworkID) -> Void
        ) {
            self.catalog = catalog
            self.directory = directory
            self.patience = patience
            self.changed = changed
        }
    }

    /// Has a network move to another placement.
    ///
    /// - Returns: The move and whether it has begun; it has not where the network is there already. `nil` when there is no such network.
    /// - Throws: ``PlacementProblem``, ``MoveProblem``.
    package func move(_ network: NetworkID, to target: PlacementName) async throws -> (
        move: NetworkMove, hasBegun: Bool
    )? {
        guard names.contains(target), let moves else { throw PlacementProblem.unknown(target) }
        let source = try await moves.directory.placement(of: network)
        if source != target, moves.directory.lastKnown(network) != nil, !moves.directory.isMoving(network) {
            try await requireSameTables(source, target)
        }
        let begun = try await moves.catalog.begin(network, to: target)
        if begun?.hasBegun == true {
            moves.changed(network)
            // Whoever is told that it moves meets nobody here who does not know it. Who has the move in hand prepares it first;
            // where that takes long, or others move before it, nobody is kept waiting.
            _ = await waits(atMost: moves.patience) { moves.directory.isMoving(network) }
        }
        return begun
    }

    /// A network's last move; `nil` when it never moved.
    package func lastMove(of network: NetworkID) async throws -> NetworkMove? {
        try await moves?.catalog.last(of: network)
    }

    /// Has a network stay where it is; `nil` when it does not move.
    ///
    /// - Throws: ``MoveProblem/switched``.
    package func cancelMove(of network: NetworkID) async throws -> NetworkMove? {
        guard let moves, let move = try await moves.catalog.cancel(network) else { return nil }
        moves.changed(network)
        return move
    }
}
