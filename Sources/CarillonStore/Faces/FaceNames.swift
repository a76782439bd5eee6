import CarillonCore
package import Postgres

/// What networks of several placements are called by other systems' clients: what must be unique over all of them is claimed at home, in
/// table `face_names`.
package struct FaceNames: Sendable {
    private let pool: PostgresPool

    /// The names in the database of `pool`, which is home's.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// Lets a network have a name that no other may have.
    func claim(_ name: ClaimedName, for network: NetworkID) async throws -> Claim {
        try await pool.write { session in
            let claimed = try session.execute(
                """
                INSERT INTO face_names (kind, face, name, network_id)
                VALUES (\(name.kind.rawValue), \(name.face.rawValue), \(name.text), \(network.rawValue))
                ON CONFLICT (kind, face, name) DO NOTHING
                """
            )
            if claimed > 0 { return .made }
            let owner = try session.queryFirst(
                """
                SELECT network_id FROM face_names
                WHERE kind = \(name.kind.rawValue) AND face = \(name.face.rawValue) AND name = \(name.text)
                """
            ) { row in try row.id(0, of: Network.self) }
            return owner == network ? .held : .refused
        }
    }

    func release(_ name: ClaimedName, of network: NetworkID) async throws {
        try await pool.write(
            """
            DELETE FROM face_names
            WHERE kind = \(name.kind.rawValue) AND face = \(name.face.rawValue) AND name = \(name.text)
                AND network_id = \(network.rawValue)
            """
        )
    }
}

extension FaceNames? {
    /// Has a name claimed before what bears it is stored. The claim is let go when that is refused, or nothing is stored, and stays where
    /// it is not known what became of it.
    func holding<Answer>(
        _ name: ClaimedName?,
        for network: NetworkID,
        orElse refusal: FaceRefusal,
        where isStored: (Answer) -> Bool = { _ in true },
        _ store: () async throws -> Answer
    ) async throws -> Answer {
        guard let self, let name else { return try await store() }
        let claim = try await self.claim(name, for: network)
        if claim == .refused { throw refusal }
        do {
            let answer = try await store()
            guard claim == .made else { return answer }
            // Somebody may have removed the name meanwhile, which was not stored yet.
            if isStored(answer) {
                _ = try await self.claim(name, for: network)
            } else {
                try await self.release(name, of: network)
            }
            return answer
        } catch let refusal as FaceRefusal {
            if claim == .made { try await self.release(name, of: network) }
            throw refusal
        }
    }
}

/// A name that must be unique over all placements.
struct ClaimedName: Sendable {
    enum Kind: String {
        /// What anybody calls a network by in another system.
        case binding
        /// What a key is found by.
        case key
    }

    let kind: Kind
    let face: FaceName
    let text: String
    /// Of what a key is found by; `nil` where that is a name.
    let hash: [UInt8]?

    init(_ kind: Kind, of face: FaceName, _ text: String) {
        self.kind = kind
        self.face = face
        self.text = text
        hash = nil
    }

    init(keyOf face: FaceName, hash: [UInt8]) {
        kind = .key
        self.face = face
        text = Base64URL.encode(hash)
        self.hash = hash
    }
}

extension SQL {
    /// Whether a row `f` is of a network that has left, or was deleted.
    static let isOfDeparted: SQL =
        "NOT EXISTS (SELECT FROM networks n WHERE n.network_id = f.network_id AND n.away IS DISTINCT FROM 'gone')"
}

extension PostgresSession {
    /// Removes what networks have left here under a name that is another's now: they have moved away, or were deleted after that.
    func removeDeparted(_ name: ClaimedName) throws {
        try passMoveFence()
        switch name.kind {
        case .binding:
            try execute(
                """
                DELETE FROM faces f
                WHERE f.face = \(name.face.rawValue) AND f.external_id = \(name.text) AND f.scope = ''
                    AND \(sql: .isOfDeparted)
                """
            )
        case .key:
            let isNamed: SQL =
                name.hash.map { "f.hash = \($0)" } ?? "f.key_name = \(name.text) AND f.sealed IS NOT NULL"
            try execute(
                "DELETE FROM face_keys f WHERE f.face = \(name.face.rawValue) AND \(sql: isNamed) AND \(sql: .isOfDeparted)"
            )
        }
    }
}

/// What became of a claim of a name.
enum Claim: Sendable {
    /// The network has the name now.
    case made
    /// It had it before.
    case held
    /// Another has it.
    case refused
}

extension FaceBinding {
    /// What no other network may be called; `nil` for a name that only the network's own callers can use.
    var claimedName: ClaimedName? { isPrivate ? nil : ClaimedName(.binding, of: face, externalID) }
}

extension StoredFaceKey {
    /// What no other key may be found by: a name, where its holders tell that; otherwise the hash of a secret, which may be one that
    /// somebody's clients have held for long.
    var claimedName: ClaimedName {
        switch proof {
        case .secret: ClaimedName(.key, of: key.face, key.name)
        case .hash(let hash): ClaimedName(keyOf: key.face, hash: hash.bytes)
        }
    }
}
