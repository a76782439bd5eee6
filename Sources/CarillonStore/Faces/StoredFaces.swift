package import CarillonCore
package import Postgres

/// All bindings and keys of the networks of a placement.
package struct PostgresFaceList: FaceListSource {
    private let pool: PostgresPool
    private let box: SecretBox

    package init(pool: PostgresPool, box: SecretBox) {
        self.pool = pool
        self.box = box
    }

    package func faceList(unless version: Int64?) async throws -> FaceList? {
        let stored = try await pool.snapshot { session -> (FaceList, [SealedFaceKey])? in
            let changes = try session.first("SELECT changes FROM face_changes", as: Int64.self)
            guard let changes, changes != version else { return nil }
            let list = FaceList(version: changes, bindings: try session.faceBindings(), keys: [])
            return (list, try session.faceKeys())
        }
        guard case (var list, let keys)? = stored else { return nil }
        list.keys = keys.compactMap { $0.opened(box) }
        return list
    }
}

struct SealedFaceKey: Sendable {
    var key: FaceKey
    var hash: [UInt8]?
    var sealed: [UInt8]?

    /// The key with its secret; `nil` when another master key has sealed it.
    func opened(_ box: SecretBox) -> StoredFaceKey? {
        if let hash { return StoredFaceKey(key: key, proof: .hash(SecretHash(bytes: hash))) }
        guard let sealed, let bytes = try? box.open(sealed, for: .faceKey(key), in: key.networkID) else { return nil }
        return StoredFaceKey(key: key, proof: .secret(Secret(String(decoding: bytes, as: UTF8.self))))
    }
}

extension SecretBox {
    /// What is kept of a key's secret: columns `hash` and `sealed`.
    func proof(of stored: StoredFaceKey) throws -> (hash: [UInt8]?, sealed: [UInt8]?) {
        switch stored.proof {
        case .hash(let hash):
            return (hash.bytes, nil)
        case .secret(let secret):
            let purpose = Purpose.faceKey(stored.key)
            return (nil, try secret.reveal { try seal(Array($0.utf8), for: purpose, in: stored.key.networkID) })
        }
    }
}

extension SecretBox.Purpose {
    /// Verifies what a face's callers have signed.
    fileprivate static func faceKey(_ key: FaceKey) -> Self {
        Self(rawValue: "face-key/\(key.face.rawValue)/\(key.name)")
    }
}

extension PostgresSession {
    /// Lets everybody who remembers bindings and keys read them anew. To be called last: all who change them wait for each other.
    func countFaceChange() throws {
        try execute("UPDATE face_changes SET changes = changes + 1")
    }

    /// The scope of the network's own binding of that name; `nil` when it has none.
    func scope(of binding: FaceBinding) throws -> String? {
        try first(
            """
            SELECT scope FROM faces
            WHERE network_id = \(binding.networkID.rawValue) AND face = \(binding.face.rawValue)
                AND external_id = \(binding.externalID)
            """,
            as: String.self
        )
    }

    /// Writes a binding over the network's own.
    func put(_ binding: FaceBinding) throws {
        let scope = binding.isPrivate ? binding.networkID.rawValue : ""
        try execute(
            """
            INSERT INTO faces (face, external_id, scope, network_id, settings, updated_at)
            VALUES (\(binding.face.rawValue), \(binding.externalID), \(scope), \(binding.networkID.rawValue),
                    \(JSONValue.object(binding.settings).serializedText), \(binding.updatedAt.stored))
            ON CONFLICT (network_id, face, external_id) DO UPDATE
            SET scope = EXCLUDED.scope, settings = EXCLUDED.settings, updated_at = EXCLUDED.updated_at
            """
        )
    }

    /// How many rows of a face a network has in a table.
    func count(_ face: FaceName, of network: NetworkID, in table: String) throws -> Int {
        let isMeant: SQL = "network_id = \(network.rawValue) AND face = \(face.rawValue)"
        return try first("SELECT count(*) FROM \(identifier: table) WHERE \(sql: isMeant)") ?? 0
    }

    /// All bindings but those that only a later release can read.
    fileprivate func faceBindings() throws -> [FaceBinding] {
        try query(
            """
            SELECT \(sql: Row.faceBindingColumns) FROM faces f WHERE \(sql: .isNetworkHere) ORDER BY face, external_id, scope
            """
        ) { row in try row.faceBinding() }.compactMap(\.self)
    }

    /// All keys but those that only a later release can read.
    fileprivate func faceKeys() throws -> [SealedFaceKey] {
        try query(
            """
            SELECT \(sql: Row.faceKeyColumns), hash, sealed FROM face_keys f WHERE \(sql: .isNetworkHere)
            ORDER BY network_id, face, key_name
            """
        ) { row -> SealedFaceKey? in
            guard let key = try row.faceKey() else { return nil }
            return SealedFaceKey(key: key, hash: try row.decode(6), sealed: try row.decode(7))
        }.compactMap(\.self)
    }
}

extension SQL {
    /// Whether the network of row `f` is not in another placement.
    static let isNetworkHere: SQL = """
        NOT EXISTS (SELECT FROM networks n WHERE n.network_id = f.network_id AND NOT (\(sql: .isHere)))
        """
}

extension Row {
    static var faceBindingColumns: SQL { "face, external_id, network_id, scope, settings, updated_at" }
    static var faceKeyColumns: SQL { "face, network_id, key_name, rights, label, created_at" }

    /// Reads a binding from ``faceBindingColumns``; `nil` for what only a later release can read.
    func faceBinding() throws -> FaceBinding? {
        guard let face = FaceName(rawValue: try decode(0)),
            case .object(let settings)? = try? JSONValue(parsing: try decode(4, as: String.self))
        else { return nil }
        return FaceBinding(
            face: face,
            externalID: try decode(1),
            networkID: try id(2),
            isPrivate: try decode(3, as: String.self) != "",
            settings: settings,
            updatedAt: try timestamp(5)
        )
    }

    /// Reads a key from ``faceKeyColumns``; `nil` for what only a later release can read.
    func faceKey() throws -> FaceKey? {
        guard let face = FaceName(rawValue: try decode(0)),
            let rights = try? JSONValue(parsing: try decode(3, as: String.self))
        else { return nil }
        return FaceKey(
            face: face,
            networkID: try id(1),
            name: try decode(2),
            rights: rights,
            label: try decode(4),
            createdAt: try timestamp(5)
        )
    }
}
