package import CarillonCore
import Postgres

/// Bindings and keys of faces in tables `faces` and `face_keys`; secrets that have to sign are sealed with the master key.
package struct PostgresFaceStore: FaceStore, FaceListSource {
    let accounts: PostgresAccountStore

    var pool: PostgresPool { accounts.pool }
    var box: SecretBox { accounts.box }

    /// A store beside that of the networks.
    package init(accounts: PostgresAccountStore) {
        self.accounts = accounts
    }

    package func putFaceBinding(_ binding: FaceBinding, claiming: Bool) async throws -> Bool {
        try await refusingTaken {
            try await pool.write { session in
                try session.lockNetwork(binding.networkID)
                let former = try session.scope(of: binding)
                // An empty scope is that of a name which anybody can name.
                guard binding.isPrivate || former == "" || claiming else { throw FaceRefusal.notOwned }
                if former == nil {
                    let count = try session.countFaces(binding.face, of: binding.networkID)
                    guard count < FaceBinding.maximumCount else { throw FaceRefusal.tooMany }
                }
                try session.put(binding)
                try session.countFaceChange()
                return former == nil
            }
        }
    }

    package func deleteFaceBinding(_ face: FaceName, externalID: String, of network: NetworkID) async throws -> Bool {
        try await pool.write { session in
            let deleted = try session.execute(
                """
                DELETE FROM faces
                WHERE network_id = \(network.rawValue) AND face = \(face.rawValue) AND external_id = \(externalID)
                """
            )
            if deleted > 0 { try session.countFaceChange() }
            return deleted > 0
        }
    }

    package func faceBindings(of network: NetworkID) async throws -> [FaceBinding] {
        try await pool.query(
            """
            SELECT \(sql: Row.faceBindingColumns) FROM faces WHERE network_id = \(network.rawValue)
            ORDER BY network_id, face, external_id
            """
        ) { row in try row.faceBinding() }.compactMap(\.self)
    }

    package func addFaceKey(_ key: StoredFaceKey, answering request: IdempotentRequest?) async throws -> Creation {
        let (hash, sealed) = try box.proof(of: key)
        let outline = key.key
        return try await refusingTaken {
            try await accounts.once(request) { session in
                try session.lockNetwork(outline.networkID)
                let count = try session.countFaceKeys(outline.face, of: outline.networkID)
                guard count < FaceKey.maximumCount else { throw FaceRefusal.tooMany }
                try session.execute(
                    """
                    INSERT INTO face_keys (network_id, face, key_name, hash, sealed, rights, label, created_at)
                    VALUES (\(outline.networkID.rawValue), \(outline.face.rawValue), \(outline.name), \(hash), \(sealed),
                            \(outline.rights.serializedText), \(outline.label), \(outline.createdAt.stored))
                    """
                )
                try session.countFaceChange()
                return true
            }
        }
    }

    package func deleteFaceKey(_ face: FaceName, name: String, of network: NetworkID) async throws -> RemovedFaceKey? {
        try await pool.write { session in
            let removed = try session.queryFirst(
                """
                DELETE FROM face_keys
                WHERE network_id = \(network.rawValue) AND face = \(face.rawValue) AND key_name = \(name)
                RETURNING hash
                """
            ) { row in RemovedFaceKey(hash: try row.decode(0)) }
            if removed != nil { try session.countFaceChange() }
            return removed
        }
    }

    package func faceKeys(_ face: FaceName, of network: NetworkID) async throws -> [FaceKey] {
        try await pool.query(
            """
            SELECT \(sql: Row.faceKeyColumns) FROM face_keys
            WHERE network_id = \(network.rawValue) AND face = \(face.rawValue)
            ORDER BY network_id, face, key_name
            """
        ) { row in try row.faceKey() }.compactMap(\.self)
    }

    package func faceList(unless version: FaceList.Version?) async throws -> FaceList? {
        let stored = try await pool.snapshot { session -> StoredFaceList? in
            let changes = try session.queryFirst("SELECT changes FROM face_changes") { row in
                FaceList.Version(changes: try row.decode(0))
            }
            guard let changes, changes != version else { return nil }
            return try session.faceList(of: changes)
        }
        guard let stored else { return nil }
        return FaceList(
            version: stored.version,
            bindings: stored.bindings.compactMap(\.self),
            keys: stored.keys.compactMap { $0?.opened(box) }
        )
    }

    package func useNonce(_ hash: [UInt8], until end: Timestamp, of network: NetworkID) async throws -> Bool {
        try await pool.write { session in
            let answers = try session.pipeline([
                """
                DELETE FROM used_nonces
                WHERE network_id = \(network.rawValue) AND nonce_hash = \(hash) AND expires_at <= now()
                """,
                """
                INSERT INTO used_nonces (network_id, nonce_hash, expires_at)
                VALUES (\(network.rawValue), \(hash), \(end.stored))
                ON CONFLICT (network_id, nonce_hash) DO NOTHING
                """,
            ])
            guard answers[1].affectedRows > 0 else { return false }
            let first = Array(hash.prefix(1))
            let last = first + [UInt8](repeating: .max, count: hash.count)
            let count = try session.queryFirst(
                """
                SELECT count(*) FROM (
                    SELECT FROM used_nonces
                    WHERE network_id = \(network.rawValue) AND nonce_hash >= \(first) AND nonce_hash <= \(last)
                        AND expires_at > now()
                    LIMIT \(FaceNonces.maximumPerByte + 1)) AS used
                """
            ) { row in try row.decode(0, as: Int.self) }
            guard count ?? 0 <= FaceNonces.maximumPerByte else { throw FaceRefusal.tooManyNonces }
            return true
        }
    }

    package func keepTexts(_ texts: [EventID: String], of network: NetworkID) async throws {
        let rows = texts.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return }
        try await pool.write { session in
            try session.execute(
                """
                INSERT INTO message_texts (network_id, event_id, text)
                SELECT \(network.rawValue), n.event_id, n.text
                FROM unnest(\(rows.map(\.key.uuid)), \(rows.map(\.value))) AS n (event_id, text)
                ON CONFLICT DO NOTHING
                """
            )
            // What is kept beyond the latest goes by the way; what others are about to forget is left to them. The
            // last to go is found without a lock: rows that an OFFSET skips would be locked, too.
            try session.execute(
                """
                DELETE FROM message_texts WHERE ctid = ANY (ARRAY(
                    SELECT former.ctid
                    FROM (SELECT event_id FROM message_texts WHERE network_id = \(network.rawValue)
                          ORDER BY network_id DESC, event_id DESC
                          OFFSET \(FaceTexts.maximumCount) LIMIT 1) AS last
                    CROSS JOIN LATERAL (
                        SELECT t.ctid FROM message_texts t
                        WHERE t.network_id = \(network.rawValue) AND t.event_id <= last.event_id
                        FOR UPDATE SKIP LOCKED
                    ) AS former))
                """
            )
        }
    }

    package func text(of event: EventID, in network: NetworkID) async throws -> String? {
        try await pool.queryFirst(
            """
            SELECT text, now() FROM message_texts
            WHERE network_id = \(network.rawValue) AND event_id = \(event.uuid)
            """
        ) { row -> String? in
            let end = Timestamp(milliseconds: event.milliseconds) + FaceTexts.retention
            return try row.timestamp(1) < end ? try row.decode(0) : nil
        } ?? nil
    }

    /// Who comes second with a name or a secret finds the row of who came first.
    private func refusingTaken<Value>(_ write: () async throws -> Value) async throws -> Value {
        do {
            return try await write()
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            throw FaceRefusal.nameTaken
        }
    }
}
