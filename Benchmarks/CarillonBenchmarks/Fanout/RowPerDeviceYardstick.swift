import Postgres

/// What it takes PostgreSQL alone to insert a row for each device that a message in the channel is for, in `psql`.
///
/// The rows hold ids only, no text, and whoever has set any toggle counts as muted without a look at what it says: the
/// yardstick is spared what the service has to do.
struct RowPerDeviceYardstick: Sendable {
    private let cluster: Cluster
    private let statement: String

    /// Makes the table.
    init(on cluster: Cluster, networkID: String, sender: String) async throws {
        self.cluster = cluster
        statement = """
            INSERT INTO yardstick_deliveries (network_id, event_id, device_id, user_id, provider, state, run_at)
            SELECT d.network_id, '01890000-0000-7000-8000-000000000000', d.device_id, d.user_id, d.provider, 'pending', now()
            FROM members m
            JOIN users u ON u.network_id = m.network_id AND u.user_id = m.user_id
            JOIN devices d ON d.network_id = m.network_id AND d.user_id = m.user_id
            WHERE m.network_id = '\(networkID)' AND m.channel_id = '\(DirectoryLines.channelID(0))' AND m.is_member
                AND m.user_id <> '\(sender)' AND d.state = 'active' AND u.toggles IS NULL AND m.toggles IS NULL
            """
        try await cluster.script(
            """
            CREATE TABLE yardstick_deliveries (
                network_id text        COLLATE "C" NOT NULL,
                event_id   uuid        NOT NULL,
                device_id  text        COLLATE "C" NOT NULL,
                user_id    text        COLLATE "C" NOT NULL,
                provider   text        NOT NULL,
                state      text        NOT NULL,
                run_at     timestamptz NOT NULL,
                PRIMARY KEY (network_id, event_id, device_id)
            )
            """
        )
    }

    /// Measures with an empty table.
    func seconds() async throws -> Double {
        try await cluster.script("TRUNCATE yardstick_deliveries")
        return try await PostgresTools.seconds(of: statement, on: cluster.url)
    }

    /// How many rows that made.
    var rowCount: Int {
        get async throws {
            if try await cluster.count("SELECT count(*) FROM yardstick_deliveries") == 0 { _ = try await seconds() }
            return try await cluster.count("SELECT count(*) FROM yardstick_deliveries")
        }
    }
}
