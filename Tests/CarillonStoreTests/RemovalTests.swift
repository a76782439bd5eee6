import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// What a removal writes at once, and what is swept later.
@Suite(.stores) struct RemovalTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    /// More than one batch of the sweep.
    private static let count = 5_000

    @Test func `removing a channel writes none of its members' rows`() async throws {
        for channel in ["c1", "c2"] as [ChannelID] {
            try await fill(channel, pool)
            let before = try await pool.rowVersions(of: "members")
            if channel == "c1" {
                #expect(try await scene.directory.deleteChannel(channel, in: scene.network))
            } else {
                let event = Event(sourceID: "e", type: .channelDeleted, timestamp: .now, channel: Channel(id: channel))
                _ = try await scene.inbox.accept([scene.incoming(event)])
            }
            #expect(try await pool.rowVersions(of: "members") == before)
            #expect(try await scene.directory.channel(channel, in: scene.network) == nil)
            try await pool.housekeeper().sweep()
            #expect(try await pool.count("members") == 0)
            #expect(try await unswept(pool) == 0)
        }
    }

    @Test func `replacing the members of a channel writes none of the former ones' rows`() async throws {
        try await fill("c", pool)
        try await scene.toggles.set(.channel("u7", "c"), to: ["enabled": false], in: scene.network)
        let before = Set(try await pool.rowVersions(of: "members"))
        try await scene.directory.replaceMembers(of: "c", with: ["u1", "x"], in: scene.network)
        let after = Set(try await pool.rowVersions(of: "members"))
        #expect(after.subtracting(before).count == 2)
        #expect(before.subtracting(after).count == 1)
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("members") == 3)
        let members = try await scene.directory.members(of: "c", in: scene.network, after: nil, limit: 9)
        #expect(members == ["u1", "x"])
    }

    @Test func `removing a user writes none of their devices' and channels' rows`() async throws {
        try await pool.script(
            """
            INSERT INTO users (network_id, user_id, facts_at) VALUES ('acme', 'a', 'epoch');
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
                SELECT 'acme', 'c' || n, 'a', true, gen_random_uuid(), now() FROM generate_series(1, 5000) n;
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, registered_at)
                SELECT 'acme', 'd' || n, 'a', 'log', '', '', now() FROM generate_series(1, 5000) n;
            """
        )
        let before = try await pool.rowVersions(of: "members") + pool.rowVersions(of: "devices")
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        #expect(try await pool.rowVersions(of: "members") + pool.rowVersions(of: "devices") == before)
        _ = try await scene.directory.putUser(Person(id: "a"), in: scene.network)
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 9).isEmpty)
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("members") == 0)
        #expect(try await pool.count("devices") == 0)
        #expect(try await unswept(pool) == 0)
    }

    @Test func `a removal is kept until it has ended everything, however old it is`() async throws {
        try await pool.script(
            """
            INSERT INTO users (network_id, user_id, facts_at, deleted, wiped_at, wipes) VALUES
                ('acme', 'a', now() - interval '15 days', true, now() - interval '15 days', 1);
            INSERT INTO channels (network_id, channel_id, facts_at, deleted, wiped_at, emptied_at) VALUES
                ('acme', 'c', now() - interval '15 days', true, now() - interval '15 days',
                 now() - interval '15 days');
            -- Written beside the sweep, and seen by nobody since.
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at) VALUES
                ('acme', 'c', 'b', true, gen_random_uuid(), now() - interval '16 days'),
                ('acme', 'e', 'a', true, gen_random_uuid(), now() - interval '16 days');
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, registered_at)
                VALUES ('acme', 'd', 'a', 'log', '', '', now());
            """
        )
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("users") == 1)
        #expect(try await pool.count("channels") == 1)
        try await pool.housekeeper().sweep()
        for table in ["users", "channels", "members", "devices"] { #expect(try await pool.count(table) == 0) }
    }

    private func fill(_ channel: ChannelID, _ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO channels (network_id, channel_id, facts_at) VALUES ('acme', \(channel.rawValue), 'epoch')
            """
        )
        try await pool.execute(
            """
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT 'acme', \(channel.rawValue), 'u' || n, true, gen_random_uuid(), now() - interval '1 minute'
            FROM generate_series(1, \(Self.count)) n
            """
        )
    }

    private func unswept(_ pool: PostgresPool) async throws -> Int {
        try await pool.first(
            "SELECT (SELECT count(*) FROM users WHERE unswept) + (SELECT count(*) FROM channels WHERE unswept)"
        ) ?? -1
    }
}

extension PostgresPool {
    /// What identifies the version of every row.
    fileprivate func rowVersions(of table: String) async throws -> [String] {
        try await all("SELECT ctid::text || ' ' || xmin::text FROM \(identifier: table) ORDER BY ctid", as: String.self)
    }
}
