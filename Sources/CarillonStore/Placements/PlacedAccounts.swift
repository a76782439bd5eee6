package import CarillonCore

/// The accounts of networks in several placements.
package struct PlacedAccounts: AccountStore, AccountSecrets {
    package let accounts: Placed<PostgresAccountStore>
    private let catalog: PostgresPlacementCatalog
    private let directory: PlacementDirectory

    /// The accounts of all placements; `catalog` and `directory` are what home keeps of who is where.
    package init(
        _ accounts: Placed<PostgresAccountStore>,
        catalog: PostgresPlacementCatalog,
        directory: PlacementDirectory
    ) {
        self.accounts = accounts
        self.catalog = catalog
        self.directory = directory
    }

    /// Makes a network in the placement that was decided on, and says at home that it is there.
    ///
    /// What an attempt leaves that is cut off in between is found by the next one, or by home's housekeeping. A request that was carried out is
    /// answered as it was where that happened, wherever its network is now.
    /// - Throws: ``IdempotentRequest/Failure``, ``PlacementProblem``.
    package func createNetwork(
        _ credentials: NetworkCredentials,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let network = credentials.network
        let placement = network.placement ?? .home
        let store = try accounts.port(of: placement)
        if let request, let answer = try await formerAnswer(to: request, outside: placement) {
            return .repeated(answer: answer)
        }
        guard try await isFree(network.id, outside: placement) else {
            guard let request, let answer = try await store.formerAnswer(to: request) else { return .beingDeleted }
            return .repeated(answer: answer)
        }
        let creation = try await store.createNetwork(credentials, answering: request)
        if creation != .beingDeleted { try await catalog.confirm([network.id]) }
        await directory.changed(in: network.id)
        return creation
    }

    /// What a request was answered that was carried out in another placement than its network is in.
    private func formerAnswer(to request: IdempotentRequest, outside placement: PlacementName) async throws -> [UInt8]?
    {
        guard let former = try await catalog.placement(of: request), former != placement else { return nil }
        return try await accounts.port(of: former).formerAnswer(to: request)
    }

    /// Whether nothing is left of a deleted network in another placement than the next one of its id is made in.
    private func isFree(_ id: NetworkID, outside placement: PlacementName) async throws -> Bool {
        // What a move has left is removed by whoever moves networks.
        guard try await catalog.remains(ofFormer: id).isDisjoint(with: accounts.ports.keys) else { return false }
        guard let former = try await catalog.placementOfDeleted(id), former != placement else { return true }
        // Where nobody looks for a network any more, none is in the way.
        guard let store = accounts.ports[former] else { return true }
        guard try await store.finishDeletion(of: id) else { return false }
        try await catalog.forgetDeleted(id, in: former)
        return true
    }

    /// Networks in the order of their ids, of the placements that answer.
    package func networks(after: NetworkID?, limit: Int) async throws -> NetworkPage {
        let pages = try await accounts.each { name, store in
            (name, try await store.networks(after: after, limit: limit).networks.map { $0.placed(in: name) })
        }
        // Others run placements whose URL is not known here.
        let missing = Set(accounts.ports.keys).union(directory.counts.keys).subtracting(pages.map(\.0))
        let networks = pages.flatMap(\.1).sorted { $0.id < $1.id }.prefix(limit)
        return NetworkPage(Array(networks), incomplete: missing.sorted())
    }

    /// Removes a network from its placement, and then from the list: where that fails, home's housekeeping finds it. What else was in it goes
    /// last, as far as there is time for it.
    package func deleteNetwork(_ id: NetworkID) async throws -> Bool {
        let placement = try await directory.placement(of: id)
        let store = try await accounts.toWrite(id)
        guard try await store.removeNetwork(id) else { return false }
        try await catalog.remove([id], from: placement, olderThan: .zero)
        await directory.changed(in: id)
        try await store.purgeIfPossible(id, until: .now + store.patience)
        return true
    }

    package func network(_ id: NetworkID) async throws -> Network? {
        try await found(id) { try await $0.network(id) }?.placed(in: directory.placement(of: id))
    }

    package func credentials(of id: NetworkID) async throws -> NetworkCredentials? {
        try await found(id) { try await $0.credentials(of: id) }
    }

    /// What there is of a network where it is, which is looked for once more where it is not.
    private func found<Answer>(
        _ id: NetworkID,
        _ ask: (PostgresAccountStore) async throws -> Answer?
    ) async throws -> Answer? {
        let placement = directory.lastKnown(id)
        if let answer = try await ask(accounts.of(id)) { return answer }
        guard let placement else { return nil }
        if try await directory.isElsewhere(id, than: placement) { return try await ask(accounts.of(id)) }
        // Where it was it is no more, and home does not say yet where it is.
        guard !directory.isMoving(id) else { throw PlacementProblem.moving }
        return nil
    }

    /// Those that there are. Where the network of one that is missing has left, it is looked for once more.
    package func existingAPIKeys(_ names: Set<APIKeyName>) async throws -> Set<APIKeyName> {
        let asked = names.reduce(into: [:]) { $0[$1.networkID] = directory.lastKnown($1.networkID) }
        let existing = try await keys(names)
        var left: Set<NetworkID> = []
        for network in Set(names.subtracting(existing).map(\.networkID)) {
            guard let placement = asked[network] else { continue }
            guard try await accounts.of(network).network(network) == nil else { continue }
            if try await directory.isElsewhere(network, than: placement) { left.insert(network) }
        }
        guard !left.isEmpty else { return existing }
        return existing.union(try await keys(names.filter { left.contains($0.networkID) }))
    }

    private func keys(_ names: Set<APIKeyName>) async throws -> Set<APIKeyName> {
        let (answers, failure) = await accounts.parts(names, by: \.networkID) { store, names in
            try await store.existingAPIKeys(Set(names))
        }
        if let failure { throw failure }
        return answers.reduce(into: []) { $0.formUnion($1) }
    }

    package func updateNetwork(
        _ id: NetworkID,
        _ change: @escaping @Sendable (Network) throws -> Network
    ) async throws -> Network? {
        try await accounts.toWrite(id).updateNetwork(id, change)?.placed(in: directory.placement(of: id))
    }
}

extension Network {
    fileprivate func placed(in placement: PlacementName) -> Network {
        var network = self
        network.placement = placement
        return network
    }
}
