import Foundation
import Postgres

/// What the server does at best for a service that commits each event by itself: 32 clients of `pgbench`, each of which
/// inserts a row of 600 bytes with a unique key and waits for its commit.
struct SingleRowYardstick: Sendable {
    /// What its commits cost.
    struct Commits: Sendable {
        /// How many there were a second, without the time to connect.
        let rate: Double
        /// PostgreSQL's processor time of each, in microseconds.
        let postgres: Double
        /// The same of `pgbench`.
        let client: Double

        /// What a commit costs both sides.
        var both: Double { postgres + client }
    }

    private static let clients = 32
    /// How long PostgreSQL's processes may take to end after their clients have: until then their time is in no sum.
    private static let parting = Duration.milliseconds(300)
    private static let bodyBytes = 600

    private let cluster: Cluster
    private let script: String

    /// Makes the table and the script. Nobody cleans the table up while something else is measured: it is emptied each time.
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
            ) WITH (autovacuum_enabled = off)
            """
        )
    }

    /// Measures with an empty table.
    func commits(seconds: Int) async throws -> Commits {
        try await cluster.script("TRUNCATE yardstick_events")
        let before = used
        let (count, rate) = try await PostgresTools.transactions(
            on: cluster.url,
            script: script,
            variables: ["body": String(repeating: "x", count: Self.bodyBytes)],
            clients: Self.clients,
            seconds: seconds
        )
        try await Task.sleep(for: Self.parting)
        let after = used
        return Commits(
            rate: rate,
            postgres: (after.postgres - before.postgres) / max(1, count) * 1e6,
            client: (after.client - before.client) / max(1, count) * 1e6
        )
    }

    /// The processor time of the server, and of the programs that this one has run so far, in seconds.
    private var used: (postgres: Double, client: Double) {
        (cluster.server?.processorSecondsWithChildren ?? 0, ProcessStatus.own.processorSecondsOfEndedChildren)
    }
}
