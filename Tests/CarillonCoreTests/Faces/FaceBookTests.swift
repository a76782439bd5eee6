import CarillonCore
import CarillonTesting
import Logging
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct FaceBookTests {
    private struct Away: Error {}

    private final class Time: Sendable {
        private let moment = Mutex(ContinuousClock.now)
        func now() -> ContinuousClock.Instant { moment.withLock(\.self) }
        func advance(by duration: Duration) { moment.withLock { $0 += duration } }
    }

    private struct Scene {
        let store = MemoryStore()
        let time = Time()
        let announcements = Announcements()
        let book: FaceBook

        init() async throws {
            let network = Network(id: "acme", createdAt: WallClock.system.now())
            _ = try await store.createNetwork(
                NetworkCredentials(network: network, webhookSecrets: [], userTokenKeys: [], apiKeys: [])
            )
            book = FaceBook(
                store: store,
                announcements: announcements,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: time.now
            )
        }

        func bind(_ name: String) async throws {
            let binding = FaceBinding(
                face: .matrix,
                externalID: name,
                networkID: "acme",
                settings: [:],
                updatedAt: Timestamp(milliseconds: 1)
            )
            _ = try await store.putFaceBinding(binding, claiming: true)
        }

        func knows(_ name: String) async throws -> Bool { try await book.index().binding(.matrix, name) != nil }
    }

    @Test func `what is too old is not answered while the store is away`() async throws {
        let scene = try await Scene()
        try await scene.bind("a")
        #expect(try await scene.knows("a"))
        scene.store.fail(with: Away())
        #expect(try await scene.knows("a"))
        scene.time.advance(by: FaceBook.lifetime)
        await #expect(throws: Away.self) { try await scene.book.index() }
        scene.store.fail(with: nil)
        #expect(try await scene.knows("a"))
    }

    @Test func `what was never read is asked of the store, and its error goes on`() async throws {
        let scene = try await Scene()
        scene.store.fail(with: Away())
        await #expect(throws: Away.self) { try await scene.book.index() }
    }

    @Test func `a change elsewhere is known two seconds later, though nobody has announced it`() async throws {
        let scene = try await Scene()
        #expect(try await scene.knows("a") == false)
        try await scene.bind("a")
        scene.time.advance(by: .seconds(2))
        #expect(try await scene.knows("a"))
    }

    @Test func `a change here is known at once, and told to the others`() async throws {
        let scene = try await Scene()
        #expect(try await scene.book.index().isBound(.matrix) == false)
        try await scene.bind("a")
        await scene.book.changed(in: "acme")
        #expect(try await scene.knows("a"))
        #expect(scene.announcements.take() == .some([Announcement(.faces, in: "acme")]))
    }

    @Test func `what another replica changes is read when it says so`() async throws {
        let scene = try await Scene()
        try await withThrowingTaskGroup { group in
            group.addTask { try await scene.book.run() }
            #expect(try await scene.knows("a") == false)
            try await scene.bind("a")
            scene.announcements.deliver(.some([Announcement(.faces, in: "acme")]))
            while try await !scene.knows("a") { try await Task.sleep(for: .milliseconds(1)) }
            group.cancelAll()
        }
    }
}
