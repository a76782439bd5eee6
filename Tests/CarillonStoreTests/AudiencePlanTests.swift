@testable import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

@Suite struct AudiencePlanTests {
    /// What a page may read of each table's indexes, far from all that is there.
    private static let most: Int64 = 4 * Int64(firstRecipientPageSize)

    @Test(arguments: [false, true])
    func `a page of an audience reads no more than it holds, however well the planner knows the tables`(
        isAnalysed: Bool
    ) async throws {
        var configuration = try await oneConnection()
        // A small table is one for several workers here.
        for setting in [
            "min_parallel_table_scan_size", "min_parallel_index_scan_size", "parallel_setup_cost",
            "parallel_tuple_cost",
        ] {
            configuration.sessionSettings[setting] = "0"
        }
        try await StoreScene.withStores(configuration) { scene, pool in
            let channel = ChannelID(trusted: "c")
            try await fill(pool, scene.network, channel, isAnalysed: isAnalysed)
            let audiences: [(Audience, in: ChannelID?)] = [
                (.everyone, nil), (.members(of: channel), nil), (.members(of: channel), "other"), (.tags(["t"]), nil),
            ]
            for (audience, context) in audiences {
                var event = Event.direct(audience)
                event.channel = context.map { Channel(id: $0) }
                let query = RecipientQuery(event, in: scene.network)
                _ = try await scene.recipients.page(for: query)
                for table in ["devices", "members", "subscriptions", "users"] {
                    let before = try await pool.rowsReadByIndex(of: [table])
                    let page = try await scene.recipients.page(for: query)
                    let read = try await pool.rowsReadByIndex(of: [table]) - before
                    #expect(page.recipients.count == firstRecipientPageSize)
                    #expect(read < Self.most, "\(audience), \(table)")
                }
            }
        }
    }

    /// Fills a network in no order, as people come: neighbours in an index are strangers in its table.
    private func fill(_ pool: PostgresPool, _ network: NetworkID, _ channel: ChannelID, isAnalysed: Bool) async throws {
        let people: SQL = """
            (SELECT 'u' || right('0000' || (n * 7919 % 20000)::text, 5) AS id FROM generate_series(1, 20000) AS n) AS p
            """
        try await pool.withTransaction { session in
            try session.execute(
                """
                INSERT INTO users (network_id, user_id, facts_at) SELECT \(network.rawValue), p.id, now() FROM \(sql: people)
                """
            )
            try session.execute(
                """
                INSERT INTO members (network_id, channel_id, user_id, is_member, facts_at)
                SELECT \(network.rawValue), \(channel.rawValue), p.id, true, now() FROM \(sql: people)
                """
            )
            try session.execute(
                """
                INSERT INTO subscriptions (network_id, tag, kind, subject_id)
                SELECT \(network.rawValue), 't', 'user', p.id FROM \(sql: people)
                """
            )
            try session.execute(
                """
                INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at)
                SELECT \(network.rawValue), 'd' || p.id, p.id, 'fcm', 'app', p.id, sha256(convert_to(p.id, 'UTF8')), now()
                FROM \(sql: people)
                """
            )
        }
        guard isAnalysed else { return }
        try await pool.execute(.unprepared("VACUUM ANALYZE"))
    }
}

@Suite struct AddressPlanTests {
    @Test func `addresses are found by their keys, although there were no devices when that was planned`() async throws
    {
        try await StoreScene.withStores(oneConnection()) { scene, pool in
            let tokens = (0..<20).map { DeviceAddress.fcm(token: "token-\($0)", appID: "app") }
            let hooks = (0..<20).map { DeviceAddress.webhook(url: "https://example.com/\($0)") }
            func find() async throws -> Int64 {
                let before = try await pool.blocksRead(of: ["devices"])
                let keys = tokens.map { AddressKey(networkID: scene.network, address: $0) }
                _ = try await scene.devices.devices(reachedAt: keys)
                let named = (tokens + hooks).map { AddressedDevice(address: $0) }
                let query = RecipientQuery(.direct(.addresses(named)), in: scene.network)
                let page = try await scene.recipients.page(for: query)
                #expect(page.recipients.count == named.count)
                return try await pool.blocksRead(of: ["devices"]) - before
            }
            try await pool.execute(.unprepared("VACUUM ANALYZE devices"))
            _ = try await find()
            let few = try await find()
            try await pool.execute(
                """
                INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at)
                SELECT \(scene.network.rawValue), 'd' || n, 'u' || n, 'fcm', 'app', 'other-' || n,
                       sha256(convert_to('other-' || n, 'UTF8')), now()
                FROM generate_series(1, 20000) AS n
                """
            )
            // An index that has grown is a level or two deeper.
            let many = try await find()
            #expect(many < few * 2 + 100)
        }
    }
}
