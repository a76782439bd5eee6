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

    @Test func `a removal that comes late ends what is older than it, whatever else is newer`() async throws {
        func named(_ event: Event, _ name: String) -> Event {
            var event = event
            event.channel?.displayName = name
            return event
        }
        let old = named(.created("c", by: "olga", members: ["olga", "bob"], at: 10), "Old")
        let new = named(.created("c", by: "alice", members: ["alice", "carol"], at: 30), "New")
        let deletion = Event(sourceID: "d", type: .channelDeleted, timestamp: .seconds(20), channel: Channel(id: "c"))
        for event in [old, new, deletion] { try await scene.accept(event) }
        #expect(
            try await scene.directory.members(of: "c", in: scene.network, after: nil, limit: 9) == ["alice", "carol"]
        )
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "New")

        try await scene.accept(.created("e", by: "alice", members: ["alice", "dave"], at: 10))
        var update = Event(sourceID: "u", type: .userUpdated, timestamp: .seconds(30), actor: Person(id: "dave"))
        update.actor?.displayName = "Dave II"
        try await scene.accept(update)
        _ = try await scene.target("d", of: "dave")
        try await scene.accept(
            Event(sourceID: "g", type: .userDeleted, timestamp: .seconds(20), actor: Person(id: "dave"))
        )
        #expect(try await scene.directory.members(of: "e", in: scene.network, after: nil, limit: 9) == ["alice"])
        // Who is there again has registered a device by a clock that is not the sender's.
        #expect(try await scene.devices.device("d", in: scene.network)?.state == .active)
        try await pool.housekeeper().sweep()
        #expect(try await unswept(pool) == 0)
        #expect(try await pool.count("members") == 3)
    }

    @Test func `a network that removes much has all of it swept`() async throws {
        for network in [scene.network, scene.otherNetwork] { try await remove(350, in: network) }
        try await RemovalSweep(pool: pool, furtherTime: .seconds(600)).sweep()
        #expect(try await unswept(pool) == 0)
    }

    @Test func `what is removed over and over again keeps nothing else from being swept`() async throws {
        try await remove(150, in: scene.network)
        let sweep = RemovalSweep(pool: pool, furtherTime: .zero)
        try await sweep.sweep()
        #expect(try await unswept(pool) == 50)
        try await pool.execute("UPDATE channels SET unswept = true WHERE channel_id < 'c1100'")
        try await sweep.sweep()
        #expect(try await unswept(pool) == 100)
        let left = try await pool.all("SELECT channel_id FROM channels WHERE unswept", as: String.self)
        #expect(left.allSatisfy { $0 < "c1100" })
        try await sweep.sweep()
        #expect(try await unswept(pool) == 0)
    }

    private func remove(_ count: Int, in network: NetworkID) async throws {
        try await pool.execute(
            """
            INSERT INTO channels (network_id, channel_id, facts_at, deleted, wiped_at, emptied_at, unswept)
            SELECT \(network.rawValue), 'c' || n, now(), true, now(), now(), true
            FROM generate_series(1000, 999 + \(count)) n
            """
        )
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
