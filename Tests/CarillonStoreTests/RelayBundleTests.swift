import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// Rows that hold many messages to an endpoint, and those of former releases, which hold one.
@Suite struct RelayBundleTests {
    private func group(_ event: UUID, _ scene: StoreScene, id: UUID? = nil) -> DeliveryGroup {
        DeliveryGroup.message(about: EventID(event), in: scene.network, id: id ?? scene.ids.next())
    }

    private func addEndpoint(_ scene: StoreScene, replayHours: Int = 72) async throws {
        let endpoint = Endpoint.sample("e-1", .observe(.init(replayHours: replayHours)))
        try await scene.endpoints.addEndpoint(endpoint, to: scene.network)
    }

    private func insert(_ groups: [DeliveryGroup], _ pool: PostgresPool) async throws {
        try await pool.withConnection { session in try session.insert(groups.joined) }
    }

    @Test func `a row of the former release is read, settled, and sent again`() async throws {
        try await StoreScene.withStores { scene, pool in
            try await addEndpoint(scene)
            let group = group(scene.ids.next(), scene)
            try await insert([group], pool)
            try await pool.execute(#"UPDATE deliveries SET targets = '[["e-1",""]]'"#)
            func told() async throws -> [RelayDelivery] {
                try await scene.relays.relayDeliveries(in: scene.network)
            }
            #expect(try await told().map(\.eventID) == [group.cause.eventID])
            #expect(try await told().first?.eventType == .messageSent)
            let claimed = try #require(try await scene.claim().first?.group)
            #expect(claimed.relayKeys == group.relayKeys && claimed.targets == group.targets)
            _ = try await scene.queue.settle([.failed(claimed, "http 503 in 9 ms")])
            let again = try #require(try await scene.claim().first?.group)
            #expect(again.attempt == 1 && again.relayKeys == group.relayKeys)
            #expect(try await told().first?.answer?.status == 503)
        }
    }

    @Test func `bodies of all messages of a row are kept until they are through`() async throws {
        try await StoreScene.withStores { scene, pool in
            try await addEndpoint(scene, replayHours: 0)
            let ids = (0..<4).map { _ in scene.ids.next() }
            try await keep(ids, scene, pool)
            let bundle = scene.ids.next()
            try await insert(ids.prefix(3).map { group($0, scene, id: bundle) }, pool)
            try await Task.sleep(for: .milliseconds(5))
            try await RelaySweep(pool: pool).sweep()
            #expect(try await kept(pool) == Array(ids.prefix(3)))
            let claimed = try #require(try await scene.claim().first?.group)
            let last = try #require(claimed.targets.last)
            let settlement = Settlement(
                group: claimed,
                records: claimed.targets.dropLast().map(\.deliveredNow),
                remainders: [Remainder(targets: [last], attempt: 0, delay: .zero)]
            )
            _ = try await scene.queue.settle([settlement])
            try await RelaySweep(pool: pool).sweep()
            #expect(try await kept(pool) == [ids[2]])
        }
    }

    private func keep(_ ids: [UUID], _ scene: StoreScene, _ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO relayed (network_id, event_id, event_type, received_at, body)
            SELECT \(scene.network.rawValue), n.id, 'message.sent', now(), '{}' FROM unnest(\(ids)) AS n (id)
            """
        )
    }

    private func kept(_ pool: PostgresPool) async throws -> [UUID] {
        try await pool.query("SELECT event_id FROM relayed ORDER BY event_id") { row in try row.decode(0) }
    }

    @Test func `a row begins where whoever looks for one of its events looks`() async throws {
        try await TestDatabase.withPool { pool in
            let generator = UUIDv7Generator()
            for _ in 0..<5 {
                let id = generator.next()
                let floor = try await pool.queryFirst("SELECT bundle_floor(\(id))") { row in try row.eventID(0) }
                #expect(floor?.milliseconds == EventID(id).milliseconds - RelayBundles.longestSpan)
            }
        }
    }
}
