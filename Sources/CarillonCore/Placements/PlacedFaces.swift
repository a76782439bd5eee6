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
        let isNew = try await holding(
            binding.claimedName,
            for: binding.networkID,
            orElse: claiming ? .nameTaken : .notOwned
        ) {
            try await placed.toWrite(binding.networkID).putFaceBinding(binding, claiming: claiming)
        }
        // Before it was private, everybody may have called the network so.
        if binding.isPrivate, !isNew {
            try await catalog.release(
                ClaimedName(.binding, of: binding.face, binding.externalID),
                of: binding.networkID
            )
        }
        return isNew
    }

    package func deleteFaceBinding(_ face: FaceName, externalID: String, of network: NetworkID) async throws -> Bool {
        let deleted = try await placed.toWrite(network).deleteFaceBinding(face, externalID: externalID, of: network)
        if deleted { try await catalog.release(ClaimedName(.binding, of: face, externalID), of: network) }
        return deleted
    }

    package func addFaceKey(_ key: StoredFaceKey, answering request: IdempotentRequest?) async throws -> Creation {
        // Whoever asks once more for a key that was made gets that one.
        try await holding(key.claimedName, for: key.key.networkID, orElse: .nameTaken, where: { $0 == .created }) {
            try await placed.toWrite(key.key.networkID).addFaceKey(key, answering: request)
        }
    }

    package func deleteFaceKey(_ face: FaceName, name: String, of network: NetworkID) async throws -> RemovedFaceKey? {
        let removed = try await placed.toWrite(network).deleteFaceKey(face, name: name, of: network)
        if let removed {
            let claimed = removed.hash.map { ClaimedName(.key, of: face, hash: $0) }
            try await catalog.release(claimed ?? ClaimedName(.key, of: face, name), of: network)
        }
        return removed
    }

    /// Has a name claimed before what bears it is stored. The claim is let go when that is refused, or nothing is stored, and stays where
    /// it is not known what became of it.
    private func holding<Answer>(
        _ name: ClaimedName?,
        for network: NetworkID,
        orElse refusal: FaceRefusal,
        where isStored: (Answer) -> Bool = { _ in true },
        _ store: () async throws -> Answer
    ) async throws -> Answer {
        guard let name else { return try await store() }
        let claim = try await catalog.claim(name, for: network)
        if claim == .refused { throw refusal }
        do {
            let answer = try await store()
            if claim == .made, !isStored(answer) { try await catalog.release(name, of: network) }
            return answer
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
    /// What no other key may be found by: a name, where its holders tell that; otherwise the hash of a secret, which may be one that
    /// somebody's clients have held for long.
    fileprivate var claimedName: ClaimedName {
        switch proof {
        case .secret: ClaimedName(.key, of: key.face, key.name)
        case .hash(let hash): ClaimedName(.key, of: key.face, hash: hash)
        }
    }
}

extension ClaimedName {
    fileprivate init(_ kind: Kind, of face: FaceName, hash: [UInt8]) {
        self.init(kind, of: face, Base64URL.encode(hash))
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
