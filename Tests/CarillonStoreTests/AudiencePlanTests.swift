import CarillonCore
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
        var configuration = try await TestDatabase.make()
        configuration.poolSize = 1
        // A small table is one for several workers here.
        for setting in [
            "min_parallel_table_scan_size", "min_parallel_index_scan_size", "parallel_setup_cost",
            "parallel_tuple_cost",
        ] {
            configuration.sessionSettings[setting] = "0"
        }
        try await withStores(configuration) { scene, pool in
            let channel = ChannelID(trusted: "c")
            try await fill(pool, scene.network, channel, isAnalysed: isAnalysed)
            for audience in [Audience.everyone, .members(of: channel), .tags([TagID(trusted: "t")])] {
                var event = Event(sourceID: "n", type: .notificationDirect, timestamp: .now)
                event.direct = DirectNotification(to: audience)
                let query = RecipientQuery(networkID: scene.network, eventID: EventID(scene.ids.next()), event: event)
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
    private func fill(
        _ pool: PostgresPool,
        _ network: NetworkID,
        _ channel: ChannelID,
        isAnalysed: Bool
    ) async throws {
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
        try await pool.withConnection { try $0.execute(.unprepared("VACUUM ANALYZE")) }
    }
}
