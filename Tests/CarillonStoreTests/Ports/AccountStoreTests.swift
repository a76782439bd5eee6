import CarillonCore
import CarillonTesting
import Testing

/// What ``AccountStore`` promises.
@Suite(.stores) struct AccountStoreTests {
    let scene = StoreScene.here

    @Test func `an id that is taken is refused and changes nothing`() async throws {
        #expect(try await scene.accounts.createNetwork(.sample("new", name: "First")))
        #expect(try await scene.accounts.createNetwork(.sample("new", name: "Second")) == false)
        let stored = try #require(try await scene.accounts.credentials(of: "new"))
        #expect(stored.network.displayName == "First")
        #expect(stored.apiKeys.count == 1)
        #expect(stored.webhookSecrets.count == 1)
    }

    @Test func `what was made is read back`() async throws {
        let made = NetworkCredentials.sample("new", name: "New")
        #expect(try await scene.accounts.createNetwork(made))
        let stored = try #require(try await scene.accounts.credentials(of: "new"))
        #expect(stored.network == made.network)
        #expect(stored.webhookSecrets == made.webhookSecrets)
        #expect(stored.userTokenKeys == made.userTokenKeys)
        #expect(stored.apiKeys == made.apiKeys)
        let unknown = try await scene.accounts.credentials(of: "none")
        #expect(unknown == nil)
    }

    @Test func `a network has a bounded number of API keys`() async throws {
        var made = NetworkCredentials.sample("new", name: "New")
        made.apiKeys = (1..<APIKey.maximumCount).map { .sample("k\($0)", of: "new") }
        #expect(try await scene.accounts.createNetwork(made))
        let answers = try await inParallel(4) { number in
            try await scene.accounts.addAPIKey(.sample("more\(number)", of: "new"), answering: nil)
        }
        #expect(answers.filter { $0 == .created }.count == 1)
        #expect(answers.filter { $0 == .refused }.count == 3)
        #expect(try await scene.accounts.credentials(of: "new")?.apiKeys.count == APIKey.maximumCount)
        #expect(try await scene.accounts.deleteAPIKey("k1", of: "new", force: false) == .removed)
        let other = StoredAPIKey.sample("other", of: "new")
        #expect(try await scene.accounts.addAPIKey(other, answering: nil) == .created)
        #expect(try await scene.accounts.addAPIKey(.sample("k", of: scene.network), answering: nil) == .created)
    }

    @Test func `it is known which API keys there are`() async throws {
        let made = NetworkCredentials.sample("new", name: "New")
        #expect(try await scene.accounts.createNetwork(made))
        let key = try #require(made.apiKeys.first?.key)
        let present = APIKeyName(networkID: key.networkID, id: key.id)
        let absent = [
            APIKeyName(networkID: "new", id: "another"), APIKeyName(networkID: scene.network, id: key.id),
            APIKeyName(networkID: "nobody", id: key.id),
        ]
        #expect(try await scene.accounts.existingAPIKeys(Set([present] + absent)) == [present])
        #expect(try await scene.accounts.existingAPIKeys([]).isEmpty)
        #expect(try await scene.accounts.deleteAPIKey(key.id, of: key.networkID, force: true) == .removed)
        #expect(try await scene.accounts.existingAPIKeys([present]).isEmpty)
    }

    @Test func `networks are listed in pages by id`() async throws {
        for id in ["n3", "n1", "n2"] {
            #expect(try await scene.accounts.createNetwork(.sample(NetworkID(trusted: id), name: id)))
        }
        let first = try await scene.accounts.networks(after: scene.network, limit: 2).networks.map(\.id)
        #expect(first == ["n1", "n2"])
        let rest = try await scene.accounts.networks(after: "n2", limit: 10).networks.map(\.id)
        #expect(rest == ["n3", scene.otherNetwork])
    }

    @Test func `an unknown network can be neither changed nor deleted`() async throws {
        #expect(try await scene.accounts.network("none") == nil)
        #expect(try await scene.accounts.updateNetwork("none") { $0 } == nil)
        #expect(try await scene.accounts.deleteNetwork("none") == false)
        let secret = WebhookSecret.generate()
        await #expect(throws: (any Error).self) {
            try await scene.accounts.rotateWebhookSecret(of: "none", to: secret, overlap: .zero)
        }
    }

    @Test func `a changed network keeps when it was made`() async throws {
        #expect(try await scene.accounts.createNetwork(.sample("new", name: "Old")))
        let changed = try await scene.accounts.updateNetwork("new") { network in
            var network = network
            network.displayName = nil
            network.defaultLocale = "th"
            network.deviceRegistration = .appKey
            network.webPushHosts = WebPushHosts(["default", "*.example.org"])
            network.introspection = UserTokenIntrospection(
                url: "https://chat.example/me",
                userIDPointer: "/userId",
                cacheTime: 60
            )
            network.limits.templates = 7
            network.limits.eventsPerSecond = 8
            network.limits.requestsPerSecond.user = 9
            return network
        }
        #expect(changed?.limits.templates == 7)
        #expect(changed?.createdAt == .seconds(0))
        #expect(try await scene.accounts.network("new") == changed)
        #expect(try await scene.accounts.credentials(of: "new")?.network == changed)
        let listed = try await scene.accounts.networks(after: nil, limit: 100).networks
        #expect(listed.contains { $0 == changed })
    }

    @Test func `changes of one network at once are all kept`() async throws {
        _ = try await inParallel(20) { _ in
            try await scene.accounts.updateNetwork(scene.network) { network in
                var network = network
                network.limits.devicesPerUser += 1
                return network
            }
        }
        #expect(try await scene.accounts.network(scene.network)?.limits.devicesPerUser == 70)
    }

    @Test func `a change of a network that throws writes nothing`() async throws {
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await scene.accounts.updateNetwork(scene.network) { _ in throw Refused() }
        }
        #expect(try await scene.accounts.network(scene.network)?.limits == NetworkLimits())
    }

    @Test func `a deleted network leaves nothing, not even to one of the same name`() async throws {
        let event = Event.created("c", by: "a", members: ["b"], id: "evt")
        try await scene.accept(event)
        try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
        _ = try await scene.toggles.set(.network, ["enabled": false], in: scene.network)
        let kept = scene.incoming(event, in: scene.otherNetwork)
        _ = try await scene.inbox.accept([kept])
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        #expect(try await scene.accounts.deleteNetwork(scene.network) == false)
        #expect(try await scene.accounts.createNetwork(.sample(scene.network, name: "Again")))
        #expect(try await scene.directory.user("b", in: scene.network) == nil)
        #expect(try await scene.members(of: "c") == nil)
        #expect(try await scene.devices.device("d", in: scene.network) == nil)
        #expect(try await scene.toggles.toggles(.network, in: scene.network).version == 0)
        #expect(try await scene.history.events(in: scene.network, before: nil, limit: 10).isEmpty)
        #expect(try await scene.claim().isEmpty)
        #expect(try await scene.accept(event).count == 1)
        #expect(try await scene.directory.user("b", in: scene.otherNetwork) != nil)
    }

    @Test func `API keys are listed without their secrets, and revoked`() async throws {
        for id in ["k2", "k1"] { try await scene.accounts.addAPIKey(.sample(id, of: scene.network)) }
        #expect(try await scene.accounts.apiKeys(of: scene.network, after: nil, limit: 1).map(\.id) == ["k1"])
        #expect(try await scene.accounts.apiKeys(of: scene.network, after: "k1", limit: 9).map(\.id) == ["k2"])
        #expect(try await scene.accounts.deleteAPIKey("k1", of: scene.otherNetwork, force: false) == .unknown)
        #expect(try await scene.accounts.deleteAPIKey("k1", of: scene.network, force: false) == .removed)
        #expect(try await scene.accounts.deleteAPIKey("k1", of: scene.network, force: true) == .unknown)
        #expect(try await scene.accounts.credentials(of: scene.network)?.apiKeys.map(\.key.id) == ["k2"])
    }

    @Test func `after a rotation both secrets verify until the overlap ends`() async throws {
        let (first, second, third) = (WebhookSecret.generate(), WebhookSecret.generate(), WebhookSecret.generate())
        try await scene.accounts.rotateWebhookSecret(of: scene.network, to: first, overlap: .zero)
        try await scene.accounts.rotateWebhookSecret(of: scene.network, to: second, overlap: .seconds(100))
        let records = try #require(try await scene.accounts.credentials(of: scene.network)).webhookSecrets
        #expect(records.map(\.secret) == [second, first])
        #expect(records.first?.expiresAt == nil)
        let end = try #require(records.last?.expiresAt)
        #expect(end > WallClock.system.now() + .seconds(90))
        try await scene.accounts.rotateWebhookSecret(of: scene.network, to: third, overlap: .zero)
        let last = try #require(try await scene.accounts.credentials(of: scene.network)).webhookSecrets
        #expect(last.map(\.secret) == [third])
    }

    @Test func `the keys of user tokens are replaced as a whole`() async throws {
        let pem = "-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----"
        let keys = [UserTokenKey.es256(publicKey: pem), .rs256(publicKey: pem)].map {
            StoredUserTokenKey(id: scene.ids.next(), key: $0)
        }
        let former = StoredUserTokenKey(id: scene.ids.next(), key: .hs256(Secret("secret")))
        try await scene.accounts.setUserTokenKeys([former], of: scene.network)
        try await scene.accounts.setUserTokenKeys(keys, of: scene.network)
        #expect(try await scene.accounts.credentials(of: scene.network)?.userTokenKeys == keys.map(\.key))
        #expect(try await scene.accounts.userTokenKeys(of: scene.network) == keys)
    }

    @Test func `of several first uses of the outgoing secret one wins`() async throws {
        let answers = try await inParallel(8) { _ in
            try await scene.accounts.outgoingWebhookSecrets(of: scene.network, candidate: .generate())
        }
        #expect(answers.allSatisfy { $0.count == 1 && $0 == answers[0] })
        let next = WebhookSecret.generate()
        try await scene.accounts.rotateOutgoingWebhookSecret(of: scene.network, to: next, overlap: .seconds(100))
        let secrets = try await scene.accounts.outgoingWebhookSecrets(of: scene.network, candidate: .generate())
        #expect(secrets == [next] + answers[0])
        #expect(try await scene.accounts.credentials(of: scene.network)?.webhookSecrets == [])
    }
}

extension NetworkCredentials {
    /// Credentials of every kind.
    static func sample(_ id: NetworkID, name: String) -> NetworkCredentials {
        NetworkCredentials(
            network: Network(id: id, displayName: name, createdAt: .seconds(0)),
            webhookSecrets: [WebhookSecretRecord(secret: .generate())],
            userTokenKeys: [.hs256(Secret("a secret of thirty-two characters"))],
            apiKeys: [.sample("key", of: id)]
        )
    }
}

extension StoredAPIKey {
    fileprivate static func sample(_ id: String, of network: NetworkID) -> StoredAPIKey {
        let key = APIKey(id: id, networkID: network, role: .events, label: "label", createdAt: .seconds(0))
        return StoredAPIKey(key: key, secretHash: SecretHash(bytes: [0, 1, 255]))
    }
}
