import CarillonCore
import Foundation
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// What is particular to the stores on PostgreSQL.
@Suite(.stores) struct StoreTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `an event that the database refuses fails its batch, of which nothing stays`() async throws {
        let good = Event.message("c", from: Person(id: "b"))
        let bad = Event.message("c", from: Person(id: "a", displayName: "\u{0}"))
        await #expect(throws: PostgresError.self) {
            try await scene.inbox.accept([scene.incoming(good), scene.incoming(bad)])
        }
        for table in ["event_keys", "users", "channels", "inbox"] { #expect(try await pool.count(table) == 0) }
        let alone = scene.incoming(good)
        let answer = try await scene.inbox.accept([alone])
        #expect(answer.map(\.unmarked) == [.accepted(alone.id)])
    }

    @Test(arguments: [("58030", true), ("XX001", true), ("42501", true), ("53100", false), ("42703", false)])
    func `what PostgreSQL has to be repaired for is known, and is not taken for what passes`(
        state: String,
        awaitsRepair: Bool
    ) async throws {
        try await pool.script(
            """
            CREATE FUNCTION fail(state text) RETURNS void LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = state; END $$
            """
        )
        do {
            try await pool.execute("SELECT fail(\(state))")
            Issue.record("it was refused")
        } catch {
            #expect(error.awaitsRepair == awaitsRepair)
            #expect(!error.isTransient || !awaitsRepair)
        }
    }

    @Test func `a queue that has filled is not read as a whole because it was empty before`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, pool in
            let target = try await scene.target("d", of: "b")
            let (first, second) = (try await scene.sent("first"), try await scene.sent("second"))
            func work(on event: PendingEvent) async throws -> Int64 {
                let before = try await pool.rowsReadByIndex(of: ["deliveries", "inbox"])
                let group = scene.group(event, to: [target], leased: true)
                _ = try await scene.queue.enqueue([Expansion(event: event, groups: [group], next: nil)])
                _ = try await scene.queue.settle([Settlement(group: group, records: [], remainders: [])])
                let claimed = try await scene.claim(limit: 1, perLane: 1).map(\.group)
                _ = try await scene.queue.renew(claimed)
                try await scene.queue.release(claimed, after: .zero)
                return try await pool.rowsReadByIndex(of: ["deliveries", "inbox"]) - before
            }
            try await pool.execute("TRUNCATE deliveries")
            try await pool.execute("CREATE TEMPORARY TABLE kept AS SELECT * FROM inbox")
            try await pool.execute("TRUNCATE inbox")
            try await pool.execute(.unprepared("VACUUM ANALYZE deliveries, inbox"))
            _ = try await work(on: first)
            try await pool.execute("INSERT INTO inbox SELECT * FROM kept")
            for _ in 0..<40 { try await scene.enqueue(to: Array(repeating: [target], count: 50)) }
            for number in 0..<2_000 {
                _ = try await scene.inbox.accept([scene.incoming(.message("c", from: Person(id: "a"), id: "\(number)"))]
                )
            }
            let read = try await work(on: second)
            #expect(read < 200)
        }
    }

    @Test func `no table but the changes keeps anything of a deleted network`() async throws {
        let event = Event.created("c", by: "a", members: ["b"])
        try await scene.accept(event)
        let update = Event(sourceID: "u", type: .userUpdated, timestamp: .now, actor: Person(id: "a"))
        _ = try await scene.inbox.accept([scene.incoming(update)])
        let address = DeviceAddress.fcm(token: "t", appID: "x")
        let device = Device("d", of: "b", address)
        _ = try await scene.devices.putDevice(device, in: scene.network)
        let pending = try #require(try await scene.inbox.claimEvents(limit: 1).first)
        try await enqueueAndKill(pending, device, scene)
        _ = try await scene.inbox.accept([scene.incoming(event.named("f"))])
        try await scene.accounts.rotateWebhookSecret(of: scene.network, to: .generate(), overlap: .zero)
        let tokenKey = StoredUserTokenKey(id: scene.ids.next(), key: .hs256(Secret("s")))
        let request = IdempotentRequest(networkID: scene.network, keyHash: [1], bodyHash: [1], answer: [1])
        _ = try await scene.accounts.addUserTokenKey(tokenKey, of: scene.network, answering: request)
        let credential = ProviderCredential.sample(.fcm, "x", at: .now)
        _ = try await scene.credentials.putProviderCredential(credential, of: scene.network)
        let lane = Lane(networkID: scene.network, provider: .fcm, appID: "x")
        _ = try await scene.queue.apply(.believe(until: .now + .seconds(60)), to: LaneSelection(lane))
        let source = TemplateSource(title: "%s", body: .one("x"))
        let template = TemplateOverride(eventType: .messageSent, locale: "en", source: source, updatedAt: .now)
        _ = try await scene.templates.putTemplate(template, in: scene.network)
        let entry = JournalEntry(id: scene.ids.next(), note: JournalNote(operation: "accepted", status: 200))
        try await scene.journal.writeJournal([JournalKey("events", in: scene.network): [entry]])
        let tables = try await pool.all(
            """
            SELECT table_name::text FROM information_schema.columns
            WHERE column_name = 'network_id' AND table_schema = 'public'
                -- The note that a network is a former one goes last, when nobody can write for it any more.
                -- A counter of changes goes on where one is made anew.
                AND table_name NOT IN ('changes', 'change_counters', 'former_networks')
            """,
            as: String.self
        )
        #expect(tables.count > 15)
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        for table in tables {
            let left = try await pool.execute(
                "SELECT FROM \(identifier: table) WHERE network_id = \(scene.network.rawValue)"
            )
            #expect(left == 0, "rows are left in \(table)")
        }
    }

    @Test func `secrets are not stored in the clear`() async throws {
        let secret = WebhookSecret.generate()
        try await scene.accounts.rotateWebhookSecret(of: scene.network, to: secret, overlap: .zero)
        let tokenKey = StoredUserTokenKey(id: scene.ids.next(), key: .hs256(Secret("very secret")))
        let answer = Array("a secret answer".utf8)
        let request = IdempotentRequest(networkID: scene.network, keyHash: [1], bodyHash: [1], answer: answer)
        _ = try await scene.accounts.addUserTokenKey(tokenKey, of: scene.network, answering: request)
        let stored = try await pool.query(
            """
            SELECT sealed FROM webhook_secrets UNION ALL SELECT material FROM user_token_keys
            UNION ALL SELECT sealed FROM idempotency_keys
            """
        ) { row in String(decoding: try row.decode(0, as: [UInt8].self), as: UTF8.self) }
        #expect(stored.count == 3)
        #expect(!stored.contains { $0.contains("whsec") || $0.contains("secret") })
    }

    @Test func `devices are restored in transactions of bounded size`() async throws {
        try await pool.execute(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, state, registered_at,
                                 state_at)
            SELECT \(scene.network.rawValue), 'd-' || n, 'a', 'fcm', 'app-' || n % 3, 't', 'unregistered', now(),
                   now() - n % 7 * interval '1 second'
            FROM generate_series(1, 4500) n
            """
        )
        let now = WallClock.system.now()
        let restored = try await scene.devices.restoreDevices(
            .fcm,
            appID: nil,
            since: now - .seconds(60),
            until: now + .seconds(60),
            in: scene.network
        )
        #expect(restored == 4_500)
        let sizes = try await pool.all(
            "SELECT count(*) FROM devices WHERE state = 'active' GROUP BY xmin::text ORDER BY count(*)",
            as: Int.self
        )
        #expect(sizes == [500, 2_000, 2_000])
    }

    @Test func `a credential that another master key sealed is listed and replaced, but not read`() async throws {
        let other = try #require(SecretBox(masterKey: [UInt8](repeating: 9, count: 32)))
        let credential = ProviderCredential.sample(.fcm, "x", at: WallClock.system.now())
        let (store, network) = (scene.credentials, scene.network)
        let accounts = PostgresAccountStore(pool: pool, box: other, ids: scene.ids)
        _ = try await PostgresProviderCredentialStore(Placed(PlacementDatabase(accounts)))
            .putProviderCredential(credential, of: network)
        let error = UnreadableCredential(provider: .fcm, appID: "x")
        await #expect(throws: error) { try await store.providerCredential(.fcm, appID: "x", of: network) }
        await #expect(throws: error) { try await store.addProviderCredential(credential, of: network) }
        #expect(try await store.providersWithCredentials(of: network).map(\.appID) == ["x"])
        #expect(try await store.replaceProviderCredential(credential, by: credential, of: network) == false)
        #expect(try await store.putProviderCredential(credential, of: network) == .replaced)
        #expect(try await store.providerCredential(.fcm, appID: "x", of: network) == credential)
    }

    @Test func `a repeated mention writes nothing`() async throws {
        let person = Person(id: "a", displayName: "Alice")
        let event = Event(
            sourceID: "1",
            type: .memberJoined,
            timestamp: .now,
            channel: Channel(id: "c", displayName: "C"),
            members: [person]
        )
        _ = try await scene.inbox.accept([scene.incoming(event)])
        let before = try await rowVersions(pool)
        _ = try await scene.inbox.accept([scene.incoming(event.named("2"))])
        #expect(try await rowVersions(pool) == before)
    }

    @Test func `a read point older than the remembered changes means that everybody may be touched`() async throws {
        let point = try await scene.readPoint()
        let old = ReadPoint(point.rawValue, moment: .now - .seconds(9 * 60 + 1))
        let young = ReadPoint(point.rawValue, moment: .now - .seconds(8 * 60))
        let points = [(network: scene.network, point: old), (network: scene.network, point: young)]
        #expect(try await scene.queue.changes(since: points) == [.everybody, .none])
    }

    @Test func `a change that commits after the read is seen although it began before`() async throws {
        let began = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        async let written = scene.toggles.updateToggles(.user("a"), in: scene.network, by: .admin, expected: nil) {
            _ in
            began.continuation.yield()
            mayEnd.wait()
            return ["enabled": false]
        }
        for await _ in began.stream.prefix(1) {}
        let point = try await scene.readPoint()
        mayEnd.signal()
        _ = try await written
        #expect(try await scene.queue.changes(since: [(scene.network, point)]) == [.users(["a"])])
    }

    @Test func `a change that was seen is not reported, although a transaction from before it still runs`() async throws
    {
        let began = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        async let slow = scene.toggles.updateToggles(.user("slow"), in: scene.network, by: .admin, expected: nil) {
            _ in
            began.continuation.yield()
            mayEnd.wait()
            return [:]
        }
        for await _ in began.stream.prefix(1) {}
        try await scene.toggles.set(.user("seen"), to: [:], in: scene.network)
        let point = try await scene.readPoint()
        mayEnd.signal()
        _ = try await slow
        #expect(try await scene.queue.changes(since: [(scene.network, point)]) == [.users(["slow"])])
    }

    @Test func `a delivery that cannot be read is taken out of the way and counted`() async throws {
        let pending = try await scene.pending(.message("c", from: Person(id: "a")))
        let targets = [try await scene.target("d1", of: "b"), try await scene.target("d2", of: "b")]
        let groups = targets.map { scene.group(pending, to: [$0]) }
        _ = try await scene.queue.enqueue([Expansion(event: pending, groups: groups, next: nil)])
        try await pool.execute("UPDATE deliveries SET targets = '[' WHERE group_id = \(groups[0].id)")
        #expect(try await scene.claim().map(\.group.id) == [groups[1].id])
        let status = try #require(try await scene.history.event(pending.id, in: scene.network))
        #expect(status.deliveries[.dead] == 1)
        #expect(status.deliveries[.pending] == 1)
    }

    @Test func `a network's backlog does not keep another's events waiting`() async throws {
        try await pool.script(
            """
            INSERT INTO inbox (network_id, event_id, source_id, event_type, received_at, occurred_at, body, run_at,
                               leased)
            SELECT 'acme', gen_random_uuid(), n::text, 'message.sent', now(), now(),
                   '{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"a"},"message":{}}}',
                   now() - interval '1 hour', false
            FROM generate_series(1, 5000) n
            """
        )
        let late = scene.incoming(.message("c", from: Person(id: "a")), in: scene.otherNetwork)
        _ = try await scene.inbox.accept([late])
        #expect(try await scene.inbox.claimEvents(limit: 100).contains { $0.id == late.id })
    }

    private func enqueueAndKill(_ pending: PendingEvent, _ device: Device, _ scene: StoreScene) async throws {
        let groups = (0..<2).map { _ in scene.group(pending, to: [Target(device)], app: "x") }
        _ = try await scene.queue.enqueue([Expansion(event: pending, groups: groups, next: nil)])
        let group = try #require(try await scene.claim(limit: 1, perLane: 1).first?.group)
        _ = try await scene.queue.settle([.all(group, .dead)])
    }

    private func rowVersions(_ pool: PostgresPool) async throws -> [String] {
        try await pool.all(
            """
            SELECT ctid::text || xmin::text || xmax::text FROM users
            UNION ALL SELECT ctid::text || xmin::text || xmax::text FROM channels
            UNION ALL SELECT ctid::text || xmin::text || xmax::text FROM members
            """,
            as: String.self
        )
    }
}

extension Event {
    /// The same event under another source id.
    fileprivate func named(_ sourceID: String) -> Event {
        var event = self
        event.sourceID = sourceID
        return event
    }
}

extension StoreScene {
    /// A message that was accepted and claimed.
    fileprivate func sent(_ id: String) async throws -> PendingEvent {
        try await pending(.message("c", from: Person(id: "a"), id: id))
    }
}
