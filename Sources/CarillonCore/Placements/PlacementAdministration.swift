/// How far a database is behind the migrations of this release.
package struct MigrationStatus: Sendable, Equatable {
    /// The number of the last one that was run; `nil` before the first.
    package var version: Int?
    /// The names of those that were not run yet, in order.
    package var pending: [String]

    package var isCurrent: Bool { pending.isEmpty }

    package init(version: Int?, pending: [String]) {
        self.version = version
        self.pending = pending
    }
}

/// How a placement is, for whoever runs the service.
package struct PlacementStatus: Sendable, Equatable {
    package var record: PlacementRecord
    package var look: PlacementAdministration.Look
}

/// What whoever runs the service asks of placements, and says where networks go.
package struct PlacementAdministration: Sendable {
    /// What one look at a placement's database told.
    package struct Look: Sendable, Equatable {
        /// Why it cannot be used at the moment, in plain words; `nil` when it can.
        package var reason: String?
        /// `nil` where that could not be asked.
        package var schema: MigrationStatus?
        /// How large its database is; `nil` where that could not be asked.
        package var bytes: Int64?

        package init(reason: String?, schema: MigrationStatus? = nil, bytes: Int64? = nil) {
            self.reason = reason
            self.schema = schema
            self.bytes = bytes
        }
    }

    /// The placements that are configured here.
    package let names: [PlacementName]
    private let catalog: (any PlacementCatalog)?
    private let look: @Sendable (PlacementName) async -> Look
    private let problem: @Sendable (PlacementName) -> String?
    private let networks: @Sendable () async throws -> Int
    private let known: @Sendable () -> Set<PlacementName>
    let moves: Moves?

    /// The administration of some placements.
    ///
    /// - Parameters:
    ///   - names: The placements that are configured here.
    ///   - catalog: Home's list; `nil` where there is one placement, for which there is none.
    ///   - problem: Why a placement cannot be used, as far as that is known without asking.
    ///   - networks: Counts the networks, where there is one placement.
    ///   - known: The placements that have networks, as far as that is known without asking.
    ///   - moves: What is needed to have networks move; `nil` where there is nowhere to go.
    ///   - look: Asks a placement's database.
    package init(
        names: [PlacementName],
        catalog: (any PlacementCatalog)?,
        problem: @escaping @Sendable (PlacementName) -> String?,
        networks: @escaping @Sendable () async throws -> Int,
        known: @escaping @Sendable () -> Set<PlacementName> = { [] },
        moves: Moves? = nil,
        look: @escaping @Sendable (PlacementName) async -> Look
    ) {
        self.names = names
        self.catalog = catalog
        self.problem = problem
        self.networks = networks
        self.known = known
        self.moves = moves
        self.look = look
    }

    /// Whether networks are in several placements.
    package var areSeveral: Bool { catalog != nil }

    /// The placements that cannot be used, as far as that is known without asking.
    package var unavailable: [PlacementName] {
        guard areSeveral else { return [] }
        return known().subtracting(names).union(names.filter { problem($0) != nil }).sorted()
    }

    /// All placements: those that are configured here, and others that have networks.
    package func statuses() async throws -> [PlacementStatus] {
        guard let catalog else {
            let look = await look(.home)
            let count = look.reason == nil ? try await networks() : 0
            let record = PlacementRecord(name: .home, state: .open, networks: count)
            return [PlacementStatus(record: record, look: look)]
        }
        let records = try await catalog.records().filter { names.contains($0.name) || $0.networks > 0 }
        return try await withThrowingTaskGroup(of: PlacementStatus.self) { tasks in
            for record in records { tasks.addTask { await status(of: record) } }
            return try await tasks.reduce(into: []) { $0.append($1) }.sorted { $0.record.name < $1.record.name }
        }
    }

    /// Has a placement take new networks, or take none; the only one takes all that there are, whatever is said.
    ///
    /// - Returns: How it is now; `nil` when there is none of that name.
    package func setState(_ state: PlacementState, of name: PlacementName) async throws -> PlacementStatus? {
        guard let catalog else { return try await statuses().first { $0.record.name == name } }
        guard try await catalog.setState(state, of: name) else { return nil }
        guard let record = try await catalog.records().first(where: { $0.name == name }) else { return nil }
        return await status(of: record)
    }

    /// Decides where a network is made; `nil` where there is one placement only.
    ///
    /// - Throws: ``PlacementProblem``, ``IdempotentRequest/Failure/differentBody``.
    package func reserve(
        _ network: NetworkID,
        in wanted: PlacementName?,
        for request: IdempotentRequest?
    ) async throws -> PlacementName? {
        if let wanted, !names.contains(wanted) { throw PlacementProblem.unknown(wanted) }
        guard let catalog else { return nil }
        let problems = Dictionary(uniqueKeysWithValues: names.compactMap { name in problem(name).map { (name, $0) } })
        if let wanted, let reason = problems[wanted] { throw PlacementProblem.unavailable(wanted, reason: reason) }
        let usable = names.filter { problems[$0] == nil }
        do {
            return try await catalog.reserve(network, in: wanted, among: usable, for: request)
        } catch PlacementProblem.full(nil) {
            // One that cannot be asked now may be open.
            let first = problems.min { $0.key < $1.key }
            throw first.map { PlacementProblem.unavailable($0.key, reason: $0.value) } ?? PlacementProblem.full(nil)
        }
    }

    /// Passes two placements that can be used and whose tables are made by the same migrations.
    ///
    /// - Throws: ``PlacementProblem/schemasDiffer(_:_:)``, also where that is why one cannot be used; ``PlacementProblem/unavailable(_:reason:)``.
    func requireSameTables(_ source: PlacementName, _ target: PlacementName) async throws(PlacementProblem) {
        let looks = (source: await look(source), target: await look(target))
        if let schema = looks.source.schema, let other = looks.target.schema, schema != other {
            throw .schemasDiffer(source, target)
        }
        if let reason = looks.source.reason { throw .unavailable(source, reason: reason) }
        if let reason = looks.target.reason { throw .unavailable(target, reason: reason) }
    }

    private func status(of record: PlacementRecord) async -> PlacementStatus {
        let isConfigured = names.contains(record.name)
        let look = isConfigured ? await look(record.name) : Look(reason: "its URL is not configured here")
        return PlacementStatus(record: record, look: look)
    }
}
