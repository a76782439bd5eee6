import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

@Suite struct AddressPlanTests {
    @Test func `addresses are found by their keys, although there were no devices when that was planned`() async throws
    {
        var configuration = try await TestDatabase.make()
        configuration.poolSize = 1
        try await withStores(configuration) { scene, pool in
            let tokens = (0..<20).map { DeviceAddress.fcm(token: "token-\($0)", appID: "app") }
            let hooks = (0..<20).map { DeviceAddress.webhook(url: "https://example.com/\($0)") }
            func find() async throws -> Int64 {
                let before = try await pool.blocksRead(of: "devices")
                let places = tokens.map { AddressPlace(networkID: scene.network, address: $0) }
                _ = try await scene.devices.devices(reachedAt: places)
                let named = (tokens + hooks).map { AddressedDevice(address: $0) }
                var event = Event(sourceID: "n", type: .notificationDirect, timestamp: .now)
                event.direct = DirectNotification(to: .addresses(named))
                let query = RecipientQuery(networkID: scene.network, eventID: EventID(scene.ids.next()), event: event)
                let page = try await scene.recipients.page(for: query)
                #expect(page.recipients.count == named.count)
                return try await pool.blocksRead(of: "devices") - before
            }
            try await pool.withConnection { try $0.execute(.unprepared("VACUUM ANALYZE devices")) }
            _ = try await find()
            let few = try await find()
            try await pool.withConnection { session in
                try session.execute(
                    """
                    INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at)
                    SELECT \(scene.network.rawValue), 'd' || n, 'u' || n, 'fcm', 'app', 'other-' || n,
                           sha256(convert_to('other-' || n, 'UTF8')), now()
                    FROM generate_series(1, 20000) AS n
                    """
                )
            }
            // An index that has grown is a level or two deeper.
            let many = try await find()
            #expect(many < few * 2 + 100)
        }
    }
}

extension PostgresPool {
    /// How many blocks of a table and its indexes have been looked at.
    func blocksRead(of table: String) async throws -> Int64 {
        try await withConnection { try $0.execute("SELECT pg_stat_force_next_flush()") }
        return try await withConnection { session in
            try session.queryFirst(
                """
                SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit FROM pg_statio_user_tables
                WHERE relname = \(table)
                """
            ) { row in try row.decode(0, as: Int64.self) } ?? 0
        }
    }
}
