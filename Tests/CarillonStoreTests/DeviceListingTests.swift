import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// Lists by application cost what a page costs, or what is counted of them, however many devices the network has besides.
@Suite struct DeviceListingTests {
    private static let apps: [DeviceSelection.App] = [.init(.fcm, "app"), .init(.apns, "app")]

    /// 30,000 devices of which every tenth is one of the two apps'; each subscribes to one of two tags.
    private func fill(_ pool: PostgresPool, _ network: NetworkID) async throws {
        try await pool.withConnection { session in
            for table in ["devices", "subscriptions"] {
                try session.execute("ALTER TABLE \(identifier: table) SET (autovacuum_enabled = off)")
            }
            try session.execute(
                """
                INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, environment, registered_at)
                SELECT \(network.rawValue), 'd' || lpad(n::text, 5, '0'), CASE n % 2 WHEN 0 THEN '' ELSE 'u' || n % 10000 END,
                       CASE n % 3 WHEN 0 THEN 'apns' ELSE 'fcm' END, CASE n % 10 WHEN 1 THEN 'app' ELSE 'other' END,
                       n::text, CASE n % 3 WHEN 0 THEN 'production' END, now()
                FROM generate_series(1, 30000) AS n
                """
            )
            try session.execute(
                """
                INSERT INTO subscriptions (network_id, tag, kind, subject_id)
                SELECT network_id, 't' || right(device_id, 1)::integer % 2, 'device', device_id FROM devices
                """
            )
        }
    }

    @Test func `pages walk along an index, and read little more than they show`() async throws {
        try await withStores { scene, pool in
            try await fill(pool, scene.network)
            func listing(_ change: (inout DeviceSelection) -> Void = { _ in }) -> DeviceListing {
                var selection = DeviceSelection(apps: Self.apps)
                change(&selection)
                return DeviceListing(selection, in: scene.network)
            }
            let plans: [(sql: SQL, index: String, rows: Int)] = [
                (listing().devices(offset: 5, limit: 10), "devices_of_apps", 16),
                (listing { $0.broadcasts = true }.devices(offset: 0, limit: 10), "devices_of_apps", 12),
                (listing { $0.owner = "u11" }.devices(offset: 0, limit: 10), "devices_by_user", 6),
                (listing { $0.device = "d00011" }.devices(offset: 0, limit: 10), "devices_pkey", 2),
                (listing { $0.tag = "t1" }.devices(offset: 5, limit: 10), "subscriptions_pkey", 80),
                (listing().subscriptions(offset: 0, limit: 10), "subscriptions_pkey", DeviceListing.reach),
                (listing { $0.tag = "t1" }.subscriptions(offset: 5, limit: 10), "subscriptions_pkey", 80),
                (listing { $0.owner = "u11" }.subscriptions(offset: 0, limit: 10), "subscriptions_", 6),
                (listing().deviceCount, "devices_of_apps", 3_001),
                (listing { $0.tag = "t1" }.subscriptionCount, "subscriptions_pkey", DeviceListing.reach),
            ]
            // Once as they are planned of tables that nobody has looked at, once with statistics.
            for _ in 0..<2 {
                for (sql, index, rows) in plans {
                    let plan = try await pool.explain(sql)
                    #expect(plan.contains { $0.contains(index) }, "\(plan)")
                    #expect(!plan.contains { $0.contains("Seq Scan") || $0.contains("Bitmap") }, "\(plan)")
                    #expect(plan.allSatisfy { Self.rows(of: $0) <= rows }, "\(plan)")
                }
                try await pool.withConnection { session in
                    for table in ["devices", "subscriptions"] { try session.execute("ANALYZE \(identifier: table)") }
                }
            }
            let all = try await scene.devices.devices(
                DeviceSelection(apps: Self.apps),
                in: scene.network,
                offset: 1,
                limit: 2
            )
            #expect(all.items.map(\.id) == ["d00011", "d00021"] && all.total == 3_000)
            let others = DeviceSelection(apps: [.init(.fcm, "other"), .init(.apns, "other")])
            let counted = try await scene.devices.devices(others, in: scene.network, offset: 9_999, limit: 2)
            #expect(counted.total == CountedPage<Device>.maximumTotal && counted.items.count == 2)
        }
    }

    /// How many rows a step of a plan had.
    private static func rows(of line: String) -> Int {
        line.firstMatch(of: /actual rows=(\d+)/).flatMap { Int($0.1) } ?? 0
    }
}
