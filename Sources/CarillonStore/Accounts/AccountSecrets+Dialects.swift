package import CarillonCore
import Postgres

extension AccountSecrets {
    package func dialects(of network: NetworkID) async throws -> [DialectDocument] {
        let store = try await accounts.of(network)
        let stored = try await store.pool.withConnection { session in try session.dialects(of: network) }
        return stored.map { $0.document(store.box, in: network) }
    }

    package func dialect(_ name: DialectName, of network: NetworkID) async throws -> DialectDocument? {
        let store = try await accounts.of(network)
        let stored = try await store.pool.withConnection { session in try session.dialects(of: network, named: name) }
        return stored.first?.document(store.box, in: network)
    }

    package func updateDialect(
        _ name: DialectName,
        of network: NetworkID,
        _ change: @escaping @Sendable (DialectDocument?) throws -> DialectDocument
    ) async throws -> DialectDocument? {
        let store = try await accounts.toWrite(network)
        return try await store.pool.write { session in
            guard try session.holdNetwork(network) else { return nil }
            let former = try session.dialects(of: network, named: name).first?.document(store.box, in: network)
            let document = try change(former)
            try session.execute(StoredDialect(document, store.box, in: network).upsert(of: network))
            return document
        }
    }

    package func deleteDialect(_ name: DialectName, of network: NetworkID) async throws -> Bool {
        try await accounts.toWrite(network).pool.write(
            "DELETE FROM dialects WHERE network_id = \(network.rawValue) AND dialect = \(name.rawValue)"
        ) > 0
    }
}

struct StoredDialect: Sendable {
    private let name: DialectName
    private let isEnabled: Bool
    private let settings: String
    private let sealed: [UInt8]
    private let updatedAt: Timestamp

    fileprivate init(_ document: DialectDocument, _ box: SecretBox, in network: NetworkID) throws {
        name = document.name
        isEnabled = document.isEnabled
        settings = JSONValue.object(document.settings).serializedText
        sealed = try box.seal(document.proofs.serialized, for: .dialect(document.name), in: network)
        updatedAt = document.updatedAt
    }

    /// `nil` for a dialect that only a later release reads.
    fileprivate init?(_ row: borrowing Row) throws {
        guard let name = DialectName(rawValue: try row.decode(0)) else { return nil }
        self.name = name
        isEnabled = try row.decode(1)
        settings = try row.decode(2)
        sealed = try row.decode(3)
        updatedAt = try row.timestamp(4)
    }

    /// The document, without secrets where the master key does not open them.
    func document(_ box: SecretBox, in network: NetworkID) -> DialectDocument {
        var document = DialectDocument(name: name, isEnabled: isEnabled, updatedAt: updatedAt)
        if case .object(let settings)? = try? JSONValue(parsing: settings) { document.settings = settings }
        if let opened = try? box.open(sealed, for: .dialect(name), in: network), document.take(proofs: opened) {
            return document
        }
        document.isUnreadable = true
        return document
    }

    fileprivate func upsert(of network: NetworkID) -> SQL {
        """
        INSERT INTO dialects (network_id, dialect, enabled, settings, sealed, updated_at)
        VALUES (\(network.rawValue), \(name.rawValue), \(isEnabled), \(settings), \(sealed), \(updatedAt.stored))
        ON CONFLICT (network_id, dialect) DO UPDATE
        SET enabled = EXCLUDED.enabled, settings = EXCLUDED.settings, sealed = EXCLUDED.sealed,
            updated_at = EXCLUDED.updated_at
        """
    }
}

extension PostgresSession {
    /// A network's documents, or the one of a name.
    func dialects(of network: NetworkID, named name: DialectName? = nil) throws -> [StoredDialect] {
        try query(
            """
            SELECT dialect, enabled, settings, sealed, updated_at FROM dialects
            WHERE network_id = \(network.rawValue) AND (\(name?.rawValue)::text IS NULL OR dialect = \(name?.rawValue))
            ORDER BY dialect
            """
        ) { row in try StoredDialect(row) }.compactMap(\.self)
    }
}

extension SecretBox.Purpose {
    fileprivate static func dialect(_ name: DialectName) -> Self { Self(rawValue: "dialect-secrets/\(name.rawValue)") }
}

extension DialectDocument {
    /// Secrets, user and password as they are sealed.
    fileprivate var proofs: JSONValue {
        var json: JSONObject = [
            "secrets": .array(
                secrets.map { secret in
                    ["value": secret.value.reveal { .string($0) }, "setAt": .string(secret.setAt.description)]
                }
            )
        ]
        json["basic"] = basic.map { basic in
            [
                "user": .string(basic.user), "password": basic.password.reveal { .string($0) },
                "setAt": .string(basic.setAt.description),
            ]
        }
        return .object(json)
    }

    /// Takes over what was sealed; `false` when it is none of that.
    fileprivate mutating func take(proofs bytes: [UInt8]) -> Bool {
        guard let json = try? JSONValue(parsing: bytes) else { return false }
        let errors = InputErrors()
        var reader = JSONObjectReader(json, unknown: .tolerate, into: errors)
        for element in reader.array("secrets", required: true, maximumCount: .max) ?? [] {
            var secret = JSONObjectReader(element, unknown: .tolerate, into: errors)
            guard let value = secret.string("value", required: true, maximumBytes: .max),
                let setAt = secret.timestamp("setAt", required: true)
            else { return false }
            secrets.append(SharedSecret(value: Secret(value), setAt: setAt))
        }
        if var basic = reader.object("basic") {
            guard let user = basic.string("user", required: true, maximumBytes: .max),
                let password = basic.string("password", required: true, maximumBytes: .max),
                let setAt = basic.timestamp("setAt", required: true)
            else { return false }
            self.basic = BasicCredential(user: user, password: Secret(password), setAt: setAt)
        }
        return errors.isEmpty
    }
}
