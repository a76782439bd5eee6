import CarillonCore
import CarillonTesting
import Testing

/// What ``AccountStore`` promises of what creates, and of what must not be the last.
@Suite(.stores) struct CreationTests {
    let scene = StoreScene.here

    @Test func `what is asked for again is answered as before and done once`() async throws {
        let accounts = scene.accounts
        let network = NetworkCredentials.sample("new", name: "New")
        let request = IdempotentRequest.sample("k", in: nil, answer: "first")
        #expect(try await accounts.createNetwork(network, answering: request) == .created)
        var again = request
        again.answer = Array("second".utf8)
        #expect(try await accounts.createNetwork(network, answering: again) == .repeated(answer: request.answer))
        let keyRequest = IdempotentRequest.sample("k", in: scene.network, answer: "key")
        for (name, expected) in [("k1", Creation.created), ("k2", .repeated(answer: keyRequest.answer))] {
            #expect(try await accounts.addAPIKey(.admin(name, of: scene.network), answering: keyRequest) == expected)
        }
        #expect(try await accounts.apiKeys(of: scene.network, after: nil, limit: 9).map(\.id) == ["k1"])
        let elsewhere = IdempotentRequest.sample("k", in: scene.otherNetwork, answer: "other")
        #expect(try await accounts.addAPIKey(.admin("k", of: scene.otherNetwork), answering: elsewhere) == .created)
        let (first, second) = (WebhookSecret.generate(), WebhookSecret.generate())
        let rotation = IdempotentRequest.sample("r", in: scene.network, answer: "rotated")
        for (secret, expected) in [(first, Creation.created), (second, .repeated(answer: rotation.answer))] {
            let creation = try await accounts.rotateWebhookSecret(
                .incoming,
                of: scene.network,
                to: secret,
                overlap: .zero,
                answering: rotation
            )
            #expect(creation == expected)
        }
        #expect(try await accounts.credentials(of: scene.network)?.webhookSecrets.map(\.secret) == [first])
    }

    @Test func `the same key with another body is refused`() async throws {
        let request = IdempotentRequest.sample("k", in: scene.network, answer: "a")
        _ = try await scene.accounts.addAPIKey(.admin("k1", of: scene.network), answering: request)
        var other = request
        other.bodyHash = [9]
        await #expect(throws: IdempotentRequest.Failure.differentBody) {
            try await scene.accounts.addAPIKey(.admin("k2", of: scene.network), answering: other)
        }
        #expect(try await scene.accounts.apiKeys(of: scene.network, after: nil, limit: 9).count == 1)
    }

    @Test func `of many that ask for the same at once all get one answer`() async throws {
        let answers = try await inParallel(8) { number -> [UInt8] in
            let request = IdempotentRequest.sample("k", in: scene.network, answer: "\(number)")
            let key = StoredAPIKey.admin("k\(number)", of: scene.network)
            switch try await scene.accounts.addAPIKey(key, answering: request) {
            case .created: return request.answer
            case .repeated(let answer): return answer
            case .refused, .beingDeleted: return []
            }
        }
        #expect(Set(answers).count == 1)
        #expect(try await scene.accounts.apiKeys(of: scene.network, after: nil, limit: 9).count == 1)
    }

    @Test func `a request that is refused is not remembered`() async throws {
        let taken = NetworkCredentials.sample(scene.network, name: "Taken")
        let request = IdempotentRequest.sample("k", in: nil, answer: "a")
        #expect(try await scene.accounts.createNetwork(taken, answering: request) == .refused)
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        #expect(try await scene.accounts.createNetwork(taken, answering: request) == .created)
    }

    @Test func `a network remembers a bounded number of requests`() async throws {
        let limit = IdempotentRequest.maximumPerNetwork
        func rotate(_ number: Int, in network: NetworkID) async throws -> Creation {
            let request = IdempotentRequest.sample("k\(number)", in: network, answer: "a")
            return try await scene.accounts.rotateWebhookSecret(
                .incoming,
                of: network,
                to: .generate(),
                overlap: .zero,
                answering: request
            )
        }
        for number in 0..<limit { #expect(try await rotate(number, in: scene.network) == .created) }
        await #expect(throws: IdempotentRequest.Failure.tooMany) { try await rotate(limit, in: scene.network) }
        #expect(try await rotate(0, in: scene.network) == .repeated(answer: Array("a".utf8)))
        #expect(try await rotate(limit, in: scene.otherNetwork) == .created)
    }

    @Test func `of two last admin keys that go at once one stays`() async throws {
        for name in ["k1", "k2"] { try await scene.accounts.addAPIKey(.admin(name, of: scene.network)) }
        let removals = try await inParallel(2) { number in
            try await scene.accounts.deleteAPIKey("k\(number + 1)", of: scene.network, force: false)
        }
        #expect(removals.filter { $0 == .removed }.count == 1)
        #expect(removals.filter { $0 == .lastAdmin }.count == 1)
        #expect(try await scene.accounts.apiKeys(of: scene.network, after: nil, limit: 9).count == 1)
    }

    @Test func `the last admin key goes by force`() async throws {
        try await scene.accounts.addAPIKey(.admin("k1", of: scene.network))
        try await scene.accounts.addAPIKey(.admin("k2", of: scene.network, role: .events))
        #expect(try await scene.accounts.deleteAPIKey("k1", of: scene.network, force: false) == .lastAdmin)
        #expect(try await scene.accounts.deleteAPIKey("k2", of: scene.network, force: false) == .removed)
        #expect(try await scene.accounts.deleteAPIKey("k1", of: scene.network, force: true) == .removed)
        #expect(try await scene.accounts.apiKeys(of: scene.network, after: nil, limit: 9).isEmpty)
    }

    @Test func `after five rotations six secrets verify, and a sixth ends the oldest`() async throws {
        let secrets = (0..<7).map { _ in WebhookSecret.generate() }
        for secret in secrets.prefix(6) {
            try await scene.accounts.rotateWebhookSecret(of: scene.network, to: secret, overlap: .seconds(1000))
        }
        let six = try await scene.accounts.credentials(of: scene.network)?.webhookSecrets.map(\.secret)
        #expect(six == Array(secrets.prefix(6).reversed()))
        try await scene.accounts.rotateWebhookSecret(of: scene.network, to: secrets[6], overlap: .seconds(1000))
        let later = try await scene.accounts.credentials(of: scene.network)?.webhookSecrets.map(\.secret)
        #expect(later == Array(secrets.suffix(6).reversed()))
    }

    @Test func `outgoing secrets are as many as sign`() async throws {
        let limit = WebhookSignature.maximumSignedSecretCount
        let secrets = (0...limit).map { _ in WebhookSecret.generate() }
        for secret in secrets {
            try await scene.accounts.rotateOutgoingWebhookSecret(of: scene.network, to: secret, overlap: .seconds(1000))
        }
        let stored = try await scene.accounts.outgoingWebhookSecrets(of: scene.network, candidate: .generate())
        #expect(stored == Array(secrets.suffix(limit).reversed()))
    }

    @Test func `keys of user tokens are added and removed one by one, and bounded`() async throws {
        let accounts = scene.accounts
        let keys = (0..<StoredUserTokenKey.maximumCount).map { number in
            StoredUserTokenKey(id: scene.ids.next(), key: .hs256(Secret("secret \(number)")))
        }
        for key in keys {
            #expect(try await accounts.addUserTokenKey(key, of: scene.network, answering: nil) == .created)
        }
        let more = StoredUserTokenKey(id: scene.ids.next(), key: .hs256(Secret("more")))
        #expect(try await accounts.addUserTokenKey(more, of: scene.network, answering: nil) == .refused)
        #expect(try await accounts.userTokenKeys(of: scene.network) == keys)
        #expect(try await accounts.credentials(of: scene.network)?.userTokenKeys == keys.map(\.key))
        #expect(try await accounts.deleteUserTokenKey(keys[0].id, of: scene.otherNetwork) == false)
        #expect(try await accounts.deleteUserTokenKey(keys[0].id, of: scene.network))
        #expect(try await accounts.deleteUserTokenKey(keys[0].id, of: scene.network) == false)
        #expect(try await accounts.addUserTokenKey(more, of: scene.network, answering: nil) == .created)
        #expect(try await accounts.userTokenKeys(of: scene.network) == Array(keys.dropFirst()) + [more])
    }

    @Test func `a network keeps how long its users' tokens may live`() async throws {
        for seconds: Int64 in [600, 31_536_000, 86_400] {
            let changed = try await scene.accounts.updateNetwork(scene.network) { network in
                var network = network
                network.userTokenMaxLifetime = .seconds(seconds)
                return network
            }
            #expect(changed?.userTokenMaxLifetime == .seconds(seconds))
            let stored = try await scene.accounts.credentials(of: scene.network)
            #expect(stored?.network.userTokenMaxLifetime == .seconds(seconds))
        }
    }
}

extension IdempotentRequest {
    fileprivate static func sample(_ key: String, in network: NetworkID?, answer: String) -> IdempotentRequest {
        IdempotentRequest(networkID: network, keyHash: Array(key.utf8), bodyHash: [1], answer: Array(answer.utf8))
    }
}

extension StoredAPIKey {
    fileprivate static func admin(_ id: String, of network: NetworkID, role: APIKeyRole = .admin) -> StoredAPIKey {
        let key = APIKey(id: id, networkID: network, role: role, label: nil, createdAt: .seconds(0))
        return StoredAPIKey(key: key, secretHash: SecretHash(bytes: [1]))
    }
}
