import CarillonCore
import CarillonTesting
import Testing

/// What ``FaceStore`` promises.
@Suite(.stores) struct FaceStoreTests {
    let scene = StoreScene.here

    @Test func `what messages said is told for seven days, of the latest`() async throws {
        let now = WallClock.system.now()
        func event(_ age: Duration, _ number: Int = 0) -> EventID {
            EventID(UUIDv7Generator(clock: WallClock { now - age - .milliseconds(number) }).next())
        }
        let (new, old) = (event(FaceTexts.retention - .seconds(600)), event(FaceTexts.retention + .seconds(600)))
        try await scene.faces.keepTexts([new: "new", old: "old"], of: scene.network)
        try await scene.faces.keepTexts([:], of: scene.network)
        #expect(try await scene.faces.text(of: new, in: scene.network) == "new")
        #expect(try await scene.faces.text(of: old, in: scene.network) == nil)
        #expect(try await scene.faces.text(of: new, in: scene.otherNetwork) == nil)
        let later = (0..<FaceTexts.maximumCount).map { event(.seconds(60), $0) }
        let texts = Dictionary(uniqueKeysWithValues: later.map { ($0, "later") })
        try await scene.faces.keepTexts(texts, of: scene.otherNetwork)
        #expect(try await scene.faces.text(of: new, in: scene.network) == "new", "another's are no concern of this one")
        try await scene.faces.keepTexts(texts, of: scene.network)
        #expect(try await scene.faces.text(of: new, in: scene.network) == nil)
        #expect(try await scene.faces.text(of: later[0], in: scene.network) == "later")
    }

    @Test func `a name that another network has is taken, also at the same time`() async throws {
        let answers = try await inParallel(8) { number -> Bool in
            do {
                let network = number.isMultiple(of: 2) ? scene.network : scene.otherNetwork
                return try await scene.bind("com.acme", in: network)
            } catch FaceRefusal.nameTaken {
                return false
            }
        }
        #expect(answers.count { $0 } == 1)
        let owners = try await [
            scene.faces.faceBindings(of: scene.network), scene.faces.faceBindings(of: scene.otherNetwork),
        ]
        #expect(owners.map(\.count).sorted() == [0, 1])
        let other = owners[0].isEmpty ? scene.network : scene.otherNetwork
        await #expect(throws: FaceRefusal.nameTaken) { try await scene.bind("com.acme", in: other) }
        // A private one that becomes everybody's is a claim like any other.
        #expect(try await scene.bind("com.acme", isPrivate: true, in: other))
        await #expect(throws: FaceRefusal.nameTaken) { try await scene.bind("com.acme", in: other) }
        #expect(try await scene.faces.faceBindings(of: other).map(\.isPrivate) == [true])
        #expect(try await scene.bind("com.acme", of: .ably, in: other), "another system's names are others")
    }

    @Test func `a name that anybody can name is not new without a claim`() async throws {
        await #expect(throws: FaceRefusal.notOwned) { try await scene.bind("a", claiming: false) }
        #expect(try await scene.bind("a", isPrivate: true, claiming: false))
        await #expect(throws: FaceRefusal.notOwned) { try await scene.bind("a", claiming: false) }
        #expect(try await scene.bind("a") == false)
        #expect(try await scene.bind("a", ["x": 2], claiming: false) == false)
        #expect(try await scene.faces.faceBindings(of: scene.network).map(\.settings) == [["x": 2]])
        #expect(try await scene.bind("a", isPrivate: true, claiming: false) == false)
        await #expect(throws: FaceRefusal.notOwned) { try await scene.bind("a", claiming: false) }
    }

    @Test func `a network has two hundred names of a face at the most, also at the same time`() async throws {
        let made = try await inParallel(FaceBinding.maximumCount + 3) { number -> Bool in
            do {
                return try await scene.bind("name \(number)")
            } catch FaceRefusal.tooMany {
                return false
            }
        }
        #expect(made.count { $0 } == FaceBinding.maximumCount)
        let first = try #require(try await scene.faces.faceBindings(of: scene.network).first)
        #expect(try await scene.bind(first.externalID) == false, "one that is there may be changed")
        #expect(try await scene.bind("name", of: .ably))
        #expect(try await scene.bind("name", in: scene.otherNetwork))
    }

    @Test func `a key's name and secret are taken where they must be told apart`() async throws {
        try await scene.add("one", .hash(SecretHash(bytes: [1])))
        for (name, proof, network) in [
            ("one", StoredFaceKey.Proof.hash(SecretHash(bytes: [2])), scene.network),
            ("two", .hash(SecretHash(bytes: [1])), scene.network),
            ("one", .secret(Secret("s")), scene.network), ("one", .hash(SecretHash(bytes: [1])), scene.otherNetwork),
        ] {
            await #expect(throws: FaceRefusal.nameTaken) { try await scene.add(name, proof, in: network) }
        }
        try await scene.add("one", .hash(SecretHash(bytes: [2])), in: scene.otherNetwork)
        try await scene.add("app.key", .secret(Secret("s")))
        await #expect(throws: FaceRefusal.nameTaken) {
            try await scene.add("app.key", .secret(Secret("other")), in: scene.otherNetwork)
        }
        try await scene.add("one", .hash(SecretHash(bytes: [1])), of: .amity)
        #expect(try await scene.faces.faceKeys(.matrix, of: scene.network).map(\.name) == ["app.key", "one"])
        #expect(try await scene.faces.faceKeys(.matrix, of: scene.otherNetwork).map(\.name) == ["one"])
    }

    @Test func `a network has two hundred keys of a face at the most`() async throws {
        for number in 0..<FaceKey.maximumCount {
            try await scene.add("\(number)", .hash(SecretHash(bytes: [0, UInt8(number)])))
        }
        await #expect(throws: FaceRefusal.tooMany) { try await scene.add("more", .hash(SecretHash(bytes: [1]))) }
        try await scene.add("more", .hash(SecretHash(bytes: [1])), of: .amity)
        #expect(try await scene.faces.deleteFaceKey(.matrix, name: "7", of: scene.network) != nil)
        try await scene.add("more", .hash(SecretHash(bytes: [1])))
    }

    @Test func `a key that is asked for again is made once`() async throws {
        let request = IdempotentRequest.first(of: scene.network)
        let first = scene.key("one", .hash(SecretHash(bytes: [1])))
        #expect(try await scene.faces.addFaceKey(first, answering: request) == .created)
        #expect(try await scene.faces.addFaceKey(first, answering: request) == .repeated(answer: request.answer))
        #expect(try await scene.faces.faceKeys(.matrix, of: scene.network).count == 1)
    }

    @Test func `a nonce is used once until its end`() async throws {
        let now = WallClock.system.now()
        let nonce = [UInt8](repeating: 9, count: 32)
        let used = try await inParallel(8) { _ in
            try await scene.faces.useNonce(nonce, until: now + .seconds(300), of: scene.network)
        }
        #expect(used.count { $0 } == 1)
        #expect(try await scene.faces.useNonce(nonce, until: now + .seconds(300), of: scene.otherNetwork))
        let past = [UInt8](repeating: 8, count: 32)
        #expect(try await scene.faces.useNonce(past, until: now - .seconds(60), of: scene.network))
        #expect(try await scene.faces.useNonce(past, until: now + .seconds(60), of: scene.network))
        #expect(try await scene.faces.useNonce(past, until: now + .seconds(60), of: scene.network) == false)
    }

    @Test func `a network's nonces have their share, and are not forgotten beyond it`() async throws {
        let end = WallClock.system.now() + .seconds(300)
        func nonce(_ number: Int) -> [UInt8] {
            [255, UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 255, count: 29)
        }
        for number in 0..<FaceNonces.maximumPerByte {
            #expect(try await scene.faces.useNonce(nonce(number), until: end, of: scene.network))
        }
        await #expect(throws: FaceRefusal.tooManyNonces) {
            try await scene.faces.useNonce(nonce(FaceNonces.maximumPerByte), until: end, of: scene.network)
        }
        #expect(try await scene.faces.useNonce(nonce(0), until: end, of: scene.network) == false)
        #expect(try await scene.faces.useNonce([254] + nonce(1).dropFirst(), until: end, of: scene.network))
        #expect(try await scene.faces.useNonce(nonce(0), until: end, of: scene.otherNetwork))
    }

    @Test func `a binding is read back until it is replaced or removed`() async throws {
        #expect(try await scene.bind("b", ["x": ["y": [1, "2"]]]))
        #expect(try await scene.bind("com.acme.*"))
        #expect(try await scene.bind("z", of: .ably))
        #expect(try await scene.bind("b", ["x": 2]) == false)
        let all = try await scene.faces.faceBindings(of: scene.network)
        #expect(all == [scene.binding("z", of: .ably), scene.binding("b", ["x": 2]), scene.binding("com.acme.*")])
        #expect(try await scene.faces.deleteFaceBinding(.matrix, externalID: "b", of: scene.otherNetwork) == false)
        #expect(try await scene.faces.deleteFaceBinding(.ably, externalID: "b", of: scene.network) == false)
        #expect(try await scene.faces.deleteFaceBinding(.matrix, externalID: "b", of: scene.network))
        #expect(try await scene.faces.deleteFaceBinding(.matrix, externalID: "b", of: scene.network) == false)
        #expect(try await scene.bind("b", in: scene.otherNetwork), "it is free again")
    }

    @Test func `networks may have the same name privately`() async throws {
        #expect(try await scene.bind("a", ["n": 1], isPrivate: true, claiming: false))
        #expect(try await scene.bind("a", ["n": 2], isPrivate: true, claiming: false, in: scene.otherNetwork))
        let index = FaceIndex(try #require(try await scene.faceList.faceList(unless: nil)))
        #expect(index.binding(.matrix, "a") == nil)
        #expect(index.binding(.matrix, "a", ownedBy: scene.network)?.settings == ["n": 1])
        #expect(index.binding(.matrix, "a", ownedBy: scene.otherNetwork)?.settings == ["n": 2])
    }

    @Test func `keys are listed without secrets until they are removed`() async throws {
        try await scene.add("b", .hash(SecretHash(bytes: [1])), label: "Bot", rights: ["*": ["publish"]])
        try await scene.add("a", .secret(Secret("s")))
        let keys = try await scene.faces.faceKeys(.matrix, of: scene.network)
        #expect(
            keys == [
                scene.key("a", .hash(SecretHash(bytes: []))).key,
                scene.key("b", .hash(SecretHash(bytes: [])), label: "Bot", rights: ["*": ["publish"]]).key,
            ]
        )
        #expect(try await scene.faces.faceKeys(.ably, of: scene.network).isEmpty)
        #expect(try await scene.faces.deleteFaceKey(.matrix, name: "a", of: scene.otherNetwork) == nil)
        #expect(try await scene.faces.deleteFaceKey(.matrix, name: "a", of: scene.network) == RemovedFaceKey(hash: nil))
        #expect(try await scene.faces.deleteFaceKey(.matrix, name: "a", of: scene.network) == nil)
        #expect(try await scene.faces.faceKeys(.matrix, of: scene.network).map(\.name) == ["b"])
        #expect(try await scene.faces.deleteFaceKey(.matrix, name: "b", of: scene.network) == RemovedFaceKey(hash: [1]))
    }

    @Test func `the list of all is read anew when anything has changed`() async throws {
        let store = scene.faces
        var version = try #require(try await scene.faceList.faceList(unless: nil)).version
        #expect(try await scene.faceList.faceList(unless: version) == nil)
        func changed() async throws -> FaceList {
            let list = try #require(try await scene.faceList.faceList(unless: version))
            version = list.version
            #expect(try await scene.faceList.faceList(unless: version) == nil)
            return list
        }
        _ = try await scene.bind("a")
        #expect(try await changed().bindings == [scene.binding("a")])
        _ = try await scene.bind("a", ["x": 2])
        #expect(try await changed().bindings.first?.settings == ["x": 2])
        try await scene.add("one", .secret(Secret("s")))
        #expect(try await changed().keys == [scene.key("one", .secret(Secret("s")))])
        _ = try await store.deleteFaceKey(.matrix, name: "one", of: scene.network)
        #expect(try await changed().keys.isEmpty)
        _ = try await store.deleteFaceBinding(.matrix, externalID: "a", of: scene.network)
        #expect(try await changed().bindings.isEmpty)
        _ = try await store.deleteFaceBinding(.matrix, externalID: "a", of: scene.network)
        #expect(try await scene.faceList.faceList(unless: version) == nil, "nothing was changed")
    }

    @Test func `bindings and keys go with their network`() async throws {
        let nonce = [UInt8](repeating: 1, count: 32)
        let end = WallClock.system.now() + .seconds(300)
        _ = try await scene.bind("a")
        try await scene.add("one", .hash(SecretHash(bytes: [1])))
        #expect(try await scene.faces.useNonce(nonce, until: end, of: scene.network))
        let version = try #require(try await scene.faceList.faceList(unless: nil)).version
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        let list = try #require(try await scene.faceList.faceList(unless: version))
        #expect(list.bindings.isEmpty && list.keys.isEmpty)
        #expect(try await scene.accounts.createNetwork(.sample(scene.network, name: "Again")))
        #expect(try await scene.faces.faceBindings(of: scene.network).isEmpty)
        #expect(try await scene.faces.faceKeys(.matrix, of: scene.network).isEmpty)
        #expect(try await scene.faces.useNonce(nonce, until: end, of: scene.network))
        #expect(try await scene.bind("a", in: scene.otherNetwork))
    }
}

extension StoreScene {
    fileprivate func binding(
        _ name: String,
        _ settings: JSONObject = ["x": 1],
        of face: FaceName = .matrix,
        isPrivate: Bool = false,
        in network: NetworkID? = nil
    ) -> FaceBinding {
        FaceBinding(face, name, of: network ?? self.network, isPrivate: isPrivate, settings, at: .seconds(5))
    }

    fileprivate func bind(
        _ name: String,
        _ settings: JSONObject = ["x": 1],
        of face: FaceName = .matrix,
        isPrivate: Bool = false,
        claiming: Bool = true,
        in network: NetworkID? = nil
    ) async throws -> Bool {
        let binding = binding(name, settings, of: face, isPrivate: isPrivate, in: network)
        return try await faces.putFaceBinding(binding, claiming: claiming)
    }

    fileprivate func key(
        _ name: String,
        _ proof: StoredFaceKey.Proof,
        of face: FaceName = .matrix,
        label: String? = nil,
        rights: JSONValue = ["publish"],
        in network: NetworkID? = nil
    ) -> StoredFaceKey {
        let key = FaceKey(
            face: face,
            networkID: network ?? self.network,
            name: name,
            rights: rights,
            label: label,
            createdAt: .seconds(5)
        )
        return StoredFaceKey(key: key, proof: proof)
    }

    fileprivate func add(
        _ name: String,
        _ proof: StoredFaceKey.Proof,
        of face: FaceName = .matrix,
        label: String? = nil,
        rights: JSONValue = ["publish"],
        in network: NetworkID? = nil
    ) async throws {
        _ = try await faces.addFaceKey(
            key(name, proof, of: face, label: label, rights: rights, in: network),
            answering: nil
        )
    }
}
