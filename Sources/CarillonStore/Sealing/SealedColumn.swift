import CarillonCore
import Postgres

/// A column of sealed values, and what is needed to seal one anew.
struct SealedColumn: Sendable {
    struct Value: Sendable {
        var network: NetworkID?
        /// What finds its row within the network.
        var key: String
        var purpose: SecretBox.Purpose
        var sealed: [UInt8]
    }

    /// Everything that is sealed with the master key but the canary, by the tables' names.
    static let all = [
        SealedColumn(table: "webhook_secrets", key: "secret_id::text", purpose: "'webhook-secret/' || direction"),
        SealedColumn(
            table: "user_token_keys",
            column: "material",
            key: "key_id::text",
            purpose: "'user-token-secret'",
            condition: "algorithm = 'HS256'"
        ),
        SealedColumn(
            table: "provider_credentials",
            key: "provider || '/' || app_id",
            purpose: "'provider-credential/' || provider || '/' || app_id"
        ),
        SealedColumn(table: "endpoints", key: "endpoint_id", purpose: "'endpoint-secrets/' || endpoint_id"),
        SealedColumn(
            table: "face_keys",
            key: "face || '/' || key_name",
            purpose: "'face-key/' || face || '/' || key_name",
            condition: "sealed IS NOT NULL"
        ),
        SealedColumn(table: "dialects", key: "dialect", purpose: "'dialect-secrets/' || dialect"),
        SealedColumn(table: "sources", key: "source_id", purpose: "'source-secret/' || source_id"),
        // Tokens belong to no network, and are made anew within the hour.
        SealedColumn(
            table: "provider_tokens",
            network: "''",
            key: "encode(key_hash, 'hex')",
            purpose: "'provider-token'"
        ),
        SealedColumn(table: "idempotency_keys", key: "encode(key_hash, 'hex')", purpose: "'idempotent-answer'"),
    ]

    private static let pageSize = 100

    var table: SQL
    var column: SQL = "sealed"
    var network: SQL = "network_id"
    var key: SQL
    var purpose: SQL
    var condition: SQL = "true"

    /// Values that begin with `header`, after a network and a key, in their order; a page of them.
    func values(
        sealedWith header: [UInt8],
        after last: Value?,
        _ session: borrowing PostgresSession
    ) throws -> [Value] {
        try session.query(
            """
            SELECT network, key, purpose, sealed FROM (
                SELECT (\(sql: network))::text COLLATE "C" AS network, (\(sql: key))::text COLLATE "C" AS key,
                       (\(sql: purpose))::text AS purpose, \(sql: column) AS sealed
                FROM \(sql: table)
                WHERE \(sql: condition) AND substring(\(sql: column) FROM 1 FOR \(Int32(header.count))) = \(header)
            ) AS s
            WHERE (network, key) > (\(last?.network?.rawValue ?? ""), \(last?.key ?? ""))
            ORDER BY network, key LIMIT \(Self.pageSize)
            """
        ) { row in
            Value(
                network: NetworkID(try row.decode(0, as: String.self)),
                key: try row.decode(1),
                purpose: SecretBox.Purpose(rawValue: try row.decode(2)),
                sealed: try row.decode(3)
            )
        }
    }

    /// Puts a value in the place of a former one; `false` when that is not what is there any more.
    func replace(_ former: Value, by sealed: [UInt8], _ session: borrowing PostgresSession) throws -> Bool {
        try session.execute(
            """
            UPDATE \(sql: table) SET \(sql: column) = \(sealed)
            WHERE \(sql: network) = \(former.network?.rawValue ?? "") AND \(sql: key) = \(former.key)
                AND \(sql: column) = \(former.sealed)
            """
        ) > 0
    }

    /// How many values there are, and how many of them begin with one of `headers`.
    func count(
        sealedWith headers: [[UInt8]],
        _ session: borrowing PostgresSession
    ) throws -> (all: Int, matching: Int) {
        try session.queryFirst(
            """
            SELECT count(*), count(*) FILTER (
                WHERE substring(\(sql: column) FROM 1 FOR \(Int32(SecretBox.headerLength))) = ANY(\(headers)))
            FROM \(sql: table) WHERE \(sql: condition)
            """
        ) { row in (all: try row.decode(0, as: Int.self), matching: try row.decode(1, as: Int.self)) } ?? (0, 0)
    }
}
