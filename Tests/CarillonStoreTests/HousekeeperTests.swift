import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

@Suite(.stores) struct HousekeeperTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `makes the partitions of today and the next days, and moves what came before them`() async throws {
        let event = Event(sourceID: "e", type: .userUpdated, timestamp: .now, actor: Person(id: "a"))
        let incoming = scene.incoming(event)
        _ = try await scene.inbox.accept([incoming])
        #expect(try await pool.count("events_default") == 1)
        try await pool.housekeeper().sweep()
        try await pool.housekeeper().sweep()
        let today = PartitionDay(containing: .now)
        for table in DailyPartitions.tables {
            let days = try await pool.withConnection { try DailyPartitions(table: table).days($0) }
            #expect(days == (0...3).map { today.advanced(by: $0) })
        }
        #expect(try await pool.count("events_default") == 0)
        #expect(try await pool.count("events_\(today.suffix)") == 1)
        #expect(try await scene.history.event(incoming.id, in: scene.network)?.state == .done)
    }

    @Test func `drops the days that are older than the retention`() async throws {
        let past = WallClock { .now - .seconds(20 * 86_400) }
        try await pool.housekeeper(past).sweep()
        let before = try await pool.withConnection { try DailyPartitions(table: "events").days($0) }
        #expect(before.count == 4)
        try await pool.housekeeper().sweep()
        let after = try await pool.withConnection { try DailyPartitions(table: "events").days($0) }
        #expect(after.first == PartitionDay(containing: .now))
        #expect(after.count == 4)
    }

    @Test func `keeps a day until its last event is older than the retention`() async throws {
        let past = WallClock { .now - .seconds(14 * 86_400) }
        try await pool.housekeeper(past).sweep()
        try await pool.housekeeper().sweep()
        let days = try await pool.withConnection { try DailyPartitions(table: "outcomes").days($0) }
        #expect(days.first == PartitionDay(containing: past.now()))
    }

    @Test func `nothing is deleted while the database's clock and this machine's do not agree`() async throws {
        let past = WallClock { .now - .seconds(20 * 86_400) }
        try await pool.housekeeper(past).sweep()
        try await pool.execute(
            "INSERT INTO event_keys SELECT 'acme', 'old', gen_random_uuid(), now() - interval '8 days'"
        )
        func sweep(_ local: WallClock) async throws {
            let clock = DatabaseClock(local: local)
            try await Housekeeper(
                pool: pool,
                clock: clock.wallClock,
                comparing: clock,
                logger: TestDatabase.logger
            ).sweep()
        }
        // As where the database's clock has jumped ahead by a month.
        let error = await #expect(throws: UntidyError.self) {
            try await sweep(WallClock { .now - .seconds(30 * 86_400) })
        }
        #expect(error?.description.contains("nothing is deleted") == true)
        #expect(try await days("events", pool).count == 8)
        #expect(try await pool.count("event_keys") == 1)
        // As soon as that is set right.
        try await sweep(.system)
        #expect(try await days("events", pool).count == 4)
        #expect(try await pool.count("event_keys") == 0)
    }

    @Test func `what fails does not keep the rest from being done`() async throws {
        try await pool.script(
            """
            ALTER TABLE changes RENAME TO changes_away;
            INSERT INTO event_keys SELECT 'acme', 'old', gen_random_uuid(), now() - interval '8 days';
            """
        )
        let error = await #expect(throws: UntidyError.self) { try await pool.housekeeper().sweep() }
        #expect(error?.description == "changes: PostgreSQL: the server answered 42P01")
        #expect(try await pool.count("event_keys") == 0)
    }

    @Test func `forgets what has aged, in batches, and nothing else`() async throws {
        try await pool.script(
            """
            INSERT INTO event_keys SELECT 'acme', 'old' || n, gen_random_uuid(), now() - interval '8 days'
                FROM generate_series(1, 12000) n;
            INSERT INTO event_keys SELECT 'acme', 'new', gen_random_uuid(), now() - interval '6 days';
            INSERT INTO used_nonces VALUES ('acme', '\\x01', now() - interval '1 second'),
                ('acme', '\\x02', now() + interval '1 hour');
            INSERT INTO changes (network_id, changed_at) VALUES ('acme', now() - interval '11 minutes'),
                ('acme', now() - interval '9 minutes');
            INSERT INTO users (network_id, user_id, facts_at, deleted) VALUES
                ('acme', 'old', now() - interval '15 days', true),
                ('acme', 'new', now() - interval '13 days', true), ('acme', 'alive', 'epoch', false);
            INSERT INTO channels (network_id, channel_id, facts_at, deleted) VALUES
                ('acme', 'old', now() - interval '15 days', true), ('acme', 'alive', 'epoch', false);
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at, toggles)
                SELECT 'acme', 'c', u, m, gen_random_uuid(), now() - interval '15 days', t
                FROM (VALUES ('left', false, NULL), ('muted', false, '{}'), ('member', true, NULL))
                    AS v (u, m, t);
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, state, state_at,
                                 registered_at)
                SELECT 'acme', d, 'u', 'log', '', '', s, now() - days * interval '1 day', 'epoch'
                FROM (VALUES ('old', 'unregistered', 31), ('new', 'unregistered', 29),
                             ('kept', 'quarantined', 399), ('past', 'quarantined', 401),
                             ('alive', 'active', NULL)) AS v (d, s, days);
            """
        )
        // What a clock has made that was ahead is not the latest any more.
        for days in [6, 8, -1] as [Int64] {
            let ids = UUIDv7Generator(clock: WallClock { .now - .seconds(days * 86_400) })
            let entry = JournalEntry(id: ids.next(), note: JournalNote(operation: "\(days)", status: 200))
            try await scene.journal.writeJournal([JournalKey("events", in: scene.network): [entry]])
        }
        try await pool.housekeeper().sweep()
        let kept = try await scene.journal.journal(of: JournalKey("events", in: scene.network), limit: 9)
        #expect(kept.map(\.note.operation) == ["6"])
        #expect(try await pool.count("event_keys") == 1)
        #expect(try await pool.count("used_nonces") == 1)
        #expect(try await pool.count("changes") == 1)
        #expect(try await pool.count("users") == 2)
        #expect(try await pool.count("channels") == 1)
        #expect(try await pool.count("members") == 2)
        #expect(try await pool.count("devices") == 3)
    }

    @Test func `forgets devices that nobody registered when they are not heard of, or were never reached`() async throws
    {
        try await pool.script(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, state, state_at,
                                 registered_at, transient, seen_at, error)
                SELECT 'acme', d, '', 'log', '', '', s, now(), now() - made * interval '1 hour', t,
                       now() - seen * interval '1 day', e
                FROM (VALUES ('registered', 'active', 9000, 365, false, 'not delivered to yet'),
                             ('heard of', 'active', 9000, 59, true, NULL), ('silent', 'active', 9000, 61, true, NULL),
                             ('dead', 'unregistered', 9000, 61, true, 'gone'),
                             ('new', 'active', 23, 0, true, 'not delivered to yet'),
                             ('never reached', 'active', 25, 0, true, 'not delivered to yet'),
                             ('unusable', 'quarantined', 47, 0, true, 'BadDeviceToken'),
                             ('long unusable', 'quarantined', 49, 0, true, 'BadDeviceToken'),
                             ('registered unusable', 'quarantined', 49, 0, false, 'BadDeviceToken'),
                             ('troubled', 'active', 25, 0, true, 'http 503')) AS v (d, s, made, seen, t, e);
            UPDATE devices SET state_at = registered_at WHERE state = 'quarantined';
            """
        )
        try await pool.housekeeper().sweep()
        let left = try await pool.all("SELECT device_id FROM devices ORDER BY device_id", as: String.self)
        #expect(left == ["dead", "heard of", "new", "registered", "registered unusable", "troubled", "unusable"])
    }

    @Test func `forgets what messages said after seven days, and what they will have said`() async throws {
        let ages: [Duration] = [.seconds(6 * 86_400), .seconds(8 * 86_400), .seconds(-86_400)]
        let ids = ages.map { age in
            EventID(UUIDv7Generator(clock: WallClock { WallClock.system.now() - age }).next())
        }
        try await scene.faces.keepTexts(Dictionary(uniqueKeysWithValues: ids.map { ($0, "text") }), of: scene.network)
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("message_texts") == 1)
    }

    @Test func `of each network the latest dead letters are kept`() async throws {
        for (network, count) in [(scene.network, 8), (scene.otherNetwork, 3)] {
            try await pool.execute(
                """
                INSERT INTO dead_letters (network_id, letter_id, event_id, provider, app_id, cause, locale, title, body,
                                          device_id, user_id, attempts, at)
                SELECT \(network.rawValue), lpad(n::text, 32, '0')::uuid, gen_random_uuid(), 'log', '', '{}', 'en', '', '',
                       'd', 'u', 1, now()
                FROM generate_series(1, \(count)) n
                """
            )
        }
        try await DeadLetterSweep(pool: pool, mostKept: 5).sweep()
        let left = try await pool.all(
            "SELECT right(letter_id::text, 1) FROM dead_letters WHERE network_id = \(scene.network.rawValue) ORDER BY 1",
            as: String.self
        )
        #expect(left == ["4", "5", "6", "7", "8"])
        #expect(try await pool.count("dead_letters") == 8, "the other one has fewer")
    }

    @Test func `a partition that somebody reads is left for later, and nobody waits for it`() async throws {
        try await pool.housekeeper(WallClock { .now - .seconds(20 * 86_400) }).sweep()
        let later = Mutex(Duration.zero)
        let keeper = pool.housekeeper(WallClock { .now + later.withLock { $0 } })
        let began = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        async let backup: Void = pool.withTransaction { session in
            try session.execute("SELECT FROM outcomes LIMIT 1")
            began.continuation.yield()
            mayEnd.wait()
        }
        for await _ in began.stream.prefix(1) {}
        async let swept: Void = keeper.sweep()
        var longest = Duration.zero
        for _ in 0..<50 {
            let start = ContinuousClock.now
            try await insertOutcome(pool)
            longest = max(longest, ContinuousClock.now - start)
        }
        try await swept
        // Half of what waiting for the lock took before, twenty times what it may take now.
        #expect(longest < .seconds(1))
        let today = PartitionDay(containing: .now)
        #expect(try await days("events", pool).first == today)
        #expect(try await days("outcomes", pool).allSatisfy { $0 < today })
        mayEnd.signal()
        try await backup
        // It has failed a moment ago.
        try await keeper.sweep()
        #expect(try await days("outcomes", pool).allSatisfy { $0 < today })
        later.withLock { $0 = .seconds(61) }
        try await keeper.sweep()
        #expect(try await days("outcomes", pool).first == today)
        #expect(try await pool.count("outcomes_default") == 0)
        #expect(try await pool.count("outcomes") == 50)
    }

    @Test func `who is nothing but an id goes, unless something hangs on it`() async throws {
        try await pool.script(
            """
            INSERT INTO users (network_id, user_id, facts_at, added_at, toggles)
                SELECT 'acme', u, f::timestamptz, now() - days * interval '1 day', t
                FROM (VALUES ('named', 'epoch', 31, NULL), ('new', 'epoch', 29, NULL),
                             ('described', 'yesterday', 31, NULL), ('choosy', 'epoch', 31, '{}'),
                             ('member', 'epoch', 31, NULL), ('owner', 'epoch', 31, NULL)) AS v (u, f, days, t);
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
                VALUES ('acme', 'c', 'member', true, gen_random_uuid(), now());
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, registered_at)
                VALUES ('acme', 'd', 'owner', 'log', '', '', now());
            """
        )
        try await pool.housekeeper().sweep()
        let users = try await pool.all("SELECT user_id FROM users ORDER BY user_id", as: String.self)
        #expect(users == ["choosy", "described", "member", "new", "owner"])
    }

    @Test func `toggles of channels that are gone, or never were, are forgotten`() async throws {
        try await pool.script(
            """
            INSERT INTO channels (network_id, channel_id, facts_at, deleted) VALUES
                ('acme', 'alive', 'epoch', false), ('acme', 'gone', now() - interval '15 days', true);
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at, toggles,
                                 toggles_updated_at)
                SELECT 'acme', c, u, m, gen_random_uuid(), 'epoch', '{}', now() - days * interval '1 day'
                FROM (VALUES ('alive', 'a', false, 999), ('gone', 'b', false, 15), ('gone', 'c', false, 13),
                             ('never', 'd', false, 401), ('never', 'e', false, 399),
                             ('never', 'f', true, 401)) AS v (c, u, m, days);
            """
        )
        try await pool.housekeeper().sweep()
        let users = try await pool.all("SELECT user_id FROM members ORDER BY user_id", as: String.self)
        #expect(users == ["a", "c", "e", "f"])
    }

    @Test func `every large table says when it is to be vacuumed, partitions too`() async throws {
        try await pool.housekeeper().sweep()
        let left = try await pool.all(
            """
            SELECT c.relname::text FROM pg_class c
            WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
                AND NOT EXISTS (SELECT FROM unnest(c.reloptions) o WHERE o LIKE 'autovacuum%')
            """,
            as: String.self
        )
        // As many rows as there are networks, keys, secrets, templates, endpoints, names elsewhere, sources and withdrawals.
        let small: Set = [
            "networks", "api_keys", "master_key_canary", "webhook_secrets", "user_token_keys", "templates",
            "provider_credentials", "provider_tokens", "schema_migrations", "schema_migration_steps", "replays",
            "withdrawals", "former_networks",
            "dialects", "faces", "face_keys", "face_changes", "sources",
            "placements", "placed_networks", "placement_changes", "placements_self", "face_names", "network_requests",
            "network_moves", "departed_networks", "arrivals", "deleted_networks",
            // Only former releases write to it.
            "released_brakes",
        ]
        #expect(Set(left).subtracting(small) == [])
    }

    @Test func `replicas that sweep at once do not fail`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await pool.housekeeper().sweep() } }
            try await group.waitForAll()
        }
        let days = try await pool.withConnection { try DailyPartitions(table: "events").days($0) }
        #expect(days.count == 4)
    }

    @Test func `finishes the deletion of a network`() async throws {
        for network in [scene.network, scene.otherNetwork] {
            _ = try await scene.directory.addMember("a", to: "c", in: network)
            _ = try await scene.devices.putDevice(Device("d", of: "a"), in: network)
        }
        try await pool.execute("DELETE FROM networks WHERE network_id = \(scene.network.rawValue)")
        try await pool.housekeeper().sweep()
        for table in ["users", "channels", "members", "devices"] {
            #expect(try await pool.count(table) == 1)
        }
    }

    private func days(_ table: String, _ pool: PostgresPool) async throws -> [PartitionDay] {
        try await pool.withConnection { try DailyPartitions(table: table).days($0) }
    }

    private func insertOutcome(_ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead,
                                  suppressed, records)
            VALUES ('acme', \(UUIDv7Generator().next()), 'log', now(), 1, 0, 0, 0, 0, '[]')
            """
        )
    }
}

extension DailyPartitions {
    /// The first days of the partitions, which mostly have one.
    func days(_ session: borrowing PostgresSession) throws -> [PartitionDay] {
        try partitions(session).map(\.days.lowerBound)
    }
}

extension Timestamp {
    static var now: Timestamp { WallClock.system.now() }
}

extension PostgresPool {
    /// How many rows a table has.
    func count(_ table: String) async throws -> Int {
        try await first("SELECT count(*) FROM \(identifier: table)") ?? -1
    }
}
