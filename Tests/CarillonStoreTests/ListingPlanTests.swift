import CarillonCore
import Foundation
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// Lists by application cost what a page costs, or what is counted of them, however many devices the network has besides.
@Suite(.stores) struct DeviceListingTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }
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
        try await fill(pool, scene.network)
        func listing(_ change: (inout DeviceSelection) -> Void = { _ in }) -> DeviceListing {
            var selection = DeviceSelection(apps: Self.apps)
            change(&selection)
            return DeviceListing(selection: selection, network: scene.network)
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

    /// How many rows a step of a plan had.
    private static func rows(of line: String) -> Int {
        line.firstMatch(of: /actual rows=(\d+)/).flatMap { Int($0.1) } ?? 0
    }
}

/// For which apps a network has devices.
@Suite(.stores) struct AppReaderTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `names each app with a device in use once, whoever else has devices`() async throws {
        for (number, app) in ["one", "one", "two"].enumerated() {
            _ = try await scene.target(DeviceID(trusted: "d-\(number)"), of: "bob", app: app)
        }
        _ = try await scene.target("gone", of: "bob", app: "left")
        try await pool.execute("UPDATE devices SET state = 'unregistered' WHERE device_id = 'gone'")
        let reader = AppReader(pool: pool)
        #expect(try await reader.apps(of: scene.network) == [.init(.fcm, "one"), .init(.fcm, "two")])
        #expect(try await reader.apps(of: "nobody").isEmpty)
    }
}

@Suite(.stores) struct EventSearchTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `a page walks on until it is full, or has looked at enough`() async throws {
        let incoming = (0..<12).map { number in
            scene.incoming(.message("c", from: Person(id: number == 0 ? "z" : "y"), id: "\(number)"))
        }
        _ = try await scene.inbox.accept(incoming)
        let ids = incoming.map(\.id)
        func page(
            _ actor: UserID,
            before event: EventID? = nil,
            reach: Int = 100
        ) async throws -> (ids: [EventID], next: EventID?) {
            try await pool.snapshot { session in
                let filter = EventFilter(actorID: actor)
                let search = EventSearch(network: scene.network, filter: filter, reach: reach, firstStep: 2)
                let page = try search.page(before: event, limit: 1, session)
                // What is planned next is planned for good.
                let isFree = try session.queryFirst(
                    "SELECT current_setting('enable_sort')::boolean AND current_setting('enable_bitmapscan')::boolean"
                ) { row in try row.decode(0, as: Bool.self) }
                #expect(isFree == true)
                return page
            }
        }
        #expect(try await page("z") == (ids: [ids[0]], next: nil))
        #expect(try await page("y") == (ids: [ids[11]], next: ids[11]))
        #expect(try await page("y", before: ids[2]) == (ids: [ids[1]], next: nil))
        #expect(try await page("z", reach: 6) == (ids: [], next: ids[6]))
        #expect(try await page("z", before: ids[6], reach: 6) == (ids: [ids[0]], next: ids[0]))
        #expect(try await page("z", before: ids[0], reach: 6) == (ids: [], next: nil))
    }
}

/// Looking for something costs what a page costs, however large the network is and however many match.
@Suite(.stores) struct SearchTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `users are found by walking along an index, however many match`() async throws {
        let network = scene.network.rawValue
        try await pool.execute(
            """
            INSERT INTO users (network_id, user_id, display_name, facts_at)
            SELECT \(network), 'user-' || n, CASE n % 2 WHEN 0 THEN 'User ' || n ELSE 'Other ' || n || ' user' END,
                   now()
            FROM generate_series(1, 20000) AS n
            """
        )
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
                try await pool.execute("ANALYZE users, name_words")
            }
        }
        let page = try await scene.directory.users(matching: "USER", in: scene.network, after: nil, limit: 3)
        #expect(page.items.map(\.id) == ["user-1", "user-10", "user-100"])
        // All that match by name match by id as well: the page says where it stopped looking.
        let end = SearchCursor.id(key: "user-9999", id: "user-9999")
        var next = try await scene.directory.users(matching: "user", in: scene.network, after: end, limit: 100).next
        #expect(next != nil)
        while let cursor = next {
            let page = try await scene.directory.users(matching: "user", in: scene.network, after: cursor, limit: 1000)
            #expect(page.items.isEmpty)
            next = page.next
        }
    }

    @Test func `of many events a page looks at a bounded number, and goes on`() async throws {
        let network = scene.network.rawValue
        try await pool.execute(
            """
            INSERT INTO events (network_id, event_id, source_id, event_type, channel_id, received_at)
            SELECT \(network), (lpad(to_hex(n), 12, '0') || '7000800000000000' || '0000')::uuid, n::text,
                   'message.sent', CASE WHEN n IN (3, 24000) THEN 'rare' ELSE 'general' END, now()
            FROM generate_series(1, 25000) AS n
            """
        )
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

    @Test func `whom notifications did not reach is found by walking along an index, however much was delivered`()
        async throws
    {
        try await pool.execute(
            """
            INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead,
                                  suppressed, records)
            SELECT \(scene.network.rawValue), gen_random_uuid(), 'fcm', now() + n * interval '1 second', 1, 0, 0,
                   CASE n % 10 WHEN 0 THEN 1 ELSE 0 END, 0, '[["d","u","dead",1,null,null,0]]'
            FROM generate_series(1, 5000) AS n
            """
        )
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
