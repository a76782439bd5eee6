import CarillonCore
import Postgres
import Synchronization
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// What a page of recipients costs does not depend on what the planner has heard of the tables.
@Suite(.stores { try await oneConnection() }) struct LargeAudienceTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `a channel that was imported a moment ago is read by its keys, beside an analysed network`() async throws
    {
        try await pool.script(
            """
            ALTER TABLE users SET (autovacuum_enabled = off);
            ALTER TABLE members SET (autovacuum_enabled = off);
            ALTER TABLE devices SET (autovacuum_enabled = off)
            """
        )
        try await pool.populate("other", channel: "old", users: 40_000)
        try await pool.execute(.unprepared("VACUUM ANALYZE users, members, devices"))
        try await pool.populate("acme", channel: "new", users: 6_000)
        let before = try await pool.rowsRead()
        let users = try await scene.everybody(in: "new")
        #expect(users.count == 6_000)
        #expect(Set(users.map(\.userID)).count == 6_000)
        #expect(users.allSatisfy { $0.devices.count == 1 })
        // A member, a user and a device each, and a few more where one page ends and the next begins, and to see how to read it.
        #expect(try await pool.rowsRead() - before < 3 * 6_000 + 500)
    }

    @Test func `statistics of the time when there was one channel mislead nobody`() async throws {
        try await pool.script(
            """
            ALTER TABLE members ALTER channel_id SET (n_distinct = 1), ALTER user_id SET (n_distinct = 1);
            ALTER TABLE devices ALTER user_id SET (n_distinct = 1);
            ALTER TABLE users ALTER user_id SET (n_distinct = 1)
            """
        )
        try await pool.populate("acme", channel: "large", users: 20_000)
        try await pool.populate("acme", channel: "small", users: 100)
        try await pool.execute(.unprepared("VACUUM ANALYZE users, members, devices"))
        let before = try await pool.rowsRead()
        #expect(try await scene.everybody(in: "small").count == 100)
        #expect(try await pool.rowsRead() - before < 3 * 100 + 100)
    }

    @Test func `a device is registered by its keys, however many its network has`() async throws {
        try await pool.populate("acme", channel: "c", users: 3_000)
        let before = try await pool.rowsRead()
        for number in 1...2 {
            let address = DeviceAddress.apns(token: "AB", appID: "app", environment: .sandbox)
            let device = Device("phone-\(number)", of: "u1000001", address, at: .seconds(3))
            _ = try await scene.devices.putDevice(device, in: scene.network)
        }
        #expect(try await scene.devices.device("phone-1", in: scene.network) == nil)
        let read = try await pool.rowsRead() - before
        #expect(read < 100)
    }

    @Test func `those who subscribe are found by their keys, however many their network has`() async throws {
        try await pool.populate("acme", channel: "c", users: 3_000)
        _ = try await scene.devices.putDevice(Device("phone", of: "u1000001", at: .seconds(3)), in: scene.network)
        let before = try await pool.rowsRead()
        let subscribers = [.device("phone"), .user("u1000001"), .user("new")] as [Subscriber]
        for tag in ["t1", "t2"] as [TagID] {
            for subscriber in subscribers {
                _ = try await scene.tags.subscribe(subscriber, to: tag, in: scene.network, ifOwnedBy: nil, by: .admin)
            }
            let batch = Mutex<[ImportRecord]?>(subscribers.map { .subscription($0, tag) })
            try await scene.directory.apply({ batch.withLock { $0.take() } }, in: scene.network)
        }
        #expect(try await scene.devices.known(among: ["phone", "none"], in: scene.network) == ["phone"])
        #expect(try await scene.tags.subscribers(of: "t1", in: scene.network, after: nil, limit: 9).count == 3)
        let read = try await pool.rowsRead() - before
        #expect(read < 300)
    }

    @Test func `a page ends where its people's devices become too many`() async throws {
        try await pool.populate("acme", channel: "c", users: 500, devicesEach: 45)
        let users = try await scene.everybody(in: "c")
        #expect(users.count == 500)
        #expect(users.allSatisfy { $0.devices.count == 45 })
        let pages = try await scene.pages(of: "c").map { $0.recipients.reduce(0) { $0 + $1.devices.count } }
        #expect(pages.allSatisfy { $0 <= recipientPageSize })
        #expect(pages.count == 3)
    }

    @Test func `one person's devices beyond a page are left out, and nobody else's`() async throws {
        try await pool.populate("acme", channel: "c", users: 3)
        try await pool.execute(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, registered_at)
            SELECT 'acme', 'more-' || n, 'u1000002', 'log', '', '', now()
            FROM generate_series(1, \(recipientPageSize + 5)) n
            """
        )
        let users = try await scene.everybody(in: "c")
        #expect(users.map(\.devices.count) == [1, recipientPageSize, 1])
    }

    @Test func `large audiences in one batch end with what fits, and the rest is answered later`() async throws {
        for number in 1...12 { try await pool.populate("acme", channel: "c\(number)", users: 990) }
        let queries = (1...12).map { number in
            RecipientQuery(.message("c\(number)", from: Person(id: "z"), at: 1), in: scene.network)
        }
        let pages = try await scene.recipients.recipients(for: queries)
        #expect(pages.map(\.recipients.count) == Array(repeating: 990, count: 10) + [100])
        #expect(pages.map { $0.next == nil } == Array(repeating: true, count: 10) + [false])
        let rest = try await scene.recipients.recipients(for: Array(queries[11...]))
        #expect(rest.map(\.recipients.count) == [990])
    }
}

extension StoreScene {
    /// The pages of a message that is sent now.
    func pages(of channel: ChannelID) async throws -> [RecipientPage] {
        var query = RecipientQuery(.message(channel, from: Person(id: "z"), at: 1), in: network)
        var pages: [RecipientPage] = []
        repeat {
            pages.append(try await recipients.recipients(for: [query])[0])
            query.after = pages.last?.next
        } while query.after != nil
        return pages
    }

    /// Everybody whom a message that is sent now concerns.
    func everybody(in channel: ChannelID) async throws -> [Recipient] {
        try await pages(of: channel).flatMap(\.recipients)
    }
}

extension PostgresPool {
    /// Fills a channel with people who own devices, as an import does.
    func populate(
        _ network: String,
        channel: String,
        users: Int,
        devicesEach devices: Int = 1
    ) async throws {
        try await execute(
            """
            INSERT INTO users (network_id, user_id, facts_at)
            SELECT \(network), 'u' || 1000000 + n, 'epoch' FROM generate_series(1, \(users)) n
            ON CONFLICT DO NOTHING
            """
        )
        try await execute(
            """
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT \(network), \(channel), 'u' || 1000000 + n, true, '00000000-0000-7000-8000-000000000000', 'epoch'
            FROM generate_series(1, \(users)) n
            """
        )
        try await execute(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, registered_at)
            SELECT \(network), 'd' || n || '-' || k, 'u' || 1000000 + n, 'log', '', '', now()
            FROM generate_series(1, \(users)) n, generate_series(1, \(devices)) k
            ON CONFLICT DO NOTHING
            """
        )
    }

    /// How many rows and index entries of the directory have been read.
    fileprivate func rowsRead() async throws -> Int64 {
        try await withConnection { try $0.execute("SELECT pg_stat_force_next_flush()") }
        return try await first(
            """
            SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables
            WHERE relname IN ('users', 'members', 'devices')
            """
        ) ?? 0
    }
}
