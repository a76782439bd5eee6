import CarillonCore
import CarillonTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct PlacedFaceIndexTests {
    /// Home with the network `acme`, and a placement with `far`.
    private struct Scene {
        let home = ScriptedFaces()
        let far = ScriptedFaces()
        let time = ManualTime(.seconds(0))
        let farCache: FaceCache
        let index: PlacedFaceIndex

        init(problem: @escaping @Sendable () -> String? = { nil }) {
            let now = time.monotonic
            let homeCache = FaceCache(store: home, logger: TestDatabase.logger, now: now)
            farCache = FaceCache(store: far, logger: TestDatabase.logger, now: now)
            let name = PlacementName("p2") ?? .home
            index = PlacedFaceIndex([.init(.home, homeCache), .init(name, farCache, problem: problem)])
            home.change { $0.bindings = [FaceBinding(.matrix, "near")] }
            far.change { list in
                list.bindings = [FaceBinding(.matrix, "away", of: "far")]
                let key = FaceKey(face: .matrix, networkID: "far", name: "k", rights: .null, createdAt: .seconds(0))
                list.keys = [StoredFaceKey(key: key, proof: .hash(SecretHash(of: "secret")))]
            }
        }

        /// Whether a name is bound.
        func knows(_ name: String) async throws -> Bool {
            try await index.lookup().binding(.matrix, matching: name) != nil
        }
    }

    private static let unavailable = PlacementProblem.unavailable(
        PlacementName("p2") ?? .home,
        reason: "it does not answer"
    )

    private let scene = Scene()

    @Test func `all that all placements have is found, and what none has is absent`() async throws {
        #expect(try await scene.knows("near"))
        #expect(try await scene.knows("away"))
        #expect(try await !scene.knows("nobody's"))
        let lookup = await scene.index.lookup()
        #expect(try lookup.key(.matrix, secret: "secret")?.key.networkID == "far")
        #expect(try lookup.key(.matrix, secret: "wrong") == nil)
        #expect(try !lookup.isBound(.ably))
    }

    @Test func `of a placement that was never read nothing is said to be absent`() async throws {
        scene.far.isAway(true)
        #expect(try await scene.knows("near"))
        for name in ["away", "nobody's"] {
            await #expect(throws: Self.unavailable) { try await scene.knows(name) }
        }
        let lookup = await scene.index.lookup()
        #expect(throws: Self.unavailable) { try lookup.key(.matrix, secret: "secret") }
        #expect(throws: Self.unavailable) { try lookup.key(.matrix, named: "k") }
        #expect(throws: Self.unavailable) { try lookup.isBound(.ably) }
        #expect(throws: Self.unavailable) { try lookup.binding(.matrix, "x", ownedBy: "who") }
        #expect(try lookup.binding(.matrix, "x", ownedBy: "acme") == nil, "all that a network of home has is known")
        #expect(try lookup.isBound(.matrix))
        #expect(scene.far.readings == 1, "nobody waits for it once more")

        scene.far.isAway(false)
        await scene.farCache.changed(in: "far")
        #expect(try await scene.knows("away"))
        #expect(try await !scene.knows("nobody's"))
    }

    @Test func `what a placement that is away had is not relied on when it is too old, and its names stay its own`()
        async throws
    {
        scene.home.change { $0.bindings.append(FaceBinding(.matrix, "a*")) }
        #expect(try await scene.index.lookup().binding(.matrix, matching: "away")?.networkID == "far")
        scene.far.isAway(true)
        #expect(try await scene.knows("away"))
        scene.time.advance(by: FaceCache.lifetime)
        await #expect(throws: Self.unavailable) { try await scene.knows("away") }
        await #expect(throws: Self.unavailable) { try await scene.index.lookup().key(.matrix, secret: "secret") }
        #expect(try await scene.index.lookup().binding(.matrix, matching: "another")?.networkID == "acme")
    }

    @Test func `a key that was revoked elsewhere is unknown two seconds later, though nobody has announced it`()
        async throws
    {
        #expect(try await scene.index.lookup().key(.matrix, secret: "secret") != nil)
        scene.far.change { $0.keys = [] }
        scene.time.advance(by: FaceCache.lifetime)
        #expect(try await scene.index.lookup().key(.matrix, secret: "secret") == nil)
    }

    @Test func `one that cannot be used for another reason is not asked`() async throws {
        let scene = Scene(problem: { "it is another database" })
        #expect(try await scene.knows("near"))
        let problem = PlacementProblem.unavailable(PlacementName("p2") ?? .home, reason: "it is another database")
        await #expect(throws: problem) { try await scene.knows("away") }
        #expect(scene.far.readings == 0)
    }
}
