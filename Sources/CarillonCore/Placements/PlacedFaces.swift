/// What networks of several placements are called by other systems' clients: what must be unique over all of them is claimed at home.
package struct PlacedFaces: FaceStore {
    private let placed: Placed<any FaceStore>
    private let catalog: any PlacementCatalog

    /// The faces of all placements; `catalog` is home's.
    package init(_ placed: Placed<any FaceStore>, catalog: some PlacementCatalog) {
        self.placed = placed
        self.catalog = catalog
    }

    package func putFaceBinding(_ binding: FaceBinding, claiming: Bool) async throws -> Bool {
        try await holding(binding.claimedName, for: binding.networkID, orElse: claiming ? .nameTaken : .notOwned) {
            try await placed.toWrite(binding.networkID).putFaceBinding(binding, claiming: claiming)
        }
    }

    package func deleteFaceBinding(_ face: FaceName, externalID: String, of network: NetworkID) async throws -> Bool {
        let deleted = try await placed.toWrite(network).deleteFaceBinding(face, externalID: externalID, of: network)
        if deleted { try await catalog.release(ClaimedName(.binding, of: face, externalID), of: network) }
        return deleted
    }

    package func addFaceKey(_ key: StoredFaceKey, answering request: IdempotentRequest?) async throws -> Creation {
        try await holding(key.claimedName, for: key.key.networkID, orElse: .nameTaken) {
            try await placed.toWrite(key.key.networkID).addFaceKey(key, answering: request)
        }
    }

    package func deleteFaceKey(_ face: FaceName, name: String, of network: NetworkID) async throws -> Bool {
        let deleted = try await placed.toWrite(network).deleteFaceKey(face, name: name, of: network)
        if deleted { try await catalog.release(ClaimedName(.key, of: face, name), of: network) }
        return deleted
    }

    /// Has a name claimed before what bears it is stored. The claim is let go when that is refused, and stays where it is not known what
    /// became of it.
    private func holding<Answer>(
        _ name: ClaimedName?,
        for network: NetworkID,
        orElse refusal: FaceRefusal,
        _ store: () async throws -> Answer
    ) async throws -> Answer {
        guard let name else { return try await store() }
        let claim = try await catalog.claim(name, for: network)
        if claim == .refused { throw refusal }
        do {
            return try await store()
        } catch let refusal as FaceRefusal {
            if claim == .made { try await catalog.release(name, of: network) }
            throw refusal
        }
    }
}

extension FaceBinding {
    /// What no other network may be called; `nil` for a name that only the network's own callers can use.
    fileprivate var claimedName: ClaimedName? { isPrivate ? nil : ClaimedName(.binding, of: face, externalID) }
}

extension StoredFaceKey {
    /// What no other key may be found by: a name, where its holders tell that. A hash is one of random bytes, and needs no claim.
    fileprivate var claimedName: ClaimedName? {
        if case .secret = proof { ClaimedName(.key, of: key.face, key.name) } else { nil }
    }
}

// MARK: - Handed on

extension PlacedFaces {
    package func faceBindings(of network: NetworkID) async throws -> [FaceBinding] {
        try await placed.of(network).faceBindings(of: network)
    }

    package func faceKeys(_ face: FaceName, of network: NetworkID) async throws -> [FaceKey] {
        try await placed.of(network).faceKeys(face, of: network)
    }

    package func useNonce(_ hash: [UInt8], until end: Timestamp, of network: NetworkID) async throws -> Bool {
        try await placed.toWrite(network).useNonce(hash, until: end, of: network)
    }

    package func keepTexts(_ texts: [EventID: String], of network: NetworkID) async throws {
        try await placed.toWrite(network).keepTexts(texts, of: network)
    }

    package func text(of event: EventID, in network: NetworkID) async throws -> String? {
        try await placed.of(network).text(of: event, in: network)
    }
}
