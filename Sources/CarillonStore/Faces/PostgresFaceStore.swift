package import CarillonCore
import Crypto
import Foundation
import Postgres

/// Bindings and keys of faces in tables `faces` and `face_keys`, and what they remember; secrets that have to sign are sealed with the master key.
package struct PostgresFaceStore: FaceStore {
    /// By how many texts there may be more than are kept, on the average.
    private static let textsAtOnce = 64

    let databases: Placed<PlacementDatabase>
    private let names: FaceNames?

    /// A store of networks in `databases`; where those are several, `names` are what must be unique over all of them.
    package init(_ databases: Placed<PlacementDatabase>, names: FaceNames? = nil) {
        self.databases = databases
        self.names = names
    }

    package func putFaceBinding(_ binding: FaceBinding, claiming: Bool) async throws -> Bool {
        let (network, refusal) = (binding.networkID, claiming ? FaceRefusal.nameTaken : .notOwned)
        let isNew = try await names.holding(binding.claimedName, for: network, orElse: refusal) {
            let pool = try await databases.toWrite(network).pool
            return try await refusingTaken(binding.claimedName, pool) {
                try await pool.write { session in
                    try session.lockNetwork(network)
                    let former = try session.scope(of: binding)
                    // An empty scope is that of a name which anybody can name.
                    guard binding.isPrivate || former == "" || claiming else { throw FaceRefusal.notOwned }
                    if former == nil {
                        let count = try session.count(binding.face, of: network, in: "faces")
                        guard count < FaceBinding.maximumCount else { throw FaceRefusal.tooMany }
                    }
                    try session.put(binding)
                    try session.countFaceChange()
                    return former == nil
                }
            }
        }
        // Before it was private, everybody may have called the network so.
        if binding.isPrivate, !isNew {
            try await names?.release(ClaimedName(.binding, of: binding.face, binding.externalID), of: network)
        }
        return isNew
    }

    package func deleteFaceBinding(_ face: FaceName, externalID: String, of network: NetworkID) async throws -> Bool {
        let isGone = try await databases.toWrite(network).pool.write { session in
            let deleted = try session.execute(
                """
                DELETE FROM faces
                WHERE network_id = \(network.rawValue) AND face = \(face.rawValue) AND external_id = \(externalID)
                """
            )
            if deleted > 0 { try session.countFaceChange() }
            return deleted > 0
        }
        // Where it is gone already somebody may not have heard that it was, and its name may not have been let go.
        try await names?.release(ClaimedName(.binding, of: face, externalID), of: network)
        return isGone
    }

    package func faceBindings(of network: NetworkID) async throws -> [FaceBinding] {
        try await databases.of(network).pool.query(
            """
            SELECT \(sql: Row.faceBindingColumns) FROM faces WHERE network_id = \(network.rawValue)
            ORDER BY network_id, face, external_id
            """
        ) { row in try row.faceBinding() }.compactMap(\.self)
    }

    package func addFaceKey(_ key: StoredFaceKey, answering request: IdempotentRequest?) async throws -> Creation {
        let (outline, network) = (key.key, key.key.networkID)
        // Whoever asks once more for a key that was made gets that one.
        return try await names.holding(key.claimedName, for: network, orElse: .nameTaken, where: { $0 == .created }) {
            let accounts = try await databases.toWrite(network).accounts
            let (hash, sealed) = try accounts.box.proof(of: key)
            return try await refusingTaken(key.claimedName, accounts.pool) {
                try await accounts.once(request) { session in
                    try session.lockNetwork(network)
                    let count = try session.count(outline.face, of: network, in: "face_keys")
                    guard count < FaceKey.maximumCount else { throw FaceRefusal.tooMany }
                    try session.execute(
                        """
                        INSERT INTO face_keys (network_id, face, key_name, hash, sealed, rights, label, created_at)
                        VALUES (\(network.rawValue), \(outline.face.rawValue), \(outline.name), \(hash), \(sealed),
                                \(outline.rights.serializedText), \(outline.label), \(outline.createdAt.stored))
                        """
                    )
                    try session.countFaceChange()
                    return true
                }
            }
        }
    }

    package func deleteFaceKey(_ face: FaceName, name: String, of network: NetworkID) async throws -> RemovedFaceKey? {
        let removed = try await databases.toWrite(network).pool.write { session in
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
        if let hash = removed?.hash {
            try await names?.release(ClaimedName(keyOf: face, hash: hash), of: network)
        } else if Base64URL.decode(name.utf8)?.count != SHA256.byteCount {
            // Where it is gone already its name may not have been let go; what could be a hash is another key's.
            try await names?.release(ClaimedName(.key, of: face, name), of: network)
        }
        return removed
    }

    package func faceKeys(_ face: FaceName, of network: NetworkID) async throws -> [FaceKey] {
        try await databases.of(network).pool.query(
            """
            SELECT \(sql: Row.faceKeyColumns) FROM face_keys
            WHERE network_id = \(network.rawValue) AND face = \(face.rawValue)
            ORDER BY network_id, face, key_name
            """
        ) { row in try row.faceKey() }.compactMap(\.self)
    }

    /// Who comes second with a name or a secret finds the row of who came first; where the name was claimed at home, that may be what a
    /// network has left that is elsewhere.
    private func refusingTaken<Value>(
        _ name: ClaimedName?,
        _ pool: PostgresPool,
        _ write: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await write()
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            guard names != nil, let name else { throw FaceRefusal.nameTaken }
            try await pool.write { session in try session.removeDeparted(name) }
        }
        return try await refusingTaken(nil, pool, write)
    }
}

extension PostgresFaceStore: FaceMemory {
    package func useNonce(_ hash: [UInt8], until end: Timestamp, of network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
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
            let count = try session.first(
                """
                SELECT count(*) FROM (
                    SELECT FROM used_nonces
                    WHERE network_id = \(network.rawValue) AND nonce_hash >= \(first) AND nonce_hash <= \(last)
                        AND expires_at > now()
                    LIMIT \(FaceNonces.maximumPerByte + 1)) AS used
                """,
                as: Int.self
            )
            guard count ?? 0 <= FaceNonces.maximumPerByte else { throw FaceRefusal.tooManyNonces }
            return true
        }
    }

    package func keepTexts(_ texts: [EventID: String], of network: NetworkID) async throws {
        let rows = texts.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return }
        // To find what goes all that stays is walked over: once for so many of them is often enough.
        let isToGo = rows.contains { Int($0.key.uuid.uuid.15) % Self.textsAtOnce == 0 }
        try await databases.toWrite(network).pool.write { session in
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
            guard isToGo else { return }
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
        try await databases.of(network).pool.queryFirst(
            """
            SELECT text, now() FROM message_texts
            WHERE network_id = \(network.rawValue) AND event_id = \(event.uuid)
            """
        ) { row -> String? in
            let end = Timestamp(milliseconds: event.milliseconds) + FaceTexts.retention
            return try row.timestamp(1) < end ? try row.decode(0) : nil
        } ?? nil
    }
}
