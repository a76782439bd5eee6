import CarillonCore
import CarillonTesting
import Logging
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct EndpointBookTests {
    /// A store that counts how often it is read.
    private final class CountingStore: EndpointStore {
        let store: MemoryStore
        private let count = Mutex(0)
        var readings: Int { count.withLock(\.self) }

        init(_ store: MemoryStore) { self.store = store }

        func note(_ notes: [EndpointNote.Key: EndpointNote]) async throws {}

        func endpointList(unless version: EndpointList.Version?) async throws -> EndpointList? {
            count.withLock { $0 += 1 }
            return try await store.endpointList(unless: version)
        }

        func endpoints(of network: NetworkID) async throws -> [Endpoint] { try await store.endpoints(of: network) }
        func addEndpoint(
            _ endpoint: Endpoint,
            secret: WebhookSecret,
            of network: NetworkID,
            answering: IdempotentRequest?
        ) async throws -> Creation {
            try await store.addEndpoint(endpoint, secret: secret, of: network, answering: answering)
        }
        func updateEndpoint(
            _ id: EndpointID,
            of network: NetworkID,
            _ change: @escaping @Sendable (Endpoint) throws -> Endpoint
        ) async throws -> Endpoint? { try await store.updateEndpoint(id, of: network, change) }
        func deleteEndpoint(_ id: EndpointID, of network: NetworkID) async throws -> Bool {
            try await store.deleteEndpoint(id, of: network)
        }
        func rotateEndpointSecret(
            of id: EndpointID,
            in network: NetworkID,
            to secret: WebhookSecret,
            overlap: Duration,
            answering: IdempotentRequest?
        ) async throws -> Creation {
            try await store.rotateEndpointSecret(
                of: id,
                in: network,
                to: secret,
                overlap: overlap,
                answering: answering
            )
        }
        func endpointSecrets(of id: EndpointID, in network: NetworkID) async throws -> [WebhookSecret] {
            try await store.endpointSecrets(of: id, in: network)
        }
    }

    private struct Away: Error {}

    private final class Time: Sendable {
        private let moment = Mutex(ContinuousClock.now)
        func now() -> ContinuousClock.Instant { moment.withLock(\.self) }
        func advance(by duration: Duration) { moment.withLock { $0 += duration } }
    }

    private struct Scene {
        let store: CountingStore
        let time = Time()
        let announcements = Announcements()
        let book: EndpointBook

        init() async throws {
            let memory = MemoryStore()
            _ = try await memory.createNetwork(
                NetworkCredentials(
                    network: Network(id: "acme", createdAt: WallClock.system.now()),
                    webhookSecrets: [],
                    userTokenKeys: [],
                    apiKeys: []
                )
            )
            store = CountingStore(memory)
            book = EndpointBook(
                store: store,
                announcements: announcements,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: time.now
            )
        }

        func add(_ id: EndpointID) async throws {
            _ = try await store.addEndpoint(.sample(id), secret: .generate(), of: "acme", answering: nil)
        }
    }

    @Test func `the store is asked once in eight seconds, however many ask`() async throws {
        let scene = try await Scene()
        try await scene.add("e-1")
        for _ in 0..<100 {
            #expect(try await scene.book.endpoints(of: "acme").map(\.id) == ["e-1"])
            #expect(try await scene.book.endpoints(of: "other").isEmpty)
        }
        #expect(try await scene.book.endpoints(of: ["acme", "other"]).keys.sorted() == ["acme"])
        #expect(scene.store.readings == 1)
        scene.time.advance(by: EndpointBook.lifetime)
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try await scene.book.endpoints(of: "acme") } }
            try await group.waitForAll()
        }
        #expect(scene.store.readings >= 2)
    }

    @Test func `what is too old is not answered while the store is away`() async throws {
        let scene = try await Scene()
        _ = try await scene.book.endpoints(of: "acme")
        scene.store.store.fail(with: Away())
        #expect(try await scene.book.endpoints(of: "acme").isEmpty)
        scene.time.advance(by: EndpointBook.lifetime)
        await #expect(throws: Away.self) { try await scene.book.endpoints(of: "acme") }
        await #expect(throws: Away.self) { try await scene.book.endpoints(of: ["acme"]) }
    }

    @Test func `a change is known here at once, and told to the others`() async throws {
        let scene = try await Scene()
        _ = try await scene.book.endpoints(of: "acme")
        try await scene.add("e-1")
        await scene.book.changed(in: "acme")
        #expect(try await scene.book.endpoints(of: "acme").count == 1)
        #expect(scene.announcements.take() == .some([Announcement(.endpoints, in: "acme")]))
    }

    @Test func `what another replica changes is read when it says so`() async throws {
        let scene = try await Scene()
        try await withThrowingTaskGroup { group in
            group.addTask { try await scene.book.run() }
            _ = try await scene.book.endpoints(of: "acme")
            try await scene.add("e-1")
            scene.announcements.deliver(.some([Announcement(.endpoints, in: "acme")]))
            while try await scene.book.endpoints(of: "acme").isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            group.cancelAll()
        }
    }

    @Test func `an endpoint begins ten seconds after it was made or enabled`() {
        var endpoint = Endpoint.sample("e-1")
        func after(_ seconds: Int64) -> Timestamp { Endpoint.sample("e-1").createdAt + .seconds(seconds) }
        #expect(!endpoint.isInUse(at: after(9)))
        #expect(endpoint.isInUse(at: after(10)))
        endpoint.set(.enabled, reason: nil, at: after(100))
        #expect(endpoint.isInUse(at: after(10)), "it was enabled already")
        endpoint.set(.disabled, reason: "why", at: after(200))
        #expect(!endpoint.isInUse(at: after(500)))
        endpoint.set(.enabled, reason: nil, at: after(600))
        #expect(!endpoint.isInUse(at: after(609)))
        #expect(endpoint.isInUse(at: after(610)))
    }
}
