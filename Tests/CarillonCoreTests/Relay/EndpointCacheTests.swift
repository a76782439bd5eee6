import CarillonCore
import CarillonTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct EndpointCacheTests {
    private struct Away: Error {}

    /// Endpoints of one network, unless the store is away; counts how often it is read.
    private final class ScriptedEndpoints: EndpointListSource {
        private let state = Mutex((isAway: false, readings: 0, endpoints: [Endpoint]()))

        var readings: Int { state.withLock(\.readings) }

        func isAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func add(_ id: EndpointID) { state.withLock { $0.endpoints.append(.sample(id)) } }

        func endpointList(unless version: EndpointList.Version?) async throws -> EndpointList? {
            try state.withLock { state in
                state.readings += 1
                if state.isAway { throw Away() }
                let count = state.endpoints.count
                let present = EndpointList.Version(count: count, revisions: Int64(count))
                let all = count == 0 ? [:] : ["acme" as NetworkID: state.endpoints]
                return present == version ? nil : EndpointList(version: present, endpoints: all)
            }
        }
    }

    private struct Scene {
        let store = ScriptedEndpoints()
        let time = ManualTime(.seconds(0))
        let announcements = Announcements()
        let cache: EndpointCache

        init() {
            cache = EndpointCache(
                store: store,
                announcements: announcements,
                logger: TestDatabase.logger,
                now: time.monotonic
            )
        }
    }

    private let scene = Scene()

    @Test func `the store is asked once in eight seconds, however many ask`() async throws {
        scene.store.add("e-1")
        for _ in 0..<100 {
            #expect(try await scene.cache.endpoints(of: "acme").map(\.id) == ["e-1"])
            #expect(try await scene.cache.endpoints(of: "other").isEmpty)
        }
        #expect(try await scene.cache.endpoints(of: ["acme", "other"]).keys.sorted() == ["acme"])
        #expect(scene.store.readings == 1)
        scene.time.advance(by: EndpointCache.lifetime)
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try await scene.cache.endpoints(of: "acme") } }
            try await group.waitForAll()
        }
        #expect(scene.store.readings >= 2)
    }

    @Test func `what is too old is not answered while the store is away`() async throws {
        _ = try await scene.cache.endpoints(of: "acme")
        scene.store.isAway(true)
        #expect(try await scene.cache.endpoints(of: "acme").isEmpty)
        scene.time.advance(by: EndpointCache.lifetime)
        await #expect(throws: Away.self) { try await scene.cache.endpoints(of: "acme") }
        await #expect(throws: Away.self) { try await scene.cache.endpoints(of: ["acme"]) }
    }

    @Test func `a change is known here at once, and told to the others`() async throws {
        _ = try await scene.cache.endpoints(of: "acme")
        scene.store.add("e-1")
        await scene.cache.changed(in: "acme")
        #expect(try await scene.cache.endpoints(of: "acme").count == 1)
        #expect(scene.announcements.take() == .some([Announcement(.endpoints, in: "acme")]))
    }

    @Test func `what another replica changes is read when it says so`() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await scene.cache.run() }
            _ = try await scene.cache.endpoints(of: "acme")
            scene.store.add("e-1")
            scene.announcements.deliver(.some([Announcement(.endpoints, in: "acme")]))
            while try await scene.cache.endpoints(of: "acme").isEmpty { try await Task.sleep(for: .milliseconds(1)) }
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
