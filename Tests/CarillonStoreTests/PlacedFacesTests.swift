import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// Names in other systems of networks in two databases: `acme` is at home, and `other` is elsewhere.
@Suite(.stores) struct PlacedFacesTests {
    private let scene = StoreScene.here
    private let elsewhere = PlacementName("p2") ?? .home

    private func withFaces(_ test: (any FaceStore, _ far: PostgresPool) async throws -> Void) async throws {
        try await StoreScene.withStores { far, pool in
            let (home, elsewhere) = (scene.network, self.elsewhere)
            let databases = [
                PlacementName.home: try await scene.databases.of(home), elsewhere: try await far.databases.of(home),
            ]
            let placed = Placed(databases) { network, _ in network == home ? .home : elsewhere }
            try await test(PostgresFaceStore(placed, names: FaceNames(pool: scene.pool)), pool)
        }
    }

    private func key(_ name: String, _ secret: String, in network: NetworkID) -> StoredFaceKey {
        let key = FaceKey(face: .amity, networkID: network, name: name, rights: "device", createdAt: .seconds(5))
        return StoredFaceKey(key: key, proof: .hash(SecretHash(of: secret)))
    }

    @Test func `a secret is one network's over all placements, until its key is removed`() async throws {
        try await withFaces { faces, _ async throws in
            let (here, there) = (scene.network, scene.otherNetwork)
            #expect(try await faces.addFaceKey(key("a", "held", in: here), answering: nil) == .created)
            for _ in 1...2 {
                await #expect(throws: FaceRefusal.nameTaken) {
                    try await faces.addFaceKey(key("b", "held", in: there), answering: nil)
                }
            }
            #expect(try await faces.faceKeys(.amity, of: there).isEmpty)
            #expect(try await faces.addFaceKey(key("b", "another", in: there), answering: nil) == .created)
            #expect(try await faces.deleteFaceKey(.amity, name: "a", of: here) != nil)
            #expect(try await faces.deleteFaceKey(.amity, name: "a", of: here) == nil)
            #expect(try await faces.addFaceKey(key("c", "held", in: there), answering: nil) == .created)
        }
    }

    @Test func `secrets that home had before there were several are its own`() async throws {
        _ = try await scene.faces.addFaceKey(key("a", "held", in: scene.network), answering: nil)
        try await PostgresPlacementCatalog(pool: scene.pool).enter([.home, elsewhere])
        try await withFaces { faces, _ async throws in
            await #expect(throws: FaceRefusal.nameTaken) {
                try await faces.addFaceKey(key("b", "held", in: scene.otherNetwork), answering: nil)
            }
        }
    }

    @Test func `a key that is asked for again leaves no claim of what would have been its secret`() async throws {
        try await withFaces { faces, _ async throws in
            let request = IdempotentRequest.first(of: scene.network)
            let first = try await faces.addFaceKey(key("a", "first", in: scene.network), answering: request)
            let again = try await faces.addFaceKey(key("a", "second", in: scene.network), answering: request)
            #expect(first == .created && again == .repeated(answer: request.answer))
            let other = key("b", "second", in: scene.otherNetwork)
            #expect(try await faces.addFaceKey(other, answering: nil) == .created)
        }
    }

    @Test func `a name that was claimed, and whose binding nobody has stored or kept, is let go by removing it`()
        async throws
    {
        try await withFaces { faces, _ async throws in
            let names = FaceNames(pool: scene.pool)
            #expect(try await names.claim(ClaimedName(.binding, of: .matrix, "app"), for: scene.otherNetwork) == .made)
            let binding = FaceBinding(.matrix, "app", of: scene.network)
            await #expect(throws: FaceRefusal.nameTaken) { try await faces.putFaceBinding(binding, claiming: true) }
            #expect(try await faces.deleteFaceBinding(.matrix, externalID: "app", of: scene.otherNetwork) == false)
            #expect(try await faces.putFaceBinding(binding, claiming: true))
        }
    }

    @Test func `what a network has left that is elsewhere is in nobody's way`() async throws {
        try await withFaces { faces, far async throws in
            for away in ["gone", "in"] {
                try await far.execute(
                    """
                    INSERT INTO networks (network_id, created_at, away) VALUES (\(away), now(), \(away))
                    """
                )
                try await far.execute(
                    """
                    INSERT INTO faces (face, external_id, scope, network_id, settings, updated_at)
                    VALUES ('matrix', \(away), '', \(away), '{}', now())
                    """
                )
                try await far.execute(
                    """
                    INSERT INTO face_keys (network_id, face, key_name, hash, rights, label, created_at)
                    VALUES (\(away), 'amity', 'a', \(SecretHash(of: away).bytes), 'device', NULL, now())
                    """
                )
            }
            // A start where it was at home claims nothing for it.
            _ = try await PostgresPlacementCatalog(pool: far).enter([.home])
            #expect(try await far.query("SELECT name FROM face_names WHERE network_id = 'gone'") { _ in 1 }.isEmpty)
            let network = scene.otherNetwork
            #expect(try await faces.putFaceBinding(FaceBinding(.matrix, "gone", of: network), claiming: true))
            #expect(try await faces.addFaceKey(key("b", "gone", in: network), answering: nil) == .created)
            // One that arrives is as good as here.
            await #expect(throws: FaceRefusal.nameTaken) {
                try await faces.putFaceBinding(FaceBinding(.matrix, "in", of: network), claiming: true)
            }
            await #expect(throws: FaceRefusal.nameTaken) {
                try await faces.addFaceKey(key("c", "in", in: network), answering: nil)
            }
        }
    }

    @Test func `a name that is made private is anybody's`() async throws {
        try await withFaces { faces, _ async throws in
            func bind(_ network: NetworkID, isPrivate: Bool = false) async throws -> Bool {
                let binding = FaceBinding(.matrix, "app", of: network, isPrivate: isPrivate)
                return try await faces.putFaceBinding(binding, claiming: true)
            }
            #expect(try await bind(scene.network))
            await #expect(throws: FaceRefusal.nameTaken) { try await bind(scene.otherNetwork) }
            #expect(try await bind(scene.network, isPrivate: true) == false)
            #expect(try await bind(scene.otherNetwork))
            await #expect(throws: FaceRefusal.nameTaken) { try await bind(scene.network) }
            #expect(try await bind(scene.network, isPrivate: true) == false, "and lets others keep theirs")
            await #expect(throws: FaceRefusal.nameTaken) { try await bind(scene.network) }
        }
    }

    @Test func `names are not said to be nobody's while a placement's port is closed`() async throws {
        _ = try await scene.faces.putFaceBinding(FaceBinding(.matrix, "app"), claiming: true)
        let closed = try PostgresConfiguration(url: "host=127.0.0.1 port=1 dbname=carillon")
        try await PostgresPool.withPool(configuration: closed, logger: TestDatabase.logger) { pool in
            let away = try StoreScene(pool: pool).faceList
            let index = PlacedFaceIndex(
                [(PlacementName.home, scene.faceList), (elsewhere, away)].map { name, faces in
                    PlacedFaceIndex.Source(name, FaceCache(store: faces, logger: TestDatabase.logger))
                }
            )
            let lookup = await index.lookup()
            #expect(try lookup.binding(.matrix, "app")?.networkID == scene.network)
            let problem = PlacementProblem.unavailable(elsewhere, reason: "it does not answer")
            #expect(throws: problem) { try lookup.binding(.matrix, "unknown") }
            #expect(throws: problem) { try lookup.key(.amity, secret: "unknown") }
        }
    }
}
