import CarillonCore
import CarillonTesting
import HTTPTypes
import Hummingbird
import Testing

@testable import CarillonEdge
@testable import CarillonFaces

@Suite(.amity, .timeLimit(.minutes(1))) struct AmityFaceTests {
    private let api: FaceStage = lent()
    fileprivate static let apiKey = "b3babb0b3a89f4341d31dc1a01091edcd70f8de7b23d697f"
    private static let key = ["x-api-key": apiKey]
    private static let devices = "/v1/notification"
    private static let settings = "/api/v3/notification/setting"
    private static let admin = "/admin/v1/notification/setting"
    private static let registration = #"{"deviceId":"d-1","platform":"ios","token":"AB12","userId":"alice"}"#

    private func expect(_ answer: Answer, _ status: Int, _ code: Int, at line: SourceLocation = #_sourceLocation) {
        #expect(answer.status == status, sourceLocation: line)
        #expect(answer["status"] == "error" && answer["code"] == .number(JSONNumber(code)), sourceLocation: line)
        #expect(answer.headers[.init("x-request-id") ?? .date] != nil, sourceLocation: line)
    }

    @Test func `nothing is there for a network that has not bound it`() async throws {
        try await withAmity(isBound: false) { api in
            expect(try await api.call(.post, Self.devices, Self.registration, headers: Self.key), 404, 400_400)
            expect(try await api.call(.get, Self.settings + "?level=user", as: api.token()), 404, 400_400)
            expect(try await api.call(.get, Self.admin, as: api.adminKey), 404, 400_400)
        }
    }

    @Test func `without the app's key, or with another one, nothing is done`() async throws {
        expect(try await api.call(.post, Self.devices, Self.registration, as: api.token()), 401, 400_100)
        let wrong = ["X-API-KEY": "x" + Self.apiKey]
        expect(try await api.call(.post, Self.devices, Self.registration, headers: wrong), 401, 400_100)
        expect(try await api.call(.delete, Self.devices + "?deviceId=d-1", headers: wrong), 401, 400_100)
        expect(try await api.call(.put, Self.devices, Self.registration, headers: Self.key), 405, 400_000)
        #expect(try await api.device("d-1") == nil)
    }

    @Test func `registering for somebody takes their own token`() async throws {
        func register(as token: String?) async throws -> Answer {
            try await api.call(.post, Self.devices, Self.registration, as: token, headers: Self.key)
        }
        expect(try await register(as: nil), 401, 400_100)
        expect(try await register(as: "nonsense"), 401, 400_100)
        expect(try await register(as: api.token(expiresIn: -1)), 401, 400_100)
        expect(try await register(as: api.token(for: "mallory")), 403, 400_301)
        expect(try await register(as: api.adminKey), 403, 400_301)
        #expect(try await api.device("d-1") == nil)
        let answer = try await register(as: api.token())
        #expect(answer.status == 200 && answer.text == #"{"success":true}"#)
        let device = try await api.device("d-1")
        #expect(device?.userID == "alice")
        #expect(device?.address == .apns(token: "ab12", appID: "com.acme.chat", environment: .production))
    }

    @Test func `a user's token is enough for the later way to register, and the device needs no id`() async throws {
        let path = "/api/v3/notification/register"
        let body = #"{"platform":"ios","token":"AB12","provider":"apns"}"#
        expect(try await api.call(.post, path, body), 401, 400_100)
        expect(try await api.call(.post, path, body, headers: Self.key), 401, 400_100)
        expect(try await api.call(.post, path, body, as: api.adminKey), 403, 400_301)
        let answer = try await api.call(.post, path, body, as: api.token())
        #expect(answer.status == 200 && answer.text == #"{"success":true}"#)
        let address = DeviceAddress.apns(token: "ab12", appID: "com.acme.chat", environment: .production)
        let device = try await api.device(DeviceID(reachedAt: address))
        #expect(device?.userID == "alice" && device?.address == address)
        let named = #"{"deviceId":"d-9","platform":"android","token":"t","userId":"alice"}"#
        #expect(try await api.call(.post, path, named, as: api.token(), headers: Self.key).status == 200)
        #expect(try await api.device("d-9")?.userID == "alice")
        #expect(try await api.call(.post, path, named, as: api.token(for: "bob")).status == 403)
        for bad in [
            "{}", #"{"platform":"ios"}"#, #"{"platform":"ios","token":"xyz"}"#, #"{"platform":"tv","token":"t"}"#,
            #"{"platform":"android","token":"t","provider":"baidu"}"#,
            #"{"deviceId":"","platform":"android","token":"t"}"#,
        ] {
            expect(try await api.call(.post, path, bad, as: api.token()), 400, 400_000)
        }
    }

    @Test func `a token alone takes over another user's device only with its own address, beside the app's key always`()
        async throws
    {
        func register(_ token: String, as user: String, headers: [String: String] = [:]) async throws -> Answer {
            let body = #"{"deviceId":"d-9","platform":"android","token":"\#(token)"}"#
            let path = "/api/v3/notification/register"
            return try await api.call(.post, path, body, as: api.token(for: user), headers: headers)
        }
        #expect(try await register("one", as: "alice").status == 200)
        expect(try await register("two", as: "bob"), 400, 400_000)
        #expect(try await api.device("d-9")?.userID == "alice")
        #expect(try await register("one", as: "bob").status == 200, "the same phone")
        #expect(try await register("two", as: "alice", headers: Self.key).status == 200)
        #expect(try await api.device("d-9")?.userID == "alice")
    }

    @Test func `the app's key alone registers only where the network lets apps do that`() async throws {
        try await withAmity(requireUserToken: false) { api in
            let answer = try await api.call(.post, Self.devices, Self.registration, headers: Self.key)
            expect(answer, 401, 400_100)
        }
        let network = Network(id: "acme", deviceRegistration: .appKey, createdAt: FaceStage.now)
        try await withAmity(requireUserToken: false, network: network) { api in
            let answer = try await api.call(.post, Self.devices, Self.registration, headers: Self.key)
            #expect(answer.status == 200)
        }
        try await withStage({ services in
            let amity = AmityFace(services)
            let settings = FaceSettings(["android": ["appId": "a"], "requireUserToken": false])
            #expect(amity.conflict(of: settings, in: network) == nil)
            #expect(amity.conflict(of: settings, in: Network(id: "b", createdAt: FaceStage.now))?.status == .conflict)
            return amity
        }) { _ in }
    }

    @Test func `the last write wins: the former user of a device or a token gets nothing more`() async throws {
        let network = Network(id: "acme", deviceRegistration: .appKey, createdAt: FaceStage.now)
        try await withAmity(requireUserToken: false, network: network) { api in
            func register(_ id: String, _ token: String, _ user: String) async throws -> Int {
                let body = #"{"deviceId":"\#(id)","platform":"android","token":"\#(token)","userId":"\#(user)"}"#
                return try await api.call(.post, Self.devices, body, headers: Self.key).status
            }
            #expect(try await register("d-1", "one", "alice") == 200)
            #expect(try await register("d-1", "one", "bob") == 200, "the same phone")
            #expect(try await register("d-1", "two", "carol") == 200, "the same id with another token")
            #expect(try await register("d-2", "two", "dave") == 200, "the same token with another id")
            for user in ["alice", "bob", "carol"] {
                let left = try await api.devices(of: UserID(trusted: user))
                #expect(left.isEmpty)
            }
            #expect(try await api.device("d-2")?.userID == "dave")
        }
    }

    @Test
    func `a request without a device's id unregisters nothing, and one with another user's id neither`() async throws {
        _ = try await api.call(.post, Self.devices, Self.registration, as: api.token(), headers: Self.key)
        for (query, body) in [
            ("", nil), ("", "{}"), ("?userId=alice", nil), ("?deviceid=d-1", nil), ("", "[]"), ("", "x"),
            ("", #"{"deviceId":7}"#), ("?deviceId=", nil),
        ] {
            let answer = try await api.call(.delete, Self.devices + query, body, headers: Self.key)
            expect(answer, 400, 400_000)
        }
        let other = try await api.call(.delete, Self.devices + "?deviceId=d-1&userId=bob", headers: Self.key)
        #expect(other.status == 200 && other.text == #"{"success":true}"#)
        #expect(try await api.device("d-1") != nil)
        #expect(try await api.journal.entries(of: "faces/amity", in: "acme").first?.note.reason != nil)
    }

    @Test(arguments: [
        ("?deviceId=d-1", nil), ("?deviceId=d-1&userId=alice", nil), ("", #"{"deviceId":"d-1"}"#),
        ("", #"{"deviceId":"d-1","userId":"alice"}"#), ("?deviceId=d-1", #"{"userId":""}"#),
    ])
    func `unregistering takes no user's token`(query: String, body: String?) async throws {
        _ = try await api.call(.post, Self.devices, Self.registration, as: api.token(), headers: Self.key)
        let answer = try await api.call(.delete, Self.devices + query, body, headers: ["X-Api-KEY": Self.apiKey])
        #expect(answer.status == 200)
        #expect(try await api.device("d-1") == nil)
    }

    @Test(arguments: [
        ("", 400, 400_000), ("?level=", 400, 400_000), ("?level=galaxy", 400, 400_000),
        ("?level=community&communityId=c", 404, 400_400), ("?level=channel", 400, 400_000),
        ("?level=network", 403, 400_301), ("?level=user&level=user", 400, 400_000),
    ])
    func `settings of what is not there are refused`(query: String, status: Int, code: Int) async throws {
        expect(try await api.call(.get, Self.settings + query, as: api.token()), status, code)
        expect(try await api.call(.get, Self.settings + query), 401, 400_100)
    }

    @Test func `a user's settings are the user's toggles`() async throws {
        let body = #"""
            {"level":"user","isPushNotifiable":true,"notifiableEvents":[
             {"moduleName":"chat","isPushNotifiable":true,"listenFromRoleIds":["moderator"],"ignoreFromRoleIds":[]},
             {"moduleName":"social","isPushNotifiable":false}]}
            """#
        let answer = try await api.call(.post, Self.settings, body, as: api.token())
        #expect(answer.status == 200 && answer.text == #"{"status":"success"}"#)
        let document = try await api.store.toggles.toggles(.user("alice"), in: "acme").document
        let toggles = UserToggles(document: document)
        #expect(toggles.modules[.chat]?.roles == .only(["moderator"]) && toggles.modules[.social]?.enabled == false)
        let shown = try await api.call(.get, Self.settings + "?level=user", as: api.token())
        #expect(shown["isPushNotifiable"] == true && shown["isUserEnabled"] == true)
        #expect(shown["notifiableEvents", "0", "moduleName"] == "chat")
        #expect(shown["notifiableEvents", "0", "listenFromRoleIds"] == ["moderator"])
        #expect(shown["notifiableEvents", "1", "isPushNotifiable"] == false)
        #expect(shown["notifiableEvents", "2", "moduleName"] == "video-streaming")
        _ = try await api.call(.post, Self.settings, #"{"level":"user","isPushNotifiable":false}"#, as: api.token())
        let off = try await api.call(.get, Self.settings + "?level=user", as: api.token())
        #expect(off["isPushNotifiable"] == false && off["notifiableEvents", "1", "isPushNotifiable"] == false)
        #expect(try await api.store.toggles.toggles(.user("bob"), in: "acme").version == 0)
    }

    @Test func `a channel's settings are kept before its user is a member, and say whether the user hears anything`()
        async throws
    {
        let body = #"{"level":"channel","channelId":"general","isPushNotifiable":false}"#
        #expect(try await api.call(.post, Self.settings, body, as: api.token()).status == 200)
        let path = Self.settings + "?level=channel&channelId=general"
        let shown = try await api.call(.get, path, as: api.token())
        #expect(shown["isPushNotifiable"] == false && shown["isUserEnabled"] == true)
        _ = try await api.call(.post, Self.settings, #"{"level":"user","isPushNotifiable":false}"#, as: api.token())
        #expect(try await api.call(.get, path, as: api.token())["isUserEnabled"] == false)
        let toggles = try await api.store.toggles.toggles(.channel("alice", "general"), in: "acme").document
        #expect(!ChannelToggles(document: toggles).enabled)
    }

    @Test func `the network's settings are for its admins, who change switches and templates at once`() async throws {
        expect(try await api.call(.get, Self.admin), 401, 400_100)
        expect(try await api.call(.get, Self.admin, as: api.token()), 403, 400_301)
        expect(try await api.call(.get, Self.admin + "?level=user", as: api.adminKey), 400, 400_000)
        for (bad, place) in [
            (
                #"{"notifiableEvents":[{"name":"message.created","titleTemplate":"%z"}]}"#,
                "notifiableEvents/0/titleTemplate"
            ),
            (
                #"{"notifiableEvents":[{"name":"channel.created"},{"name":"message.created","bodyTemplate":"{{Nobody}}"}]}"#,
                "notifiableEvents/1/bodyTemplate"
            ),
            (
                #"{"notifiableEvents":[{"name":"message.created","titleTemplate":7}]}"#,
                "notifiableEvents/0/titleTemplate"
            ),
        ] {
            let answer = try await api.call(.post, Self.admin, bad, as: api.adminKey)
            expect(answer, 400, 400_000)
            guard case .string(let message)? = answer["message"] else { continue }
            #expect(message.contains(place), "\(message)")
        }
        #expect(try await api.store.templates.templates(in: "acme").isEmpty)
        let body = #"""
            {"level":"network","notifiableEvents":[
             {"name":"message.created","titleTemplate":"%1s writes","bodyTemplate":"{{Message}}!"},
             {"name":"channel.joined","isPushNotifiable":false},{"name":"channel.created","bodyTemplate":"Hi in %s"}]}
            """#
        #expect(try await api.call(.post, Self.admin, body, as: api.adminKey).text == #"{"status":"success"}"#)
        let toggles = NetworkToggles(document: try await api.store.toggles.toggles(.network, in: "acme").document)
        #expect(toggles.enabled && toggles.disabledEvents == [.memberJoined])
        let own = try await api.store.templates.templates(in: "acme")
        let message = try #require(own.first { $0.eventType == .messageSent })
        #expect(message.locale == "en" && message.source.title == .variants([.channel: "%1s writes", .direct: "%1s"]))
        #expect(
            message.source.body
                == .variants([.text: "{{Message}}!", .image: "Image Message", .other: "Special message"])
        )
        #expect(own.first { $0.eventType == .channelCreated }?.source.body == .one("Hi in %s"))
        let shown = try await api.call(.get, Self.admin + "?level=network", as: api.adminKey)
        #expect(shown["isPushNotifiable"] == true && shown["notifiableEvents", "2", "name"] == "message.created")
        #expect(shown["notifiableEvents", "2", "titleTemplate"] == "%1s writes")
        #expect(shown["notifiableEvents", "1", "isPushNotifiable"] == false)
        #expect(shown["notifiableEvents", "1", "bodyTemplate"] == "%1s has joined %2s")
        #expect(shown["notifiableEvents", "0", "parameters"] == ["ChannelName"])
    }

    @Test func `a token of the chat backend's own is asked about, once the API key has said where`() async throws {
        let network = Network(
            id: "acme",
            introspection: UserTokenIntrospection(url: "https://chat.acme.example/me", userIDPointer: "/userId"),
            createdAt: FaceStage.now
        )
        let asker = KnownTokens(["opaque": "alice"])
        try await withAmity(network: network, asker: asker) { api in
            let path = Self.settings + "?level=user"
            expect(try await api.call(.get, path, as: "opaque"), 401, 400_100)
            #expect(asker.count == 0)
            expect(try await api.call(.get, path, as: "forged", headers: Self.key), 401, 400_100)
            #expect(try await api.call(.get, path, as: "opaque", headers: Self.key).status == 200)
            let answer = try await api.call(.post, Self.devices, Self.registration, as: "opaque", headers: Self.key)
            #expect(answer.status == 200 && asker.count == 2)
        }
    }

    @Test func `whose rate is used up is told to come back`() async throws {
        var limits = NetworkLimits()
        limits.requestsPerSecond.app = 1
        let network = Network(id: "acme", limits: limits, createdAt: FaceStage.now)
        try await withAmity(network: network) { api in
            var last: Answer?
            for _ in 0..<12 { last = try await api.call(.delete, Self.devices + "?deviceId=d", headers: Self.key) }
            let answer = try #require(last)
            expect(answer, 429, 400_311)
            #expect(answer.headers[.retryAfter] != nil)
            try await api.advance(by: .seconds(60))
            #expect(try await api.call(.delete, Self.devices + "?deviceId=d", headers: Self.key).status == 200)
        }
    }

    @Test func `a key is made of what apps carry, with one right and a secret that a header can carry`() async throws {
        try await withStage({ services in
            let face = AmityFace(services)
            func make(_ secret: String?, _ body: JSONValue) -> NewFaceKey? {
                let request = FaceKeyRequest(
                    networkID: "acme",
                    name: nil,
                    secret: secret,
                    label: nil,
                    now: FaceStage.now
                )
                var reader = JSONObjectReader(body, unknown: .refuse, into: InputErrors())
                return face.makeKey(request, from: &reader)
            }
            for unusable in ["", "two words", "\u{e9}"] { #expect(make(unusable, ["rights": "device"]) == nil) }
            // Apps carry whatever their makers chose.
            #expect(make("short", ["rights": "device"]) != nil)
            #expect(make(Self.apiKey, ["rights": "admin"]) == nil)
            #expect(make(Self.apiKey, [:]) == nil)
            let made = make(Self.apiKey, ["rights": "device"])
            #expect(made?.stored.proof == .hash(SecretHash(of: Self.apiKey)))
            #expect(made?.shown["secret"] == .string(Self.apiKey))
            return face
        }) { _ in }
    }
}

private func withAmity(
    requireUserToken: Bool = true,
    network: Network = Network(id: "acme", createdAt: FaceStage.now),
    asker: any UserTokenAsker = NobodyToAsk(),
    isBound: Bool = true,
    _ test: @Sendable (FaceStage) async throws -> Void
) async throws {
    let binding = FaceBinding(
        face: .amity,
        externalID: "default",
        networkID: isBound ? "acme" : "other",
        isPrivate: true,
        settings: [
            "ios": ["appId": "com.acme.chat"], "android": ["appId": "com.acme.android"],
            "requireUserToken": .bool(requireUserToken),
        ],
        updatedAt: FaceStage.now
    )
    let key = FaceKey(face: .amity, networkID: "acme", name: "app", rights: "device", createdAt: FaceStage.now)
    try await withStage(
        { AmityFace($0) },
        networks: [network],
        bindings: [binding],
        keys: [StoredFaceKey(key: key, proof: .hash(SecretHash(of: AmityFaceTests.apiKey)))],
        asker: asker,
        test
    )
}

extension Trait where Self == Lending<FaceStage> {
    fileprivate static var amity: Self { Lending { try await withAmity(isBound: true, $0) } }
}
