import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// How long bodies are kept for endpoints.
@Suite(.stores) struct RelaySweepTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    /// Stores a body that was accepted so many hours ago; answers its event.
    private func keep(_ hours: Double, in network: NetworkID, _ pool: PostgresPool) async throws -> UUID {
        let moment = WallClock.system.now() - .milliseconds(Int64(hours * 3_600_000))
        let id = UUID.version7Floor(of: moment)
        try await pool.execute(
            """
            INSERT INTO relayed (network_id, event_id, event_type, received_at, body)
            VALUES (\(network.rawValue), \(id), 'message.sent', \(moment.stored), '{}')
            """
        )
        return id
    }

    private func kept(in network: NetworkID, _ pool: PostgresPool) async throws -> Set<UUID> {
        Set(
            try await pool.all("SELECT event_id FROM relayed WHERE network_id = \(network.rawValue)", as: UUID.self)
        )
    }

    private func add(_ id: EndpointID, hours: Int, _ scene: StoreScene) async throws {
        let endpoint = Endpoint.sample(id, .observe(.init(replayHours: hours)))
        try await scene.endpoints.addEndpoint(endpoint, to: scene.network)
    }

    @Test func `bodies are kept for as long as the endpoint that wants them longest`() async throws {
        try await add("e-1", hours: 2, scene)
        try await add("e-2", hours: 72, scene)
        let young = try await keep(71, in: scene.network, pool)
        _ = try await keep(73, in: scene.network, pool)
        _ = try await keep(1, in: scene.otherNetwork, pool)
        try await RelaySweep(pool: pool).sweep()
        #expect(try await kept(in: scene.network, pool) == [young])
        #expect(try await kept(in: scene.otherNetwork, pool).isEmpty, "nobody wants them")
        _ = try await scene.endpoints.deleteEndpoint("e-2", of: scene.network)
        try await RelaySweep(pool: pool).sweep()
        #expect(try await kept(in: scene.network, pool).isEmpty)
    }

    @Test func `what an endpoint is still to be told once more is kept, though not for ever`() async throws {
        try await add("e-1", hours: 2, scene)
        let told = try await keep(9, in: scene.network, pool)
        let untold = try await keep(8, in: scene.network, pool)
        try await pool.execute(
            """
            INSERT INTO replays (network_id, endpoint_id, after_id, until_id, types, only_failed)
            VALUES (\(scene.network.rawValue), 'e-1', \(told), \(UUID.version7Floor(of: .now)), '{}', false)
            """
        )
        try await RelaySweep(pool: pool).sweep()
        #expect(try await kept(in: scene.network, pool).contains(untold))
        let ancient = try await keep(15 * 24, in: scene.network, pool)
        try await pool.execute("UPDATE replays SET after_id = \(UUID.smallest)")
        try await RelaySweep(pool: pool).sweep()
        #expect(try await !kept(in: scene.network, pool).contains(ancient))
        #expect(try await kept(in: scene.network, pool).contains(untold))
        try await pool.execute("DELETE FROM replays")
        try await RelaySweep(pool: pool).sweep()
        #expect(try await kept(in: scene.network, pool).isEmpty)
    }

    @Test func `what is on its way is kept in any case, and nothing else where nothing is to be kept`() async throws {
        try await add("e-1", hours: 0, scene)
        let waiting = try await keep(20, in: scene.network, pool)
        _ = try await keep(1, in: scene.network, pool)
        let group = DeliveryGroup.message(about: EventID(waiting), in: scene.network, id: scene.ids.next())
        try await pool.withConnection { session in try session.insert([group]) }
        try await RelaySweep(pool: pool).sweep()
        #expect(try await kept(in: scene.network, pool) == [waiting])
        let claimed = try await scene.claim().map(\.group)
        _ = try await scene.queue.settle(
            claimed.map { Settlement(group: $0, records: $0.targets.map(\.deliveredNow), remainders: []) }
        )
        try await RelaySweep(pool: pool).sweep()
        #expect(try await kept(in: scene.network, pool).isEmpty)
    }

    @Test func `a sweep goes on where much that waits has stopped the one before`() async throws {
        try await add("e-1", hours: 0, scene)
        let start = WallClock.system.now() - .seconds(7_200)
        // 60,000 messages of a minute wait, in rows of a hundred; of 2,001 bodies behind them nobody is told.
        try await pool.execute(
            """
            INSERT INTO relayed (network_id, event_id, event_type, received_at, body)
            SELECT \(scene.network.rawValue), (lpad(to_hex(\(start.milliseconds)::bigint + n), 12, '0')
                || repeat('0', 20))::uuid, 'message.sent', now(), '{}'
            FROM generate_series(0, 62000) AS n
            """
        )
        try await pool.execute(
            """
            INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body,
                size, attempt, run_at, expires_at, leased, targets)
            SELECT \(scene.network.rawValue), gen_random_uuid(), bundle.ids[1], 'relay', 'e-1', '{}', '', '', '',
                100, 0, now(), now() + interval '1 hour', false,
                (SELECT jsonb_agg(jsonb_build_array(id, 'message.sent', 1))::text FROM unnest(bundle.ids) AS id)
            FROM (SELECT array_agg(r.event_id ORDER BY r.event_id) AS ids
                  FROM (SELECT event_id, row_number() OVER (ORDER BY event_id) - 1 AS n FROM relayed) AS r
                  WHERE r.n < 60000 GROUP BY r.n / 100) AS bundle
            """
        )
        let sweep = RelaySweep(pool: pool, mostInVain: 20_000)
        for _ in 0..<3 { try await sweep.sweep() }
        #expect(try await kept(in: scene.network, pool).count == 62_001)
        try await sweep.sweep()
        #expect(try await kept(in: scene.network, pool).count == 60_000)
    }

    @Test func `what fails in one network keeps no other from being swept`() async throws {
        let networks = [scene.network, scene.otherNetwork].sorted { $0.rawValue < $1.rawValue }
        for network in networks { _ = try await keep(1, in: network, pool) }
        try await pool.execute(
            .unprepared(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE EXCEPTION 'refused'; END$$
                """
            )
        )
        try await pool.execute(
            .unprepared(
                """
                CREATE TRIGGER refusing BEFORE DELETE ON relayed FOR EACH ROW
                WHEN (OLD.network_id = '\(sql: SQL(trusted: networks[0].rawValue))') EXECUTE FUNCTION refuse()
                """
            )
        )
        await #expect(throws: PostgresError.self) { try await RelaySweep(pool: pool).sweep() }
        #expect(try await kept(in: networks[0], pool).count == 1)
        #expect(try await kept(in: networks[1], pool).isEmpty)
    }

    @Test func `an endpoint that cannot be read keeps its network's bodies, as long as any may, and no other's`()
        async throws
    {
        try await add("e-1", hours: 1, scene)
        try await pool.execute("UPDATE endpoints SET settings = '{}'")
        let young = try await keep(167, in: scene.network, pool)
        _ = try await keep(169, in: scene.network, pool)
        _ = try await keep(1, in: scene.otherNetwork, pool)
        try await RelaySweep(pool: pool).sweep()
        #expect(try await kept(in: scene.network, pool) == [young])
        #expect(try await kept(in: scene.otherNetwork, pool).isEmpty)
    }

    @Test func `an endpoint that cannot be read hides the trouble of no other one`() async throws {
        for id: EndpointID in ["e-1", "e-2"] { try await add(id, hours: 1, scene) }
        try await pool.execute("UPDATE endpoints SET failing_since = now()")
        try await pool.execute("UPDATE endpoints SET settings = '{}' WHERE endpoint_id = 'e-1'")
        let networks = [scene.network, scene.otherNetwork]
        let troubles = try await scene.reportSource.troubles(of: networks, at: WallClock.system.now())
        #expect(troubles[scene.network]?.map(\.name) == ["e-2"])
        let conditions = try await EndpointConditionReader(pool: pool, box: nil).conditions()
        #expect(conditions.map(\.endpoint.id) == ["e-2"])
    }

    @Test func `an endpoint to which nothing goes through for 72 hours is disabled`() async throws {
        try await add("e-1", hours: 1, scene)
        func fail(_ failingFor: String) async throws -> Endpoint? {
            let group = DeliveryGroup.message(about: EventID(scene.ids.next()), in: scene.network, id: scene.ids.next())
            try await pool.withConnection { session in
                try session.insert([group])
                try session.execute(
                    .unprepared(
                        "UPDATE endpoints SET failing_since = now() - interval '\(sql: SQL(trusted: failingFor))'"
                    )
                )
            }
            let claimed = try await scene.claim()
            _ = try await scene.queue.settle(
                claimed.map { .failed($0.group, "timeout in 1 ms", attempt: 1, delay: .seconds(3_600)) }
            )
            return try await scene.endpoints.endpoints(of: scene.network).first
        }
        #expect(try await fail("71 hours")?.state == .enabled)
        // What it was told last has expired, and nothing has happened since: one failure is not 73 hours of them.
        try await pool.execute("UPDATE endpoints SET failed_at = now() - interval '26 hours'")
        #expect(try await fail("73 hours")?.state == .enabled)
        #expect(
            try await pool.first("SELECT now() - failing_since < interval '1 hour' FROM endpoints", as: Bool.self)
                == true
        )
        let disabled = try #require(try await fail("73 hours"))
        #expect(disabled.state == .disabled && disabled.stateReason == "nothing went through for 72 hours")
        #expect(disabled.lastError == "timeout")
        // In use again it has as much time as before.
        _ = try await scene.endpoints.updateEndpoint("e-1", of: scene.network) { endpoint in
            var changed = endpoint
            changed.set(.enabled, reason: nil, at: WallClock.system.now())
            return changed
        }
        let since = try await pool.query("SELECT failing_since FROM endpoints") { row in try row.timestampIfAny(0) }
        #expect(since == [nil])
    }
}
