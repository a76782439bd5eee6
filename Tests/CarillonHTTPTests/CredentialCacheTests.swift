import CarillonCore
import CarillonTesting
import Synchronization
import Testing

@testable import CarillonHTTP

@Suite struct CredentialCacheTests {
    private static let acme = NetworkID(trusted: "acme")

    private final class Time: Sendable {
        private let instant = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { instant.withLock(\.self) }
        func advance(by duration: Duration) { instant.withLock { $0 += duration } }
    }

    private func withCache(
        capacity: Int = 100,
        _ test: (CredentialCache, MemoryStore, Time) async throws -> Void
    ) async throws {
        let store = MemoryStore()
        let network = Network(id: Self.acme, createdAt: TestAPI.now)
        _ = try await store.createNetwork(
            NetworkCredentials(network: network, webhookSecrets: [], userTokenKeys: [], apiKeys: [])
        )
        let time = Time()
        let cache = CredentialCache(accounts: store, capacity: capacity, logger: .silent, now: { time.now })
        try await test(cache, store, time)
    }

    @Test func `credentials are read anew after two seconds`() async throws {
        try await withCache { cache, store, time in
            for _ in 0..<3 { _ = try await cache.credentials(of: Self.acme) }
            #expect(store.credentialReadings == 1)
            time.advance(by: .seconds(2))
            #expect(try await cache.credentials(of: Self.acme)?.network.id == Self.acme)
            #expect(store.credentialReadings == 2)
        }
    }

    @Test func `requests at the same time share a reading`() async throws {
        try await withCache { cache, store, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { _ = try await cache.credentials(of: Self.acme) } }
                try await group.waitForAll()
            }
            #expect(store.credentialReadings == 1)
        }
    }

    @Test func `an unknown network is remembered too`() async throws {
        try await withCache { cache, store, _ in
            for _ in 0..<3 {
                let credentials = try await cache.credentials(of: NetworkID(trusted: "nobody"))
                #expect(credentials == nil)
            }
            #expect(store.credentialReadings == 1)
        }
    }

    @Test func `what was invalidated is read anew`() async throws {
        try await withCache { cache, store, _ in
            _ = try await cache.credentials(of: Self.acme)
            _ = try await store.deleteNetwork(Self.acme)
            cache.invalidate(Self.acme)
            #expect(try await cache.credentials(of: Self.acme) == nil)
        }
    }

    @Test func `an error goes on to the caller, and is not remembered`() async throws {
        try await withCache { cache, store, time in
            _ = try await cache.credentials(of: Self.acme)
            store.fail(with: Away())
            #expect(try await cache.credentials(of: Self.acme) != nil)
            time.advance(by: .seconds(2))
            await #expect(throws: Away.self) { try await cache.credentials(of: Self.acme) }
            store.fail(with: nil)
            #expect(try await cache.credentials(of: Self.acme) != nil)
        }
    }

    @Test func `it stays within its capacity`() async throws {
        try await withCache(capacity: 10) { cache, store, _ in
            for number in 0..<100 { _ = try await cache.credentials(of: NetworkID(trusted: "\(number)")) }
            #expect(cache.count <= 10)
            #expect(store.credentialReadings == 100)
        }
    }
}
