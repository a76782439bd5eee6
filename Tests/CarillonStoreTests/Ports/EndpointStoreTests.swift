import CarillonCore
import CarillonTesting
import Testing

/// What ``EndpointStore`` promises.
@Suite(.stores) struct EndpointStoreTests {
    let scene = StoreScene.here

    @Test func `an endpoint is read back as it was stored, and goes`() async throws {
        let observer = Endpoint.sample("e-1", description: "Bot")
        var interceptor = Endpoint.sample("e-2", .intercepting, ["message.sent"])
        interceptor.set(.disabled, reason: "http 410", at: .seconds(60))
        for endpoint in [interceptor, observer] { #expect(try await scene.add(endpoint) == .created) }
        #expect(try await scene.endpoints.endpoints(of: scene.network) == [observer, interceptor])
        #expect(try await scene.endpoints.endpoints(of: scene.otherNetwork).isEmpty)
        #expect(try await scene.endpoints.deleteEndpoint("e-1", of: scene.otherNetwork) == false)
        #expect(try await scene.endpoints.deleteEndpoint("e-1", of: scene.network))
        #expect(try await scene.endpoints.deleteEndpoint("e-1", of: scene.network) == false)
        #expect(try await scene.endpoints.endpoints(of: scene.network) == [interceptor])
    }

    @Test func `a network has sixteen endpoints at the most, also at the same time`() async throws {
        let made = try await inParallel(Endpoint.maximumCount + 4) { number -> Bool in
            do {
                return try await scene.add(.sample("e-\(number)")) == .created
            } catch EndpointRefusal.tooMany {
                return false
            }
        }
        #expect(made.count { $0 } == Endpoint.maximumCount)
        #expect(try await scene.endpoints.endpoints(of: scene.network).count == Endpoint.maximumCount)
        #expect(try await scene.add(.sample("e-1"), in: scene.otherNetwork) == .created)
        // One that is there may be changed.
        let changed = try await scene.endpoints.updateEndpoint(
            try #require(try await scene.endpoints.endpoints(of: scene.network).first?.id),
            of: scene.network
        ) { $0 }
        #expect(changed != nil)
    }

    @Test func `at most one endpoint is asked about a type, also at the same time`() async throws {
        #expect(try await scene.add(.sample("e-0", .observing, ["*"])) == .created)
        let patterns = [["message.sent"], ["message.*"], ["*"], ["member.joined", "message.sent"]]
        let made = try await inParallel(8) { number -> Bool in
            do {
                return try await scene.add(.sample("e-1\(number)", .intercepting, patterns[number % 4])) == .created
            } catch EndpointRefusal.interception(let type, let other) {
                #expect(["message.sent", "member.joined", "channel.created", "notification.direct"].contains(type))
                #expect(other.rawValue.hasPrefix("e-1"))
                return false
            }
        }
        #expect(made.count { $0 } == 1)
    }

    @Test func `a change must not conflict either, and one that throws writes nothing`() async throws {
        struct Reason: Error, Equatable {}
        _ = try await scene.add(.sample("e-1", .intercepting, ["message.sent"]))
        _ = try await scene.add(.sample("e-2", .intercepting, ["member.*"]))
        let before = try await scene.endpoints.endpoints(of: scene.network)
        await #expect(throws: EndpointRefusal.interception(type: "message.sent", by: "e-1")) {
            try await scene.endpoints.updateEndpoint("e-2", of: scene.network) { endpoint in
                var changed = endpoint
                changed.settings.events = EndpointEvents(trusted: ["*"])
                return changed
            }
        }
        await #expect(throws: Reason()) {
            try await scene.endpoints.updateEndpoint("e-2", of: scene.network) { _ in throw Reason() }
        }
        #expect(try await scene.endpoints.endpoints(of: scene.network) == before)
        let changed = try await scene.endpoints.updateEndpoint("e-1", of: scene.network) { endpoint in
            var changed = endpoint
            changed.settings = Endpoint.sample("e-1", .observing, ["user.*"]).settings
            changed.set(.disabled, reason: "why", at: .seconds(9))
            return changed
        }
        #expect(changed?.stateReason == "why")
        #expect(try await scene.endpoints.endpoints(of: scene.network).first == changed)
        let unknown = try await scene.endpoints.updateEndpoint("e-1", of: scene.otherNetwork) { $0 }
        #expect(unknown == nil)
    }

    @Test func `what is asked for again is made once`() async throws {
        let request = IdempotentRequest.first(of: scene.network)
        #expect(try await scene.add(.sample("e-1"), answering: request) == .created)
        #expect(try await scene.add(.sample("e-2"), answering: request) == .repeated(answer: request.answer))
        #expect(try await scene.endpoints.endpoints(of: scene.network).map(\.id) == ["e-1"])
    }

    @Test func `former secrets sign until their overlap ends, five at the most`() async throws {
        let first = WebhookSecret.generate()
        _ = try await scene.add(.sample("e-1"), secret: first)
        #expect(try await scene.secrets("e-1") == [first])
        var newest = [first]
        for _ in 0..<6 {
            let secret = WebhookSecret.generate()
            #expect(try await scene.rotate("e-1", to: secret, overlap: .seconds(600)) == .created)
            newest.insert(secret, at: 0)
        }
        #expect(try await scene.secrets("e-1") == Array(newest.prefix(WebhookSignature.maximumSignedSecretCount)))
        let last = WebhookSecret.generate()
        #expect(try await scene.rotate("e-1", to: last, overlap: .zero) == .created)
        #expect(try await scene.secrets("e-1") == [last])
        #expect(try await scene.rotate("e-2", to: last, overlap: .zero) == .refused)
        #expect(try await scene.secrets("e-2").isEmpty)
    }

    @Test func `the list of all is read anew when anything has changed`() async throws {
        let store = scene.endpoints
        let log = scene.endpointLog
        let empty = try #require(try await log.endpointList(unless: nil))
        #expect(empty.endpoints.isEmpty)
        #expect(try await log.endpointList(unless: empty.version) == nil)
        _ = try await scene.add(.sample("e-2"))
        _ = try await scene.add(.sample("e-1"))
        _ = try await scene.add(.sample("e-1"), in: scene.otherNetwork)
        var version = empty.version
        func changed() async throws -> EndpointList {
            let list = try #require(try await log.endpointList(unless: version))
            version = list.version
            #expect(try await log.endpointList(unless: version) == nil)
            return list
        }
        let list = try await changed()
        #expect(list.endpoints[scene.network]?.map(\.id) == ["e-1", "e-2"])
        #expect(list.endpoints[scene.otherNetwork]?.map(\.id) == ["e-1"])
        _ = try await store.updateEndpoint("e-1", of: scene.network) { endpoint in
            var changed = endpoint
            changed.set(.disabled, reason: nil, at: .seconds(5))
            return changed
        }
        #expect(try await changed().endpoints[scene.network]?.first?.state == .disabled)
        _ = try await store.deleteEndpoint("e-2", of: scene.network)
        #expect(try await changed().endpoints[scene.network]?.count == 1)
    }

    @Test func `endpoints go with their network`() async throws {
        _ = try await scene.add(.sample("e-1"))
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        #expect(try await scene.accounts.createNetwork(.sample(scene.network, name: "Again")))
        #expect(try await scene.endpoints.endpoints(of: scene.network).isEmpty)
        #expect(try await scene.secrets("e-1").isEmpty)
    }
}

extension StoreScene {
    fileprivate func add(
        _ endpoint: Endpoint,
        secret: WebhookSecret = .generate(),
        in network: NetworkID? = nil,
        answering request: IdempotentRequest? = nil
    ) async throws -> Creation {
        try await endpoints.addEndpoint(endpoint, secret: secret, of: network ?? self.network, answering: request)
    }

    fileprivate func secrets(_ id: EndpointID) async throws -> [WebhookSecret] {
        try await endpoints.endpointSecrets(of: id, in: network)
    }

    fileprivate func rotate(_ id: EndpointID, to secret: WebhookSecret, overlap: Duration) async throws -> Creation {
        try await endpoints.rotateEndpointSecret(of: id, in: network, to: secret, overlap: overlap, answering: nil)
    }
}
