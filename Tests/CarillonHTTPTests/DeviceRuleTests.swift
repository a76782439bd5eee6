import CarillonCore
import CarillonTesting
import Crypto
import HTTPTypes
import Testing

/// Who may register which devices, and who learns of them (API section 6).
@Suite(.acme) struct DeviceRuleTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static func phone(_ user: String? = nil, _ token: String = "t") -> String {
        let user = user.map { #""userId":"\#($0)","# } ?? ""
        return #"{\#(user)"provider":"fcm","token":"\#(token)","appId":"app"}"#
    }

    private static func browser(_ host: String) -> String {
        let point = Tokens.base64URL(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        return """
            {"userId":"alice","provider":"webpush","subscription":{"endpoint":"https://\(host)/x",\
            "keys":{"p256dh":"\(point)","auth":"BwcHBwcHBwcHBwcHBwcHBw"}}}
            """
    }

    @Test func `a user token registers its own user's devices only`() async throws {
        let path = network.path("devices/d")
        for user in [nil, "alice", "me"] {
            let answer = try await api.call(.put, path, Self.phone(user), as: network.token())
            #expect(answer.status < 300 && answer.string("userId") == "alice")
        }
        let other = try await api.call(.put, path, Self.phone("bob"), as: network.token())
        #expect(other.status == 403 && other.pointers == ["/userId"])
        #expect(try await api.call(.get, path, as: network.token()).status == 200)
        #expect(try await api.call(.delete, path + "?userId=bob", as: network.token()).status == 403)
        #expect(try await api.call(.delete, path, as: network.token(for: "bob")).status == 204)
        #expect(try await api.call(.get, path, as: network.token()).status == 200)
        #expect(try await api.call(.delete, path + "?userId=alice", as: network.token()).status == 204)
        #expect(try await network.call(.get, path).status == 404)
    }

    @Test(arguments: ["userid=alice", "user=alice", "%20userId=alice", "%75serId=alice", "x=y"])
    func `a condition that is mistyped removes nobody's device`(query: String) async throws {
        let path = network.path("devices/d")
        _ = try await api.call(.put, path, Self.phone("bob"), as: network.adminKey)
        let refused = try await api.call(.delete, "\(path)?\(query)", as: network.adminKey)
        #expect(refused.status == 400 && refused.text.contains("no parameter that is known"))
        #expect(try await api.call(.get, path, as: network.adminKey).status == 200)
    }

    @Test func `what belongs to others is not there`() async throws {
        _ = try await network.call(.put, "devices/d", Self.phone(), as: network.token())
        let bob = network.token(for: "bob")
        let unknown = try await network.call(.get, "devices/none", as: bob)
        let foreign = try await network.call(.get, "devices/d", as: bob)
        #expect(foreign.status == 404 && foreign.text == unknown.text)
        #expect(try await network.call(.get, "users/alice/devices", as: bob).status == 404)
        #expect(try await network.call(.get, "users/bob/devices", as: bob).text == #"{"items":[]}"#)
        #expect(try await network.call(.get, "users/me/devices", as: bob).status == 200)
    }

    @Test func `a user who is not in the directory yet is added`() async throws {
        #expect(try await network.call(.get, "users/alice").status == 404)
        _ = try await network.call(.put, "devices/d", Self.phone(), as: network.token())
        #expect(try await network.call(.get, "users/alice").status == 200)
    }

    @Test func `an app key registers devices only where the network lets it, and unregisters them anyway`() async throws
    {
        let key = try await api.makeKey("device", in: network)
        let path = network.path("devices/d")
        let refused = try await api.call(.put, path, Self.phone("alice"), as: key)
        #expect(refused.refusal == "403 forbidden")
        #expect(try await network.call(.put, path, Self.phone("alice")).status == 201)
        #expect(try await api.call(.delete, path + "?userId=bob", as: key).status == 204)
        #expect(try await network.call(.get, path).status == 200)
        #expect(try await api.call(.delete, path + "?userId=alice", as: key).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        #expect(try await api.call(.delete, path, as: key).status == 204)
        try await api.set(#"{"deviceRegistration":"appKey"}"#)
        #expect(try await api.call(.put, path, Self.phone("alice"), as: key).status == 201)
        let ownerless = #"{"provider":"fcm","token":"t","appId":"app"}"#
        #expect(try await api.call(.put, path, ownerless, as: key).pointers == ["/userId"])
        try await api.set(#"{"deviceRegistration":null}"#)
        #expect(try await api.call(.put, path, Self.phone("alice"), as: key).status == 403)
    }

    @Test func `unregistering with a user acts only while the device is theirs`() async throws {
        let key = try await api.makeKey("device", in: network)
        try await api.set(#"{"deviceRegistration":"appKey"}"#)
        let path = network.path("devices/d")
        for user in ["alice", "bob+b"] {
            #expect(try await api.call(.put, path, Self.phone(user), as: key).status < 300)
        }
        #expect(try await api.call(.delete, path + "?userId=alice", as: key).status == 204)
        #expect(try await network.call(.get, path).string("userId") == "bob+b")
        #expect(try await api.call(.delete, path + "?userId=bob%2Bb", as: key).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        for query in ["userId=", "userId=%00", "userId=%zz", "userId=a&userId=b"] {
            let answer = try await api.call(.delete, path + "?" + query, as: key)
            #expect(answer.status == 400)
        }
    }

    @Test func `another's device is taken over with its own address, and by admins`() async throws {
        let key = try await api.makeKey("device", in: network)
        try await api.set(#"{"deviceRegistration":"appKey"}"#)
        let path = network.path("devices/d")
        #expect(try await api.call(.put, path, Self.phone("alice", "t1"), as: key).status == 201)
        let bob = network.token(for: "bob")
        for (body, token) in [(Self.phone("bob", "t2"), key), (Self.phone(nil, "t2"), bob)] {
            let taken = try await api.call(.put, path, body, as: token)
            #expect(taken.refusal == "409 device-taken")
        }
        #expect(try await network.call(.get, path).string("userId") == "alice")
        #expect(try await api.call(.put, path, Self.phone(nil, "t1"), as: bob).status == 200)
        #expect(try await api.call(.put, path, Self.phone(nil, "t2"), as: bob).status == 200)
        #expect(try await api.call(.get, path, as: network.token()).status == 404)
        #expect(try await network.call(.put, path, Self.phone("alice", "t3")).status == 200)
        // A phone whose token is known under another id is that phone, whoever holds it.
        #expect(try await network.call(.put, "devices/e", Self.phone(nil, "t3"), as: bob).status == 201)
        #expect(try await network.call(.get, path).status == 404)
    }

    @Test func `webhooks and standard output are for admins`() async throws {
        let key = try await api.makeKey("device", in: network)
        try await api.set(#"{"deviceRegistration":"appKey"}"#)
        let path = network.path("devices/d")
        for body in [
            #"{"userId":"alice","provider":"log"}"#,
            #"{"userId":"alice","provider":"webhook","url":"https://hooks.acme.example/x"}"#,
        ] {
            for token in [key, network.token()] {
                let refused = try await api.call(.put, path, body, as: token)
                #expect(refused.status == 403 && refused.pointers == ["/provider"])
            }
            #expect(try await network.call(.put, path, body).status < 300)
        }
    }

    @Test func `subscriptions name push services that the network allows`() async throws {
        let path = network.path("devices/d")
        for host in ["fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"] {
            #expect(try await api.call(.put, path, Self.browser(host), as: network.token()).status < 300)
        }
        for token in [network.token(), network.adminKey] {
            let refused = try await api.call(.put, path, Self.browser("push.example.org"), as: token)
            #expect(refused.status == 400 && refused.pointers == ["/subscription/endpoint"])
        }
        let line = #"{"device":{"id":"x",\#(Self.browser("push.example.org").dropFirst())}"#
        let imported = try await network.call(.post, "import", line, type: "application/x-ndjson")
        #expect(imported.status == 400 && imported.pointers == ["/device/subscription/endpoint"])
        try await api.set(#"{"webPushHosts":["*.example.org"]}"#)
        #expect(try await api.call(.put, path, Self.browser("push.example.org"), as: network.token()).status == 200)
        #expect(try await api.call(.put, path, Self.browser("fcm.googleapis.com"), as: network.token()).status == 400)
        #expect(try await api.call(.get, path, as: network.token()).status == 200)
    }

    @Test func `a user has so many devices, and an admin registers more`() async throws {
        try await api.setLimits(#"{"devicesPerUser":1,"webhookHosts":1}"#)
        func put(_ id: String, _ body: String, as token: String) async throws -> Answer {
            try await network.call(.put, "devices/\(id)", body, as: token)
        }
        #expect(try await put("a", Self.phone(nil, "t1"), as: network.token()).status == 201)
        let refused = try await put("b", Self.phone(nil, "t2"), as: network.token())
        #expect(refused.refusal == "409 limit-reached")
        #expect(refused.string("detail") == "devicesPerUser is 1" && refused.pointers == ["/limits/devicesPerUser"])
        #expect(try await put("b", Self.phone("alice", "t2"), as: network.adminKey).status == 201)
        #expect(try await put("a", Self.phone(nil, "t1"), as: network.token()).status == 200)
        #expect(try await put("c", Self.phone(nil, "t3"), as: network.token(for: "bob")).status == 201)
        func webhook(_ host: String) -> String { #"{"userId":"alice","provider":"webhook","url":"https://\#(host)/"}"# }
        #expect(try await put("w1", webhook("a.example"), as: network.adminKey).status == 201)
        let hosts = try await put("w2", webhook("b.example"), as: network.adminKey)
        #expect(hosts.status == 409 && hosts.string("detail") == "webhookHosts is 1")
    }
}
