import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

@Suite(.ably) struct AblySubscriptionTests {
    private let ably: AblyService = lent()
    private static let path = "/push/channelSubscriptions"

    /// A device with the secret `s1`, of Alice's unless somebody else registers it, and what proves it.
    private static func register(
        _ id: String = "d1",
        as caller: String = AblyService.app(),
        in ably: AblyService
    ) async throws -> String {
        let body = """
            {"id":"\(id)","platform":"android","formFactor":"phone","deviceSecret":"s1",
            "push":{"recipient":{"transportType":"fcm","registrationToken":"of-\(id)"}}}
            """
        let answer = try await ably.call(.post, "/push/deviceRegistrations", body, as: caller)
        return try #require(answer.string("deviceIdentityToken", "token"))
    }

    private static func body(_ channel: String, _ key: String, _ id: String) -> String {
        JSONValue.object(["channel": .string(channel), key: .string(id)]).serializedText
    }

    @Test func `a device and a client subscribe themselves, and end it`() async throws {
        let token = try await Self.register(in: ably)
        let proof = ["x-ably-devicetoken": token]
        let app = AblyService.app()
        let device = Self.body("open:a b", "deviceId", "d1")
        let first = try await ably.call(.post, Self.path, device, as: app, headers: proof)
        #expect(first.status == 201 && first.json == ["channel": "open:a b", "deviceId": "d1"])
        #expect(try await ably.call(.post, Self.path, device, as: app, headers: proof).status == 200)
        let client = try await ably.call(.post, Self.path, Self.body("open:a b", "clientId", "alice"), as: app)
        #expect(client.status == 201 && client.json == ["channel": "open:a b", "clientId": "alice"])
        let subscribers = try await ably.store.tags.subscribers(of: "open:a b", in: "acme", after: nil, limit: 9)
        #expect(subscribers == [.device("d1"), .user("alice")])
        let own = try await ably.call(.get, Self.path + "?channel=open:a+b&concatFilters=true", as: app)
        #expect(own.json == [["channel": "open:a b", "clientId": "alice"]])
        let all = try await ably.call(
            .get,
            Self.path + "?deviceId=d1&client_id=alice&concat_filters=true",
            as: app,
            headers: proof
        )
        #expect(all["0", "deviceId"] == "d1" && all["1", "clientId"] == "alice")
        #expect(try await ably.call(.get, Self.path + "?deviceId=d1", as: token)["0", "deviceId"] == "d1")
        for query in ["?channel=open:a%20b&deviceId=d1", "?clientId=alice"] {
            for _ in 1...2 {
                #expect(try await ably.call(.delete, Self.path + query, as: app, headers: proof).status == 204)
            }
        }
        #expect(try await ably.store.tags.subscribedTags(in: "acme", after: nil, limit: 9).isEmpty)
    }

    @Test func `a device's own token is good for the channels of whoever was given it`() async throws {
        let rooms = AblyService.token("app1.app", capability: ["open:rooms:*": ["push-subscribe"]])
        let limited = try await Self.register(as: rooms, in: ably)
        func subscribe(_ device: String, to channel: String, as token: String) async throws -> [Int] {
            try await ably.call(.post, Self.path, Self.body(channel, "deviceId", device), as: token).error
        }
        #expect(try await subscribe("d1", to: "open:rooms:1", as: limited) == [201])
        #expect(try await subscribe("d1", to: "open:secret", as: limited) == [401, 40160])
        let reset = try await ably.call(.post, "/push/deviceRegistrations/d1/resetUpdateToken", as: limited)
        let renewed = try #require(reset.string("updateToken"))
        #expect(try await subscribe("d1", to: "open:secret", as: renewed) == [401, 40160])
        let administrators = try await Self.register("d2", as: AblyService.token(), in: ably)
        #expect(try await subscribe("d2", to: "open:secret", as: administrators) == [201])
        // Those of former releases say nothing of channels.
        var claims = try #require(AblyToken(limited)).signed.claims
        claims["x-ably-capability"] = nil
        let secret = ably.stage.services.faceSecret
        let former = AblyToken.make(keyName: "app1", claims: claims) { secret.sign($0, for: .ably) }
        #expect(try await subscribe("d1", to: "open:secret", as: former) == [201])
    }

    @Test func `what a device subscribes to is its own that a header proves, whoever has no client`() async throws {
        let app = AblyService.app(nil)
        let proof = ["x-ably-devicetoken": try await Self.register(as: app, in: ably)]
        let body = Self.body("open:a", "deviceId", "d1")
        #expect(try await ably.call(.post, Self.path, body, as: app, headers: proof).status == 201)
        let own = try await ably.call(.get, Self.path, as: app, headers: proof)
        #expect(own.json == [["channel": "open:a", "deviceId": "d1"]])
        #expect(try await ably.call(.get, Self.path, as: app).json == [])
        let other = ["x-ably-devicetoken": try await Self.register("d2", as: app, in: ably)]
        #expect(try await ably.call(.get, Self.path, as: app, headers: other).json == [])
        let alices = try await ably.call(
            .get,
            Self.path,
            as: AblyService.app(),
            headers: ["x-ably-devicetoken": "x.y.z"]
        )
        #expect(alices.json == [])
    }

    @Test func `all leave a channel at once, and its tag stays declared`() async throws {
        _ = try await ably.store.tags.putTag(Tag(id: "open:all", description: "All"), in: "acme")
        for client in ["alice", "bob"] {
            _ = try await ably.call(.post, Self.path, Self.body("open:all", "clientId", client))
        }
        for _ in 1...2 { #expect(try await ably.call(.delete, Self.path + "?channel=open:all").status == 204) }
        #expect(try await ably.call(.get, Self.path + "?channel=open:all").json == [])
        #expect(try await ably.store.tags.tag("open:all", in: "acme")?.description == "All")
        let again = Self.body("open:all", "clientId", "bob")
        #expect(try await ably.call(.post, Self.path, again).status == 201)
        #expect(try await ably.call(.get, Self.path + "?channel=open:all")["0", "clientId"] == "bob")
    }

    @Test func `a device that was imported keeps its topics when its client changes`() async throws {
        let device = Device("d1", of: "alice", .fcm(token: "t1", appID: "com.acme.chat"), at: FaceStage.now)
        _ = try await ably.store.devices.putDevice(device, in: "acme")
        _ = try await ably.call(.post, Self.path, Self.body("open:a", "deviceId", "d1"))
        let moved = try await ably.call(.patch, "/push/deviceRegistrations/d1", #"{"clientId":"bob"}"#)
        #expect(moved.string("clientId") == "bob")
        let left = try await ably.call(.get, Self.path + "?deviceId=d1")
        #expect(left.json == [["channel": "open:a", "deviceId": "d1"]])
    }

    @Test func `nobody subscribes others, or where push is off`() async throws {
        _ = try await Self.register(in: ably)
        let app = AblyService.app()
        let rooms = AblyService.token("app1.rooms")
        let cases: [(body: String, caller: String, error: [Int])] = [
            (Self.body("open:a", "deviceId", "d1"), app, [401, 40160]),
            (Self.body("open:a", "clientId", "bob"), app, [401, 40160]),
            (Self.body("else", "clientId", "alice"), app, [401, 40160]),
            (Self.body("open:a", "clientId", "bob"), rooms, [401, 40160]),
            (Self.body("else", "clientId", "alice"), AblyService.token(), [401, 40160]),
            (Self.body("open:a", "deviceId", "none"), AblyService.token(), [404, 40400]),
            (#"{"channel":"open:a"}"#, AblyService.token(), [400, 40000]),
            (#"{"channel":"open:a","clientId":"a","deviceId":"d1"}"#, AblyService.token(), [400, 40000]),
            (#"{"clientId":"a"}"#, AblyService.token(), [400, 40010]),
            (Self.body("[meta]log:push", "clientId", "a"), AblyService.token(), [400, 40010]),
            (Self.body("", "clientId", "a"), AblyService.token(), [400, 40010]),
            (#"{"channel":5,"clientId":"a"}"#, AblyService.token(), [400, 40001]),
            (Self.body("open:a", "clientId", "me"), AblyService.token(), [400, 40012]),
        ]
        for (body, caller, error) in cases {
            #expect(try await ably.call(.post, Self.path, body, as: caller).error == error, "\(body)")
        }
        #expect(try await ably.store.tags.subscribedTags(in: "acme", after: nil, limit: 9).isEmpty)
        let room = Self.body("open:rooms:1", "clientId", "bob")
        #expect(try await ably.call(.post, Self.path, room, as: rooms).status == 201)
    }

    @Test func `lists show all of it to administrators, in pages, and what matches their channels`() async throws {
        for channel in ["open:a", "open:rooms:1", "open:rooms:2"] {
            for client in ["alice", "bob"] {
                let body = Self.body(channel, "clientId", client)
                _ = try await ably.call(.post, Self.path, body)
            }
        }
        let first = try await ably.call(.get, Self.path + "?limit=4")
        #expect(first["3", "clientId"] == "bob" && first["4"] == nil)
        let next = try #require(first.headers[values: .link].first { $0.hasSuffix(#"rel="next""#) })
        let rest = try await ably.call(.get, "/push/" + next.dropFirst(3).prefix { $0 != ">" })
        #expect(rest["0", "channel"] == "open:rooms:2" && rest["2"] == nil)
        #expect(!rest.headers[values: .link].contains { $0.hasSuffix(#"rel="next""#) })
        #expect(try await ably.call(.get, "/push/channels").json == ["open:a", "open:rooms:1", "open:rooms:2"])
        let rooms = AblyService.token("app1.rooms")
        #expect(try await ably.call(.get, "/push/channels", as: rooms).json == ["open:rooms:1", "open:rooms:2"])
        #expect(try await ably.call(.get, "/push/channels", as: AblyService.app()).error == [401, 40160])
        let both = try await ably.call(.get, Self.path + "?deviceId=d&clientId=alice")
        #expect(both.error == [400, 40003])
        #expect(try await ably.call(.delete, Self.path + "?channel=open:rooms:2", as: rooms).status == 204)
        #expect(try await ably.call(.get, "/push/channels").json == ["open:a", "open:rooms:1"])
        // Of all of Bob's those on their own channels.
        #expect(try await ably.call(.delete, Self.path + "?clientId=bob", as: rooms).status == 204)
        let left = try await ably.call(.get, Self.path + "?clientId=bob")
        #expect(left.json == [["channel": "open:a", "clientId": "bob"]])
    }

    @Test(arguments: [
        "", "?foo=1", "?clientid=alice", "?channel=open:a&user=alice", "?deviceId=d&clientId=alice", "?appId=app1",
        "?appId=app2&clientId=alice", "?clientId=alice&client_id=alice",
    ])
    func `a DELETE whose filter is not understood ends nothing`(query: String) async throws {
        _ = try await ably.call(.post, Self.path, Self.body("open:a", "clientId", "alice"))
        #expect(try await ably.call(.delete, Self.path + query).error == [400, 40003])
        #expect(try await ably.store.tags.subscribedTags(in: "acme", after: nil, limit: 9) == ["open:a"])
        #expect(try await ably.call(.delete, Self.path + "?channel=open:a&clientId=alice&appId=app1").status == 204)
        #expect(try await ably.store.tags.subscribedTags(in: "acme", after: nil, limit: 9).isEmpty)
    }

    @Test func `an app subscribes to no more than a user may, and a device keeps its topics when its client changes`()
        async throws
    {
        var limits = NetworkLimits()
        limits.tagsPerSubscriber = 1
        try await withAbly(limits: limits) { (ably: AblyService) async throws in
            let token = try await Self.register(in: ably)
            for (channel, status) in [("open:a", 201), ("open:b", 400), ("open:a", 200)] {
                let answer = try await ably.call(.post, Self.path, Self.body(channel, "deviceId", "d1"), as: token)
                #expect(answer.status == status)
            }
            let moved = try await ably.call(.patch, "/push/deviceRegistrations/d1", #"{"clientId":"bob"}"#)
            #expect(moved.string("clientId") == "bob")
            let left = try await ably.call(.get, Self.path + "?deviceId=d1")
            #expect(left.json == [["channel": "open:a", "deviceId": "d1"]])
        }
    }
}
