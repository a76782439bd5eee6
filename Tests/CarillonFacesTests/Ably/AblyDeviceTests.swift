import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

@Suite(.ably) struct AblyDeviceTests {
    private let ably: AblyService = lent()
    private static let list = "/push/deviceRegistrations"

    private static func body(
        _ id: String = "d1",
        token: String = "AB12",
        secret: String? = "s1",
        and more: JSONObject = [:]
    ) -> String {
        var body: JSONObject = [
            "id": .string(id), "platform": "ios", "formFactor": "phone", "unknown": [1],
            "push": ["recipient": ["transportType": "apns", "deviceToken": .string(token)]],
        ]
        body["deviceSecret"] = secret.map(JSONValue.string)
        for (name, value) in more.members { body[name] = value }
        return JSONValue.object(body).serializedText
    }

    private static func patch(_ token: String) -> String {
        #"{"push":{"recipient":{"transportType":"apns","deviceToken":"\#(token)"}}}"#
    }

    @Test func `a device registers itself, and proves itself by what it got`() async throws {
        let app = AblyService.app()
        let answer = try await ably.call(.post, Self.list, Self.body(), as: app)
        #expect(answer.status == 201)
        let members = ["id", "clientId", "platform", "formFactor", "push", "deviceIdentityToken"]
        if case .object(let object)? = answer.json { #expect(object.keys == members) }
        #expect(answer.string("clientId") == "alice", "the token's client is binding")
        #expect(answer.string("push", "recipient", "deviceToken") == "AB12", "clients compare what they sent")
        #expect(answer.string("push", "state") == "ACTIVE")
        let stored = try await ably.stage.device("d1")
        #expect(stored?.address == .apns(token: "ab12", appID: "com.acme.chat", environment: .production))
        let token = try #require(answer.string("deviceIdentityToken", "token"))
        #expect(answer.string("deviceIdentityToken", "keyName") == "app1.app")
        #expect(answer.string("deviceIdentityToken", "capability") == #"{"open:*":["push-subscribe"]}"#)
        for headers in [
            ["x-ably-devicetoken": token], ["x-ably-devicetoken": Base64URL.encode(token.utf8)],
            ["x-ably-devicesecret": "s1"],
        ] {
            let shown = try await ably.call(.get, Self.list + "/d1", as: app, headers: headers)
            #expect(shown.status == 200 && shown.string("push", "recipient", "deviceToken") == "AB12")
        }
        let own = try await ably.call(.patch, Self.list + "/d1", Self.patch("cd34"), as: token)
        #expect(own.status == 200 && own.string("push", "recipient", "deviceToken") == "cd34")
        #expect(try await ably.call(.patch, Self.list, Self.body(token: "ef"), as: token).status == 200)
        #expect(try await ably.call(.post, Self.list, Self.body(), as: app).status == 200, "it is known")
        #expect(try await ably.call(.delete, Self.list + "?deviceId=d1", as: token).status == 204)
        #expect(try await ably.stage.device("d1") == nil)
        #expect(try await ably.call(.delete, Self.list + "?deviceId=d1", as: token).status == 204)
        let again = try await ably.call(.post, Self.list, Self.body(), as: token)
        #expect(again.error == [401, 40101], "with its device the token speaks for nobody")
    }

    @Test func `nobody takes a device over who does not prove to be it`() async throws {
        let (alice, bob) = (AblyService.app(), AblyService.app("bob"))
        let first = try await ably.call(.post, Self.list, Self.body(), as: alice)
        let token = try #require(first.string("deviceIdentityToken", "token"))
        let cases: [(HTTPRequest.Method, String, String?, String, [String: String], [Int])] = [
            (.post, "", Self.body(secret: "s2"), alice, [:], [401, 40101]),
            (.post, "", Self.body(), bob, [:], [400, 61002]),
            (.post, "", Self.body(secret: nil), alice, [:], [401, 40101]),
            (.post, "", Self.body("d2", secret: nil), alice, [:], [400, 40001]),
            (.post, "", Self.body("d2", and: ["clientId": "bob"]), alice, [:], [400, 40012]),
            (.post, "", Self.body("d2", and: ["clientId": "x"]), AblyService.app(nil), [:], [400, 40012]),
            (.put, "/d1", Self.body(secret: nil), alice, [:], [401, 40101]),
            (.get, "/d1", nil, alice, [:], [401, 40160]),
            (.get, "/d1", nil, alice, ["x-ably-devicesecret": "s2"], [401, 40101]),
            (.get, "/d1", nil, alice, ["x-ably-devicetoken": "x.y.z"], [401, 40101]),
            (.get, "/d2", nil, alice, ["x-ably-devicetoken": token], [401, 40101]),
            (.get, "/none", nil, alice, [:], [401, 40160]),
            (.patch, "/d1", Self.patch("ab"), alice, [:], [401, 40160]),
            (.patch, "/d1", #"{"clientId":"bob"}"#, token, [:], [401, 40160]),
            (.patch, "/d1", #"{"metadata":{"a":1}}"#, token, [:], [401, 40160]),
            (.delete, "/d1", nil, alice, [:], [401, 40160]), (.delete, "/d2", nil, token, [:], [401, 40101]),
            (.delete, "?clientId=alice", nil, token, [:], [401, 40160]), (.get, "", nil, alice, [:], [401, 40160]),
            (.get, "/d1", nil, AblyService.token("app2.admin"), [:], [404, 40400]),
            (.post, "", Self.body("d9"), AblyService.token(capability: ["open:*": ["publish"]]), [:], [401, 40160]),
        ]
        for (method, path, body, caller, headers, error) in cases {
            let answer = try await ably.call(method, Self.list + path, body, as: caller, headers: headers)
            #expect(answer.error == error, "\(method) \(path) \(body ?? "")")
        }
        #expect(try await ably.stage.device("d1")?.userID == "alice")
    }

    @Test func `a device of nobody's that proves itself gets a client and another token at once`() async throws {
        #expect(try await ably.call(.post, Self.list, Self.body(), as: AblyService.app(nil)).status == 201)
        let claimed = try await ably.call(.post, Self.list, Self.body(token: "CD34"), as: AblyService.app())
        #expect(claimed.status == 200 && claimed.string("clientId") == "alice")
        let stored = try await ably.stage.device("d1")
        #expect(stored?.userID == "alice" && stored?.address.text == "cd34")
        let bobs = try await ably.call(.post, Self.list, Self.body(token: "EF56"), as: AblyService.app("bob"))
        #expect(bobs.error == [400, 61002])
    }

    @Test func `a new secret ends what proved the device before`() async throws {
        let first = try await ably.call(.post, Self.list, Self.body(), as: AblyService.app())
        let token = try #require(first.string("deviceIdentityToken", "token"))
        #expect(try await ably.call(.get, Self.list + "/d1", as: token).status == 200)
        #expect(try await ably.call(.put, Self.list + "/d1", Self.body(secret: "s2")).status == 200)
        #expect(try await ably.call(.get, Self.list + "/d1", as: token).error == [401, 40101])
        let headers = ["x-ably-devicesecret": "s2"]
        #expect(try await ably.call(.get, Self.list + "/d1", as: AblyService.app(), headers: headers).status == 200)
        let reset = try await ably.call(.post, Self.list + "/d1/resetUpdateToken")
        let update = try #require(reset.string("updateToken"))
        #expect(try await ably.call(.get, Self.list + "/d1", as: update).status == 200)
        let more: JSONObject = ["updateToken": .string(update), "deviceSecret": .null]
        #expect(try await ably.call(.put, Self.list + "/d1", Self.body(and: more)).status == 200)
        let wrong: JSONObject = ["updateToken": .string(token)]
        #expect(try await ably.call(.put, Self.list + "/d1", Self.body(and: wrong)).error == [400, 40000])
    }

    private static let wrong: [(more: JSONObject, error: [Int])] = [
        (["platform": "windows"], [400, 40001]), (["platform": 1], [400, 40001]),
        (["platform": .null], [400, 40001]),
        (["formFactor": .null], [400, 40001]), (["id": ""], [400, 40015]), (["id": 5], [400, 40001]),
        (["id": "t-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"], [400, 40015]), (["metadata": "x"], [400, 40001]),
        (["metadata": ["a": .string(String(repeating: "x", count: 4_090))]], [413, 40009]),
        (["push": 5], [400, 40001]),
        (["push": [:]], [400, 40000]), (["push": ["recipient": 5]], [400, 40000]),
        (["push": ["recipient": ["transportType": "ablyChannel"]]], [400, 40000]),
        (["push": ["recipient": ["transportType": "fcm"]]], [400, 40000]),
        (["push": ["recipient": ["transportType": "fcm", "registrationToken": "a b"]]], [400, 40000]),
        (["push": ["recipient": ["transportType": "web", "targetUrl": "https://evil.example"]]], [400, 40000]),
        (["push": ["state": "FAILED", "recipient": ["transportType": "apns", "deviceToken": "ab"]]], [400, 40000]),
        (["clientId": "me"], [400, 40012]), (["clientId": "*"], [400, 40012]), (["clientId": 5], [400, 40001]),
        (["deviceSecret": ""], [400, 40001]), (["updateToken": "x"], [400, 40000]),
    ]

    @Test func `what is wrong with a device is refused, and nothing is stored`() async throws {
        for (more, error) in Self.wrong {
            let answer = try await ably.call(.post, Self.list, Self.body(and: more))
            #expect(answer.error == error, "\(more)")
            let stored = try await ably.store.devices.registeredDevices(
                through: AblyDevice.providers,
                of: nil,
                in: "acme",
                after: nil,
                limit: 9
            )
            #expect(stored.isEmpty, "\(more)")
        }
    }

    @Test func `an administrator saves, changes and moves devices, whatever they prove`() async throws {
        let more: JSONObject = ["clientId": "alice", "metadata": ["a": 1]]
        let wrong = ["x-ably-devicetoken": "wrong"]
        let saved = try await ably.call(.put, Self.list + "/d1", Self.body(secret: nil, and: more), headers: wrong)
        #expect(saved.status == 200 && saved["metadata"] == ["a": 1] && saved["deviceIdentityToken"] == nil)
        // What was read can be saved.
        let again = try await ably.call(.put, Self.list + "/d1", saved.json?.serializedText)
        #expect(again.json == saved.json)
        let changed = try await ably.call(.patch, Self.list + "/d1", #"{"clientId":"bob","metadata":{"b":2}}"#)
        #expect(changed.string("clientId") == "bob" && changed["metadata"] == ["b": 2])
        #expect(changed.string("push", "recipient", "deviceToken") == "AB12")
        let platform = try await ably.call(.put, Self.list + "/d1", Self.body(and: ["platform": "android"]))
        #expect(platform.error == [400, 40000])
        #expect(try await ably.call(.put, Self.list + "/d2", Self.body()).error == [400, 40015])
        let nobody = try await ably.call(.patch, Self.list + "/d1", #"{"clientId":null}"#)
        #expect(nobody.status == 200 && nobody["clientId"] == nil)
        #expect(try await ably.call(.patch, Self.list + "/none", "{}").error == [404, 40400])
        #expect(try await ably.call(.delete, Self.list + "/none").status == 204)
    }

    @Test func `of changes that are made at once all hold`() async throws {
        for round in 0..<5 {
            let path = Self.list + "/d\(round)"
            _ = try await ably.call(.put, path, Self.body("d\(round)", token: "0\(round)"))
            async let client = ably.call(.patch, path, #"{"clientId":"bob"}"#)
            async let metadata = ably.call(.patch, path, #"{"metadata":{"k":1}}"#)
            async let recipient = ably.call(.patch, path, Self.patch("ab0\(round)"))
            #expect(try await [client.status, metadata.status, recipient.status] == [200, 200, 200])
            let shown = try await ably.call(.get, path)
            #expect(shown.string("clientId") == "bob" && shown["metadata", "k"] == 1)
            #expect(shown.string("push", "recipient", "deviceToken") == "ab0\(round)")
        }
    }

    @Test func `what came with a notification is no device of theirs`() async throws {
        let address = DeviceAddress.fcm(token: "unregistered", appID: "com.acme.chat")
        let id = DeviceID(reachedAt: address)
        let device = Device(id, of: .nobody, address, at: FaceStage.now)
        _ = try await ably.store.devices.putDevice(device, in: "acme")
        #expect(try await ably.call(.get, Self.list + "?deviceId=\(id)").json == [])
        #expect(try await ably.call(.get, Self.list + "/\(id)").error == [404, 40400])
        #expect(try await ably.call(.patch, Self.list + "/\(id)", "{}").error == [404, 40400])
        #expect(try await ably.call(.put, Self.list + "/\(id)", Self.body(id.rawValue)).error == [400, 40015])
        let subscription = #"{"channel":"open:a","deviceId":"\#(id)"}"#
        #expect(try await ably.call(.post, "/push/channelSubscriptions", subscription).error == [404, 40400])
        #expect(try await ably.call(.delete, Self.list + "/\(id)").status == 204)
        #expect(try await ably.stage.device(id) == device)
    }

    @Test(arguments: ["no token", " ", "caf\u{E9} \u{1F600}", "a/b?c#d"])
    func `any text is taken for a token of Apple's, and fails from the start`(token: String) async throws {
        let made = try await ably.call(.put, Self.list + "/d1", Self.body(token: token))
        #expect(made.status == 200 && made.string("push", "state") == "FAILED")
        #expect(made.string("push", "recipient", "deviceToken") == token)
        #expect(try await ably.stage.device("d1")?.state == .quarantined)
    }

    @Test func `states are shown in Ably's words, and a recipient makes a device active again`() async throws {
        let strange = try await ably.call(.put, Self.list + "/d1", Self.body(token: "no/token"))
        #expect(strange.string("push", "state") == "FAILED")
        #expect(strange["push", "errorReason", "code"] == 103005)
        #expect(strange.string("push", "recipient", "deviceToken") == "no/token")
        var device = try #require(try await ably.stage.device("d1"))
        for (state, error, shown, code) in [
            (.unregistered, "410", "FAILED", 41001), (.active, "503", "FAILING", 103007),
            (.active, "429 TooManyRequests", "FAILING", 103004), (.active, nil, "ACTIVE", nil),
        ] as [(DeviceState, String?, String, Int?)] {
            (device.state, device.error) = (state, error)
            _ = try await ably.store.devices.putDevice(device, in: "acme")
            let answer = try await ably.call(.get, Self.list + "/d1")
            #expect(answer.string("push", "state") == shown)
            #expect(answer["push", "errorReason", "code"] == code.map { JSONValue($0) })
        }
        device.state = .unregistered
        _ = try await ably.store.devices.putDevice(device, in: "acme")
        let renamed = try await ably.call(.patch, Self.list + "/d1", #"{"metadata":{}}"#)
        #expect(renamed.string("push", "state") == "FAILED")
        let back = try await ably.call(.patch, Self.list + "/d1", Self.patch("ab12"))
        #expect(back.string("push", "state") == "ACTIVE")
    }

    @Test func `browsers are known as their SDK writes them, and a token belongs to one device`() async throws {
        let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        let keys = (point.replacing("-", with: "+").replacing("_", with: "/") + "=", "BTBZMqHH6r4Tts7J/aSIgg==")
        let url = "https://updates.push.services.mozilla.com/wpush/v2/x"
        let recipient: JSONValue = [
            "transportType": "web", "targetUrl": .string(Base64URL.encode(url.utf8)), "publicVapidKey": "BK",
            "encryptionKey": ["p256dh": .string(keys.0), "auth": .string(keys.1)],
        ]
        let more: JSONObject = ["platform": "browser", "push": ["recipient": recipient]]
        let answer = try await ably.call(.post, Self.list, Self.body(and: more))
        #expect(answer.status == 201 && answer["push", "recipient"] == recipient)
        let stored = try await ably.stage.device("d1")?.address
        #expect(stored == .webpush(endpoint: url, p256dh: point, auth: "BTBZMqHH6r4Tts7J_aSIgg"))
        #expect(try await ably.call(.post, Self.list, Self.body("d2", and: more)).status == 201)
        #expect(try await ably.call(.get, Self.list + "/d1").status == 404)
        let gcm: JSONValue = ["recipient": ["transportType": "gcm", "registrationToken": "t:1"]]
        let old = try await ably.call(
            .put,
            Self.list + "/d3",
            Self.body("d3", and: ["push": gcm, "platform": "android"])
        )
        #expect(old.string("push", "recipient", "transportType") == "gcm", "answered with the name it came with")
    }

    @Test func `devices are listed in pages that SDKs can follow`() async throws {
        for (id, client) in [("a", "alice"), ("b", "bob"), ("c", "alice"), ("d", "alice")] {
            let more: JSONObject = ["clientId": .string(client)]
            _ = try await ably.call(.put, Self.list + "/\(id)", Self.body(id, token: "0\(id)", and: more))
        }
        let line = Device("log", of: "alice", at: FaceStage.now)
        _ = try await ably.store.devices.putDevice(line, in: "acme")
        var path = "deviceRegistrations?client_id=alice&limit=2"
        var pages: [[JSONValue?]] = []
        while pages.count < 3 {
            let page = try await ably.call(.get, "/push/" + path)
            pages.append([page["0", "id"], page["1", "id"]])
            let links = page.headers[values: .link]
            #expect(
                links.contains { $0.hasSuffix(#"rel="first""#) }
                    && links.contains { $0.hasSuffix(#"rel="current""#) }
            )
            guard let next = links.first(where: { $0.hasSuffix(#"rel="next""#) }) else { break }
            #expect(!next.contains(","))
            path = String(next.dropFirst(3).prefix { $0 != ">" })
        }
        #expect(pages == [["a", "c"], ["d", nil]])
        let one = try await ably.call(.get, Self.list + "?deviceId=b")
        #expect(one["0", "id"] == "b" && one["1"] == nil)
        #expect(try await ably.call(.get, Self.list + "?deviceId=b&clientId=alice").json == [])
        for query in ["limit=0", "limit=1001", "limit=x", "limit=1&limit=2", "cursor=!"] {
            #expect(try await ably.call(.get, Self.list + "?\(query)").error == [400, 40003], "\(query)")
        }
    }

    @Test(arguments: [
        "", "?", "?foo=bar", "?deviceId=a&clientId=alice", "?deviceId=a&state=FAILED", "?device=a", "?deviceid=a",
        "?deviceId=a&device_id=a", "?deviceId=a&deviceId=b", "?limit=10", "?clientId[]=alice",
    ])
    func `a DELETE whose filter is not understood removes nothing`(query: String) async throws {
        _ = try await ably.call(.put, Self.list + "/a", Self.body("a", and: ["clientId": "alice"]))
        #expect(try await ably.call(.delete, Self.list + query).error == [400, 40003])
        #expect(try await ably.call(.delete, Self.list + "?clientId=").error == [400, 40012])
        #expect(try await ably.call(.get, Self.list + "/a").status == 200)
        #expect(try await ably.call(.delete, Self.list + "?client_id=alice&fullWait=true").status == 204)
        #expect(try await ably.call(.get, Self.list + "/a").status == 404)
    }
}
