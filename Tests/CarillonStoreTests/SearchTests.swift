import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// Looking for something costs what a page costs, however large the network is and however many match.
@Suite struct SearchTests {
    @Test func `users are found by walking along an index, however many match`() async throws {
        try await withStores { scene, pool in
            let network = scene.network.rawValue
            try await pool.withConnection { session in
                try session.execute(
                    """
                    INSERT INTO users (network_id, user_id, display_name, facts_at)
                    SELECT \(network), 'user-' || n, CASE n % 2 WHEN 0 THEN 'User ' || n ELSE 'Other ' || n || ' user' END,
                           now()
                    FROM generate_series(1, 20000) AS n
                    """
                )
            }
            let search = DirectorySearch.users(of: scene.network)
            for (sql, index) in [
                (search.byID(after: "user-", "", limit: 101), "users_by_folded_id"),
                (search.byID(after: "nobody", "", limit: 101), "users_by_folded_id"),
                (search.byName(after: "user", "", beginningWith: "user", limit: 101), "users_by_folded_name"),
                (search.byName(after: "o", "", beginningWith: "o", limit: 101), "users_by_folded_name"),
                (search.byWord(after: "user", "", beginningWith: "user", limit: 101), "name_words_pkey"),
                (search.byWord(after: "1", "", beginningWith: "1", limit: 101), "name_words_pkey"),
            ] {
                // Once as it is planned of a table that nobody has looked at, once with statistics.
                for _ in 0..<2 {
                    let plan = try await pool.explain(sql)
                    #expect(plan.contains { $0.contains("Scan using \(index)") }, "\(plan)")
                    #expect(!plan.contains { $0.contains("Sort") || $0.contains("Rows Removed") }, "\(plan)")
                    try await pool.withConnection { session in _ = try session.execute("ANALYZE users, name_words") }
                }
            }
            let page = try await scene.directory.users(matching: "USER", in: scene.network, after: nil, limit: 3)
            #expect(page.items.map(\.id) == ["user-1", "user-10", "user-100"])
            // All that match by name match by id as well: the page says where it stopped looking.
            let end = SearchPlace.id(key: "user-9999", id: "user-9999")
            var next = try await scene.directory.users(matching: "user", in: scene.network, after: end, limit: 100).next
            #expect(next != nil)
            while let place = next {
                let page = try await scene.directory.users(
                    matching: "user",
                    in: scene.network,
                    after: place,
                    limit: 1000
                )
                #expect(page.items.isEmpty)
                next = page.next
            }
        }
    }

    @Test func `of many events a page looks at a bounded number, and goes on`() async throws {
        try await withStores { scene, pool in
            let network = scene.network.rawValue
            try await pool.withConnection { session in
                try session.execute(
                    """
                    INSERT INTO events (network_id, event_id, source_id, event_type, channel_id, received_at)
                    SELECT \(network), (lpad(to_hex(n), 12, '0') || '7000800000000000' || '0000')::uuid, n::text,
                           'message.sent', CASE WHEN n IN (3, 24000) THEN 'rare' ELSE 'general' END, now()
                    FROM generate_series(1, 25000) AS n
                    """
                )
            }
            func page(_ filter: EventFilter, before: EventID?, limit: Int = 100) async throws -> EventPage {
                try await scene.history.events(in: scene.network, matching: filter, before: before, limit: limit)
            }
            var pages: [[String]] = []
            var next: EventID?
            repeat {
                let found = try await page(EventFilter(channelID: "rare"), before: next)
                pages.append(found.items.map(\.sourceID))
                next = found.next
            } while next != nil
            #expect(pages == [["24000"], [], ["3"]])
            #expect(try await page(EventFilter(channelID: "general"), before: nil, limit: 2).items.count == 2)
            #expect(try await page(EventFilter(), before: nil, limit: 2).items.map(\.sourceID) == ["25000", "24999"])
        }
    }

    @Test func `whom notifications did not reach is found by walking along an index, however much was delivered`()
        async throws
    {
        try await withStores { scene, pool in
            try await pool.withConnection { session in
                try session.execute(
                    """
                    INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead,
                                          suppressed, records)
                    SELECT \(scene.network.rawValue), gen_random_uuid(), 'fcm', now() + n * interval '1 second', 1, 0, 0,
                           CASE n % 10 WHEN 0 THEN 1 ELSE 0 END, 0, '[["d","u","dead",1,null,null,0]]'
                    FROM generate_series(1, 5000) AS n
                    """
                )
            }
            for isOldestFirst in [false, true] {
                let query = FailureQuery(isOldestFirst: isOldestFirst)
                let reader = FailureReader(network: scene.network, query: query, limit: 20)
                let behind = reader.isBehind(PostgresTimestamp(microsecondsSince1970: 0), 1, isIncluded: true)
                for sql in [reader.rows(behind: nil, wanted: 20), reader.rows(behind: behind, wanted: 20)] {
                    let plan = try await pool.explain(sql)
                    #expect(plan.contains { $0.contains("outcomes") && $0.contains("_at_number_idx") }, "\(plan)")
                    #expect(!plan.contains { $0.contains("Sort (") || $0.contains("Rows Removed") }, "\(plan)")
                }
                let page = try await scene.history.failures(in: scene.network, query, after: nil, limit: 20)
                #expect(page.count == 20)
            }
        }
    }
}
