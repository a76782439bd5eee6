import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// How long bodies are kept for endpoints.
@Suite struct RelaySweepTests {
    /// Stores a body that was accepted so many hours ago; answers its event.
    private func keep(_ hours: Double, in network: NetworkID, _ pool: PostgresPool) async throws -> UUID {
        let moment = WallClock.system.now() - .milliseconds(Int64(hours * 3_600_000))
        let id = UUID.version7Floor(of: moment)
        try await pool.withConnection { session in
            try session.execute(
                """
                INSERT INTO relayed (network_id, event_id, event_type, received_at, body)
                VALUES (\(network.rawValue), \(id), 'message.sent', \(moment.stored), '{}')
                """
            )
        }
        return id
    }

    private func kept(in network: NetworkID, _ pool: PostgresPool) async throws -> Set<UUID> {
        try await pool.withConnection { session in
            Set(
                try session.query("SELECT event_id FROM relayed WHERE network_id = \(network.rawValue)") { row in
                    try row.decode(0, as: UUID.self)
                }
            )
        }
    }

    private func add(_ id: EndpointID, hours: Int, _ scene: StoreScene) async throws {
        let endpoint = Endpoint.sample(id, .observe(.init(replayHours: hours)))
        _ = try await scene.endpoints.addEndpoint(endpoint, secret: .generate(), of: scene.network, answering: nil)
    }

    @Test func `bodies are kept for as long as the endpoint that wants them longest`() async throws {
        try await withStores { scene, pool in
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
    }

    @Test func `what is on its way is kept in any case, and nothing else where nothing is to be kept`() async throws {
        try await withStores { scene, pool in
            try await add("e-1", hours: 0, scene)
            let waiting = try await keep(20, in: scene.network, pool)
            _ = try await keep(1, in: scene.network, pool)
            let group = DeliveryGroup(
                id: scene.ids.next(),
                relaying: EventID(waiting),
                .messageSent,
                receivedAt: WallClock.system.now(),
                to: "e-1",
                in: scene.network,
                on: RelayTerms(expiresAt: WallClock.system.now() + .seconds(3_600))
            )
            try await pool.withConnection { session in try session.insert([StoredDelivery(group)]) }
            try await RelaySweep(pool: pool).sweep()
            #expect(try await kept(in: scene.network, pool) == [waiting])
            let claimed = try await scene.claim().map(\.group)
            _ = try await scene.queue.settle(
                claimed.map { group in
                    let records = group.targets.map {
                        DeviceRecord(
                            deviceID: $0.deviceID,
                            userID: $0.userID,
                            state: .delivered,
                            attempts: 1,
                            at: WallClock.system.now()
                        )
                    }
                    return Settlement(group: group, records: records, remainders: [])
                }
            )
            try await RelaySweep(pool: pool).sweep()
            #expect(try await kept(in: scene.network, pool).isEmpty)
        }
    }

    @Test func `an endpoint to which nothing goes through for 72 hours is disabled`() async throws {
        try await withStores { scene, pool in
            try await add("e-1", hours: 1, scene)
            func fail(_ failingFor: String) async throws -> Endpoint? {
                let group = DeliveryGroup(
                    id: scene.ids.next(),
                    relaying: EventID(scene.ids.next()),
                    .messageSent,
                    receivedAt: WallClock.system.now(),
                    to: "e-1",
                    in: scene.network,
                    on: RelayTerms(expiresAt: WallClock.system.now() + .seconds(3_600))
                )
                try await pool.withConnection { session in
                    try session.insert([StoredDelivery(group)])
                    try session.execute(
                        .unprepared(
                            "UPDATE endpoints SET failing_since = now() - interval '\(sql: SQL(trusted: failingFor))'"
                        )
                    )
                }
                let claimed = try await scene.claim().map(\.group)
                _ = try await scene.queue.settle(
                    claimed.map { group in
                        Settlement(
                            group: group,
                            records: [],
                            troubles: Dictionary(
                                uniqueKeysWithValues: group.targets.map { ($0.deviceID, "timeout in 1 ms") }
                            ),
                            remainders: [Remainder(targets: group.targets, attempt: 1, delay: .seconds(3_600))]
                        )
                    }
                )
                return try await scene.endpoints.endpoints(of: scene.network).first
            }
            #expect(try await fail("71 hours")?.state == .enabled)
            let disabled = try #require(try await fail("73 hours"))
            #expect(disabled.state == .disabled && disabled.stateReason == "nothing went through for 72 hours")
            #expect(disabled.lastError == "timeout")
            // In use again it has as much time as before.
            _ = try await scene.endpoints.updateEndpoint("e-1", of: scene.network) { endpoint in
                var changed = endpoint
                changed.set(.enabled, reason: nil, at: WallClock.system.now())
                return changed
            }
            let since = try await pool.withConnection { session in
                try session.query("SELECT failing_since FROM endpoints") { row in try row.timestampIfAny(0) }
            }
            #expect(since == [nil])
        }
    }
}
