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
        let id = network.rawValue
        return try await pool.query(
            """
            WITH RECURSIVE apps AS (
                (SELECT provider, app_id FROM devices WHERE network_id = \(id) AND NOT transient
                 ORDER BY provider, app_id LIMIT 1)
                UNION ALL
                SELECT next.provider, next.app_id
                FROM apps CROSS JOIN LATERAL (
                    SELECT provider, app_id FROM devices
                    WHERE network_id = \(id) AND NOT transient AND (provider, app_id) > (apps.provider, apps.app_id)
                    ORDER BY provider, app_id LIMIT 1
                ) AS next
            )
            SELECT provider, app_id FROM apps
            WHERE EXISTS (
                SELECT FROM devices d
                WHERE d.network_id = \(id) AND NOT d.transient AND d.state = 'active'
                    AND d.provider = apps.provider AND d.app_id = apps.app_id
            )
            LIMIT \(Self.mostApps)
            """
        ) { row in DeviceSelection.App(try row.choice(0), try row.decode(1)) }
    }
}
