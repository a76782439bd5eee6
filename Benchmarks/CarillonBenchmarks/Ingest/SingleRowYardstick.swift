import Foundation
import Postgres

/// What the server does at best for a service that commits each event by itself: 32 clients of `pgbench`, each of which
/// inserts a row of 600 bytes with a unique key and waits for its commit.
struct SingleRowYardstick: Sendable {
    private static let clients = 32
    private static let bodyBytes = 600

    private let cluster: Cluster
    private let script: String

    /// Makes the table and the script.
    init(on cluster: Cluster) async throws {
        self.cluster = cluster
        script = cluster.workshop.newPath("insert-event.sql")
        try Data("INSERT INTO yardstick_events (source_id, body) VALUES (gen_random_uuid()::text, :body);\n".utf8)
            .write(to: URL(fileURLWithPath: script))
        try await cluster.script(
            """
            CREATE TABLE yardstick_events (
                event_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                source_id text COLLATE "C" NOT NULL UNIQUE,
                body      text NOT NULL
            )
            """
        )
    }

    /// Measures with an empty table.
    func commitsPerSecond(seconds: Int) async throws -> Double {
        try await cluster.script("TRUNCATE yardstick_events")
        return try await PostgresTools.transactionsPerSecond(
            on: cluster.url,
            script: script,
            variables: ["body": String(repeating: "x", count: Self.bodyBytes)],
            clients: Self.clients,
            seconds: seconds
        )
    }
}
