import CarillonCore
import CarillonTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct FaceCacheTests {
    private struct Scene {
        let store = ScriptedFaces()
        let time = ManualTime(.seconds(0))
        let announcements = Announcements()
        let cache: FaceCache

        init() {
            cache = FaceCache(
                store: store,
                announcements: announcements,
                logger: TestDatabase.logger,
                now: time.monotonic
            )
        }

        func bind(_ name: String) { store.change { $0.bindings.append(FaceBinding(.matrix, name)) } }

        func knows(_ name: String) async throws -> Bool { try await cache.index().binding(.matrix, name) != nil }
    }

    private let scene = Scene()

    @Test func `what is too old is not answered while the store is away`() async throws {
        scene.bind("a")
        #expect(try await scene.knows("a"))
        scene.store.isAway(true)
        #expect(try await scene.knows("a"))
        scene.time.advance(by: FaceCache.lifetime)
        await #expect(throws: ScriptedFaces.Away.self) { try await scene.cache.index() }
        scene.store.isAway(false)
        #expect(try await scene.knows("a"))
    }

    @Test func `what was never read is asked of the store, and its error goes on`() async throws {
        scene.store.isAway(true)
        await #expect(throws: ScriptedFaces.Away.self) { try await scene.cache.index() }
    }

    @Test func `a change elsewhere is known two seconds later, though nobody has announced it`() async throws {
        #expect(try await scene.knows("a") == false)
        scene.bind("a")
        scene.time.advance(by: .seconds(2))
        #expect(try await scene.knows("a"))
    }

    @Test func `a change here is known at once, and told to the others`() async throws {
        #expect(try await scene.cache.index().isBound(.matrix) == false)
        scene.bind("a")
        await scene.cache.changed(in: "acme")
        #expect(try await scene.knows("a"))
        #expect(scene.announcements.take() == .some([Announcement(.faces, in: "acme")]))
    }

    @Test func `what another replica changes is read when it says so`() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await scene.cache.run() }
            #expect(try await scene.knows("a") == false)
            scene.bind("a")
            scene.announcements.deliver(.some([Announcement(.faces, in: "acme")]))
            while try await !scene.knows("a") { try await Task.sleep(for: .milliseconds(1)) }
            group.cancelAll()
        }
    }
}
