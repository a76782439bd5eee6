import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonCore

/// What an endpoint is told whose circuit opens again and again.
@Suite(.timeLimit(.minutes(2))) struct RelayProgressTests {
    private func told(_ store: StoreScene) async throws -> Int {
        try await store.relays.relayDeliveries(in: store.network, .delivered).count
    }

    @Test func `an endpoint that fails each message once gets them all in the end`() async throws {
        let messages = 100
        let relay = ScriptedProvider(name: .relay) { _, attempt in
            attempt == 1 ? .retry(after: nil, reason: "http 500 in 1 ms") : .delivered(id: "http 204 in 1 ms")
        }
        try await TestDatabase.withPool { pool in
            var (before, tried) = (0, Set<DeviceID>())
            while before < messages {
                // A replica that begins when the circuit's time is over knows nothing but what the store does.
                let store = try StoreScene(pool: pool)
                let scene = try PipelineScene(store: store, providers: [ScriptedProvider(), relay], isRelaying: true)
                let (isFirst, told, sent) = (tried.isEmpty, before, relay.devices.count)
                if isFirst {
                    try await scene.populate(members: 1)
                    let createdAt = WallClock.system.now() - .seconds(3_600)
                    let endpoint = Endpoint(id: "e-1", settings: Endpoint.sample("e-1").settings, createdAt: createdAt)
                    try await store.endpoints.addEndpoint(endpoint, to: scene.network)
                }
                try await scene.whileRunning {
                    if isFirst {
                        for _ in 0..<messages { try await scene.post() }
                        _ = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }
                    } else {
                        try await eventually { try await self.told(store) > told }
                    }
                    // Before the replica ends, what is left has been put off to the end of the circuit's time.
                    _ = try await eventually { () -> Bool? in
                        if try await self.told(store) == messages { return true }
                        guard scene.lanes.statuses.contains(where: { $0.circuit == .open }) else { return nil }
                        return try await isAllPutOff(pool) ? true : nil
                    }
                }
                if let probe = relay.devices.dropFirst(sent).first, !isFirst {
                    #expect(tried.contains(probe), "the probe was tried before")
                }
                tried.formUnion(relay.devices)
                before = try await self.told(store)
                try await passCircuitTime(pool)
            }
            #expect(before == messages)
            #expect(relay.devices.count == 2 * messages, "each was tried twice")
        }
    }

    @Test func `an endpoint that could not be tried for want of a place of ours is tried again a second later`()
        async throws
    {
        // What is put off costs no attempt.
        let tries = Mutex(0)
        let relay = ScriptedProvider(name: .relay) { _, _ in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return number <= 2
                ? .deferLane(after: .seconds(1), reason: "busy", isOurs: true) : .delivered(id: "http 204 in 1 ms")
        }
        try await TestDatabase.withPool { pool in
            let store = try StoreScene(pool: pool)
            let scene = try PipelineScene(store: store, providers: [ScriptedProvider(), relay], isRelaying: true)
            try await scene.populate(members: 1)
            let createdAt = WallClock.system.now() - .seconds(3_600)
            let endpoint = Endpoint(id: "e-1", settings: Endpoint.sample("e-1").settings, createdAt: createdAt)
            try await store.endpoints.addEndpoint(endpoint, to: scene.network)
            let lane = Lane("e-1", in: scene.network)
            _ = try await store.queue.apply(.pause(for: .zero, reason: "down"), to: LaneSelection(lane))
            try await scene.whileRunning {
                try await scene.post()
                // A try that fails would be followed by a minute's pause.
                try await eventually { try await self.told(store) == 1 }
                try await eventually { scene.lanes.condition(of: lane)?.pause == nil }
            }
            #expect(relay.devices.count == 3)
        }
    }

    private func isAllPutOff(_ pool: PostgresPool) async throws -> Bool {
        try await pool.first(
            "SELECT EXISTS (SELECT FROM inbox) OR EXISTS (SELECT FROM deliveries WHERE leased OR run_at <= now())",
            as: Bool.self
        ) == false
    }

    /// Lets more time pass than any circuit is open for.
    private func passCircuitTime(_ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            UPDATE lanes
            SET paused_since = paused_since - interval '400 s', paused_until = paused_until - interval '400 s'
            """
        )
        try await pool.execute("UPDATE deliveries SET run_at = run_at - interval '400 s'")
    }
}
