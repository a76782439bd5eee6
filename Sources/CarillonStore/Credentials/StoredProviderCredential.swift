import CarillonCore
import Postgres

struct StoredProviderCredential: Sendable {
    var provider: ProviderName
    var appID: String
    private var identity: String
    private var sealed: [UInt8]
    private var updatedAt: Timestamp

    static var columns: SQL { "provider, app_id, identity, sealed, updated_at" }

    init(_ row: borrowing Row) throws {
        provider = try row.choice(0)
        appID = try row.decode(1)
        identity = try row.decode(2)
        sealed = try row.decode(3)
        updatedAt = try row.timestamp(4)
    }

    init(_ credential: ProviderCredential, _ box: SecretBox, in network: NetworkID) throws {
        provider = credential.provider
        appID = credential.appID
        identity = String(decoding: JSONValue.object(credential.identity).serialized, as: UTF8.self)
        let purpose = SecretBox.Purpose.credential(credential.provider, appID: credential.appID)
        sealed = try credential.material.reveal { try box.seal(Array($0.utf8), for: purpose, in: network) }
        updatedAt = credential.updatedAt
    }

    func credential(_ box: SecretBox, in network: NetworkID) throws(UnreadableCredential) -> ProviderCredential {
        guard let material = try? box.open(sealed, for: .credential(provider, appID: appID), in: network),
            let parsed = try? JSONValue(parsing: Array(identity.utf8)), case .object(let identity) = parsed
        else { throw UnreadableCredential(provider: provider, appID: appID) }
        return ProviderCredential(
            provider: provider,
            appID: appID,
            identity: identity,
            material: Secret(String(decoding: material, as: UTF8.self)),
            updatedAt: updatedAt
        )
    }

    /// What is there in its place, locked against whoever would replace or remove it.
    func former(in network: NetworkID, _ session: borrowing PostgresSession) throws -> StoredProviderCredential? {
        try session.queryFirst(
            """
            SELECT \(sql: Self.columns) FROM provider_credentials
            WHERE network_id = \(network.rawValue) AND provider = \(provider.rawValue) AND app_id = \(appID)
            FOR UPDATE
            """
        ) { row in try StoredProviderCredential(row) }
    }

    func update(in network: NetworkID, _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            UPDATE provider_credentials SET identity = \(identity), sealed = \(sealed), updated_at = \(updatedAt.stored)
            WHERE network_id = \(network.rawValue) AND provider = \(provider.rawValue) AND app_id = \(appID)
            """
        )
    }

    func insert(of network: NetworkID, _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            INSERT INTO provider_credentials (network_id, provider, app_id, identity, sealed, updated_at)
            VALUES (\(network.rawValue), \(provider.rawValue), \(appID), \(identity), \(sealed), \(updatedAt.stored))
            """
        )
    }
}

extension SecretBox.Purpose {
    /// Identifies us to a push service, for one app.
    fileprivate static func credential(_ provider: ProviderName, appID: String) -> Self {
        Self(rawValue: "provider-credential/\(provider.rawValue)/\(appID)")
    }
}
