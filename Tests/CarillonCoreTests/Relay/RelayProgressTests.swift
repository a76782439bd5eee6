import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// What an endpoint is told whose circuit opens again and again.
@Suite(.timeLimit(.minutes(2))) struct RelayProgressTests {
    private func told(_ store: MemoryStore, _ network: NetworkID) async throws -> Int {
        try await store.relayDeliveries(
            to: "e-1",
            in: network,
            state: .delivered,
            only: nil,
            before: nil,
            limit: 1_000
        ).count
    }

    @Test func `an endpoint that fails each message once gets them all in the end`() async throws {
        let messages = 100
        let relay = ScriptedProvider(name: .relay) { _, attempt in
            attempt == 1 ? .retry(after: nil, reason: "http 500 in 1 ms") : .delivered(id: "http 204 in 1 ms")
        }
        let ids = UUIDv7Generator()
        // How far the clock of the store is ahead.
        let ahead = Mutex(Duration.zero)
        let store = MemoryStore(clock: WallClock { WallClock.system.now() + ahead.withLock(\.self) }, ids: ids)
        var (before, tried) = (0, Set<DeviceID>())
        while before < messages {
            // A replica that begins when the circuit's time is over knows nothing but what the store does.
            let scene = try PipelineScene(
                store: store,
                ids: ids,
                providers: [ScriptedProvider(), relay],
                isRelaying: true
            )
            let (isFirst, told, sent) = (tried.isEmpty, before, relay.devices.count)
            if isFirst {
                try await scene.populate(members: 1)
                let createdAt = WallClock.system.now() - .seconds(3_600)
                let endpoint = Endpoint(id: "e-1", settings: Endpoint.sample("e-1").settings, createdAt: createdAt)
                _ = try await store.addEndpoint(endpoint, secret: .generate(), of: scene.network, answering: nil)
            }
            try await scene.whileRunning {
                if isFirst {
                    for _ in 0..<messages { try await scene.post() }
                    _ = try await eventually { scene.lanes.statuses.first { $0.circuit == .open } }
                } else {
                    _ = try await eventually { try await self.told(store, scene.network) > told ? true : nil }
                }
                // Before the replica ends, what is left has been put off to the end of the circuit's time.
                _ = try await eventually { () -> Bool? in
                    if try await self.told(store, scene.network) == messages { return true }
                    guard scene.lanes.statuses.contains(where: { $0.circuit == .open }) else { return nil }
                    return try await store.oldestWait() == .zero ? true : nil
                }
            }
            if let probe = relay.devices.dropFirst(sent).first, !isFirst {
                #expect(tried.contains(probe), "the probe was tried before")
            }
            tried.formUnion(relay.devices)
            before = try await self.told(store, scene.network)
            ahead.withLock { $0 += .seconds(400) }
        }
        #expect(before == messages)
        #expect(relay.devices.count == 2 * messages, "each was tried twice")
    }
}
