import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// Further pages of a channel: what they cost, and that they hold whom looking everybody up would find.
@Suite(.stores { try await oneConnection() }) struct MemberWalkTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test(arguments: [false, true])
    func `a page of ten thousand out of a network of as many reads the blocks that its rows are in`(
        isAnalysed: Bool
    ) async throws {
        try await pool.populate("acme", channel: "c", users: 12_000)
        if isAnalysed { try await pool.execute(.unprepared("VACUUM ANALYZE users, members, devices")) }
        _ = try await scene.page(of: "c", behind: "u1000100")
        let before = try await pool.blocksReadOfDirectory()
        let page = try await scene.page(of: "c", behind: "u1001000")
        #expect(page.recipients.count == recipientPageSize)
        #expect(page.recipients.allSatisfy { $0.devices.count == 1 })
        #expect(page.next == .user("u1011000"))
        #expect(try await pool.blocksReadOfDirectory() - before <= 2_000)
    }

    @Test func `where few of a network's people are members, a page costs no more than looking each of them up`()
        async throws
    {
        try await pool.populate("acme", channel: "all", users: 40_000)
        try await pool.keep("few", everyone: "n % 20 = 0", of: 40_000)
        let first = try await blocks { try await scene.page(of: "few", behind: nil) }
        #expect(first.page.recipients.count == 1_000)
        let second = try await blocks { try await scene.page(of: "few", behind: first.page.next) }
        #expect(second.page.recipients.count == 1_000)
        // Stretches are counted besides.
        #expect(second.blocks < first.blocks + first.blocks / 5)
    }

    @Test func `where a gap between its people is large, a page is read by keys, and nobody is left out`() async throws
    {
        try await pool.populate("acme", channel: "all", users: 12_000)
        // What stands in the gap is in no stretch that is counted.
        try await pool.keep("gap", everyone: "n <= 2000 OR n > 11000", of: 12_000)
        let all = try await scene.everybody(in: "gap")
        #expect(all.count == 3_000)
        #expect(Set(all.map(\.userID)).count == 3_000)
        #expect(all.allSatisfy { $0.devices.count == 1 })
    }

    @Test(arguments: [true, false])
    func `pages hold whom looking everybody up finds, with what they set and own`(isDense: Bool) async throws {
        let count = 2_000
        try await pool.populate("acme", channel: "c", users: count)
        if !isDense {
            try await pool.execute(
                """
                INSERT INTO users (network_id, user_id, facts_at)
                SELECT 'acme', 'u' || 1000000 + n / 10 || 'x' || n, 'epoch' FROM generate_series(1, 20000) n
                """
            )
        }
        try await pool.script(
            """
            UPDATE users SET locale = 'de' WHERE user_id LIKE '%3';
            UPDATE users SET toggles = '{"all":false}' WHERE user_id LIKE '%13';
            UPDATE users SET deleted = true WHERE user_id LIKE '%17';
            UPDATE users SET wiped_at = 'epoch', wipes = 1 WHERE user_id LIKE '%19';
            UPDATE users SET wiped_at = '1969-12-31', wipes = 1 WHERE user_id LIKE '%29';
            UPDATE devices SET user_wipes = 1 WHERE user_id LIKE '%129';
            DELETE FROM users WHERE user_id LIKE '%37';
            UPDATE members SET toggles = '{"all":false}' WHERE user_id LIKE '%41';
            UPDATE members SET is_member = false WHERE user_id LIKE '%43';
            DELETE FROM members WHERE user_id LIKE '%47';
            UPDATE devices SET state = 'unregistered' WHERE user_id LIKE '%53';
            DELETE FROM devices WHERE user_id LIKE '%59';
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, registered_at)
            SELECT 'acme', 'a-' || user_id || n, user_id, 'log', '', '', now()
            FROM users CROSS JOIN generate_series(1, 3) AS n WHERE user_id LIKE '%61'
            """
        )
        let ids = (1...count).map { UserID(trusted: "u\(1_000_000 + $0)") }
        var expected: [Recipient] = []
        for start in stride(from: 0, to: count, by: 500) {
            expected += try await scene.lookUp(Set(ids[start..<start + 500]), in: "c")
        }
        let found = try await scene.everybody(in: "c")
        #expect(found.count < count)
        #expect(found == expected.sorted { $0.userID < $1.userID })
    }

    @Test func `pages of everyone do not begin at the network's first device`() async throws {
        try await pool.populate("acme", channel: "c", users: 30_000)
        let first = try await blocks { try await scene.page(of: .everyone, behind: .user("u1000000")) }
        let last = try await blocks { try await scene.page(of: .everyone, behind: .user("u1019999")) }
        #expect(first.page.recipients.count == recipientPageSize)
        #expect(last.page.recipients.count == recipientPageSize)
        #expect(last.blocks <= first.blocks + 20)
    }

    private func blocks(
        _ read: () async throws -> RecipientPage
    ) async throws -> (page: RecipientPage, blocks: Int64) {
        let before = try await pool.blocksReadOfDirectory()
        let page = try await read()
        return (page, try await pool.blocksReadOfDirectory() - before)
    }
}

extension StoreScene {
    /// A page of a message that is sent now, behind a user.
    fileprivate func page(of channel: ChannelID, behind user: UserID) async throws -> RecipientPage {
        try await page(of: channel, behind: .user(user))
    }

    fileprivate func page(of channel: ChannelID, behind cursor: PageCursor?) async throws -> RecipientPage {
        try await recipients.page(for: query(.message(channel, from: Person(id: "z"), at: 1), behind: cursor))
    }

    /// A page of a notification that is sent now.
    fileprivate func page(of audience: Audience, behind cursor: PageCursor?) async throws -> RecipientPage {
        try await recipients.page(for: query(.direct(audience), behind: cursor))
    }

    /// Those of some people whom a message that is sent now concerns.
    fileprivate func lookUp(_ users: Set<UserID>, in channel: ChannelID) async throws -> [Recipient] {
        let message = Event.message(channel, from: Person(id: "z"), at: 1)
        return try await recipients.page(
            for: RecipientQuery(networkID: network, prospect: message, only: users)
        ).recipients
    }

    private func query(_ event: Event, behind cursor: PageCursor?) -> RecipientQuery {
        RecipientQuery(networkID: network, eventID: EventID(ids.next()), event: event, after: cursor)
    }
}

extension PostgresPool {
    /// Makes some of the network's people members of a channel.
    fileprivate func keep(_ channel: String, everyone condition: SQL, of users: Int) async throws {
        try await execute(
            """
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT 'acme', \(channel), 'u' || 1000000 + n, true, '00000000-0000-7000-8000-000000000000', 'epoch'
            FROM generate_series(1, \(users)) n WHERE \(sql: condition)
            """
        )
    }

    /// How many blocks of the directory's tables and their indexes have been looked at.
    fileprivate func blocksReadOfDirectory() async throws -> Int64 {
        try await blocksRead(of: ["users", "members", "devices"])
    }
}
