package import CarillonCore
package import Postgres

/// Reads for which apps a network has devices.
package struct AppReader: Sendable {
    package static let mostApps = 1_000

    private let pool: PostgresPool

    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// The apps, or hosts, with devices in use that somebody registered, by push service. Each is one step in an index, however many
    /// devices it has.
    package func apps(of network: NetworkID) async throws -> [DeviceSelection.App] {
        let areMeant: SQL = "t.network_id = \(network.rawValue) AND NOT t.transient"
        return try await pool.query(
            """
            WITH RECURSIVE walk AS (\(sql: .walk(over: ["provider", "app_id"], in: "devices", where: areMeant)))
            SELECT provider, app_id FROM walk w
            WHERE EXISTS (
                SELECT FROM devices t
                WHERE \(sql: areMeant) AND t.state = 'active' AND t.provider = w.provider AND t.app_id = w.app_id
            )
            LIMIT \(Self.mostApps)
            """
        ) { row in DeviceSelection.App(try row.choice(0), try row.decode(1)) }
    }
}
