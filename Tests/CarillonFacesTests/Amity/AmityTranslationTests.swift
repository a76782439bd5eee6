import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Hummingbird
import Testing

@testable import CarillonFaces

@Suite struct AmityTranslationTests {
    private static let settings: JSONValue = [
        "ios": ["appId": "com.acme.chat", "environment": "sandbox"], "android": ["appId": "com.acme.android"],
    ]

    private func settings(_ text: String) throws(InvalidInput) -> AmitySettings {
        let errors = InputErrors()
        guard let json = try? JSONValue(parsing: text) else {
            throw InvalidInput(problem: "no-json", pointer: "", detail: text)
        }
        var reader = JSONObjectReader(json, unknown: .refuse, into: errors)
        let settings = AmitySettings(&reader)
        reader.finish()
        try errors.throwIfAny(problem: "invalid-face")
        guard let settings else { throw InvalidInput(problem: "invalid-face", pointer: "", detail: "") }
        return settings
    }

    private var apps: AmitySettings {
        guard case .object(let document) = Self.settings else { return AmitySettings(document: JSONObject()) }
        return AmitySettings(document: document)
    }

    @Test(arguments: [
        "{}", #"{"ios":{}}"#, #"{"ios":{"appId":"a","environment":"test"}}"#, #"{"android":{"appId":""}}"#,
        #"{"android":{"appId":"a"},"requireUserToken":"no"}"#, #"{"android":{"appId":"a"},"web":{}}"#,
        #"{"android":{"appId":"a","environment":"sandbox"}}"#,
    ])
    func `a binding that says no app, or something else, is refused`(body: String) {
        #expect(throws: InvalidInput.self) { try settings(body) }
    }

    @Test func `a binding is shown with its defaults filled in`() throws {
        let shown = JSONValue.object(try settings(#"{"ios":{"appId":"com.acme.chat"}}"#).json)
        let expected: JSONValue = [
            "ios": ["appId": "com.acme.chat", "environment": "production"], "requireUserToken": true,
        ]
        #expect(shown == expected)
        guard case .object(let document) = shown else { return }
        let written = try settings(#"{"ios":{"appId":"com.acme.chat"}}"#)
        #expect(AmitySettings(document: document) == written)
    }

    @Test(arguments: [
        #"{"platform":"ios","token":"ab","userId":"alice"}"#,
        #"{"deviceId":"d","token":"ab","userId":"alice"}"#,
        #"{"deviceId":"d","platform":"web","token":"ab","userId":"alice"}"#,
        #"{"deviceId":"d","platform":"ios","userId":"alice"}"#,
        #"{"deviceId":"d","platform":"ios","token":"xyz","userId":"alice"}"#,
        #"{"deviceId":"d","platform":"ios","token":1,"userId":"alice"}"#,
        #"{"deviceId":"d","platform":"android","token":"a b","userId":"alice"}"#,
        #"{"deviceId":"d","platform":"android","token":"ab","userId":"alice","provider":"baidu"}"#,
        #"{"deviceId":"d","platform":"android","token":"ab","userId":"alice","provider":"hms"}"#,
        #"{"deviceId":"d","platform":"android","token":"ab"}"#,
        #"{"deviceId":"d","platform":"android","token":"ab","userId":"me"}"#,
        #"{"deviceId":"t-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","platform":"ios","token":"ab","userId":"alice"}"#,
        "[]",
    ])
    func `a registration that says too little, or what leads nowhere, is refused`(body: String) throws {
        let json = try JSONValue(parsing: body)
        #expect(throws: InvalidInput.self) { try AmityRegistration.device(json, apps, registeredAt: FaceStage.now) }
    }

    @Test func `ids and tokens are as long as Amity lets them be, and no longer`() throws {
        func register(_ id: Int, _ token: Int, _ platform: String) throws -> Device {
            let body: JSONValue = [
                "deviceId": .string(String(repeating: "d", count: id)), "platform": .string(platform),
                "token": .string(String(repeating: "a", count: token)), "userId": "alice",
            ]
            return try AmityRegistration.device(body, apps, registeredAt: FaceStage.now)
        }
        for (id, token, platform) in [(150, 400, "ios"), (150, 1_000, "android")] {
            _ = try register(id, token, platform)
            #expect(throws: InvalidInput.self) { try register(id + 1, token, platform) }
            #expect(throws: InvalidInput.self) { try register(id, token + 1, platform) }
        }
    }

    @Test func `a platform without an app is refused`() throws {
        let json = try JSONValue(parsing: #"{"deviceId":"d","platform":"ios","token":"ab","userId":"alice"}"#)
        let settings = try settings(#"{"android":{"appId":"a"}}"#)
        #expect(throws: InvalidInput.self) { try AmityRegistration.device(json, settings, registeredAt: FaceStage.now) }
    }

    @Test(arguments: [
        (
            #"{"deviceId":"d","platform":"ios","token":"AB12","userId":"alice","tags":[1]}"#,
            DeviceAddress.apns(token: "ab12", appID: "com.acme.chat", environment: .sandbox)
        ),
        (
            #"{"deviceId":"d","platform":"android","token":"f:x-Y","userId":"alice","provider":"fcm"}"#,
            DeviceAddress.fcm(token: "f:x-Y", appID: "com.acme.android")
        ),
    ])
    func `a registration is a device of the network's app`(body: String, address: DeviceAddress) throws {
        let json = try JSONValue(parsing: body)
        let device = try AmityRegistration.device(json, apps, registeredAt: FaceStage.now)
        #expect(device == Device("d", of: "alice", address, at: FaceStage.now))
    }

    @Test(arguments: [
        #"{"isPushNotifiable":"yes"}"#, #"{"notifiableEvents":{}}"#, #"{"notifiableEvents":[{}]}"#,
        #"{"notifiableEvents":[{"moduleName":"games"}]}"#,
        #"{"notifiableEvents":[{"name":"message.created","isPushNotifiable":false}]}"#,
        #"{"notifiableEvents":[{"moduleName":"chat","name":"message.created"}]}"#,
        #"{"notifiableEvents":[{"moduleName":"chat","listenFromRoleIds":["1","2","3","4","5","6","7","8","9","10","11"]}]}"#,
        #"{"notifiableEvents":[{"moduleName":"chat"},{"moduleName":"chat"},{"moduleName":"chat"},{"moduleName":"chat"},{"moduleName":"chat"},{"moduleName":"chat"},{"moduleName":"chat"},{"moduleName":"chat"}]}"#,
    ])
    func `what a user's level does not have is refused, not passed over`(body: String) throws {
        let json = try JSONValue(parsing: body)
        #expect(throws: InvalidInput.self) { try AmityUserChange(json) }
    }

    /// What a user had, what is posted, and what they have then.
    private static let roles: [(RoleFilter?, String, RoleFilter?)] = [
        (nil, #""listenFromRoleIds":["a","b"]"#, .only(["a", "b"])),
        (nil, #""ignoreFromRoleIds":["a"]"#, .except(["a"])),
        (nil, #""listenFromRoleIds":["a","b"],"ignoreFromRoleIds":["b","c"]"#, .only(["a"])),
        (nil, #""listenFromRoleIds":["a"],"ignoreFromRoleIds":["a"]"#, .only([])),
        (.only(["a"]), #""listenFromRoleIds":[],"ignoreFromRoleIds":[]"#, nil),
        (.only(["a"]), #""isPushNotifiable":true"#, .only(["a"])),
        (.only(["a", "b"]), #""ignoreFromRoleIds":["b"]"#, .only(["a"])),
        (.only([]), #""ignoreFromRoleIds":["b"]"#, .only([])),
        (.except(["a"]), #""listenFromRoleIds":["a","b"]"#, .only(["b"])),
        (.except(["a"]), #""ignoreFromRoleIds":[]"#, nil),
        (.except(["a"]), #""listenFromRoleIds":[]"#, .except(["a"])),
    ]

    @Test(arguments: roles.indices)
    func `lists of roles make one filter`(index: Int) throws {
        let (former, body, expected) = Self.roles[index]
        let json = try JSONValue(parsing: #"{"notifiableEvents":[{"moduleName":"chat",\#(body)}]}"#)
        var toggles = UserToggles()
        var chat = UserToggles.ModuleToggle()
        chat.roles = former
        toggles.modules[.chat] = chat
        try AmityUserChange(json).apply(to: &toggles)
        #expect(toggles.modules[.chat]?.roles == expected)
    }

    @Test func `what Amity has no field for is left as it is`() throws {
        var user = UserToggles()
        user.mutedUntil = FaceStage.now
        let json = try JSONValue(
            parsing:
                #"{"isPushNotifiable":false,"notifiableEvents":[{"moduleName":"video-streaming","isPushNotifiable":false}]}"#
        )
        try AmityUserChange(json).apply(to: &user)
        #expect(!user.enabled && user.mutedUntil == FaceStage.now)
        #expect(user.modules.keys.elementsEqual([.video]) && user.modules[.video]?.enabled == false)
        #expect(user.objection(to: ToggleQuestion.aboutAMessage, at: FaceStage.now) == .enabled)
    }

    @Test(arguments: [
        #"{"notifiableEvents":[{"isPushNotifiable":false}]}"#, #"{"notifiableEvents":[{"name":"post.created"}]}"#,
        #"{"notifiableEvents":[{"name":"conversation-message.created"}]}"#,
        #"{"notifiableEvents":[{"name":"message.created","titleTemplate":7}]}"#, #"{"isPushNotifiable":1}"#,
    ])
    func `what the network's level does not have is refused, not passed over`(body: String) throws {
        let json = try JSONValue(parsing: body)
        #expect(throws: InvalidInput.self) { try AmityNetworkChange(json) }
    }

    @Test(arguments: [
        (Problem.notFound(), 404, 400_400), (.unauthorized(""), 401, 400_100), (.forbidden(""), 403, 400_301),
        (.tooManyRequests(retryAfter: .seconds(2)), 429, 400_311), (.contentTooLarge(limit: 1), 413, 400_000),
        (.conflict("limit-reached", ""), 400, 400_000), (.serviceUnavailable(), 503, 500_000),
        (.internalError, 500, 500_000), (.invalidBody("x"), 400, 400_000),
    ])
    func `each problem has a number of Amity's`(problem: Problem, status: Int, code: Int) {
        #expect(AmityAnswer.refusal(problem).status.code == status)
        #expect(AmityAnswer.code(of: problem.status) == code)
    }
}

extension ToggleQuestion {
    fileprivate static let aboutAMessage = ToggleQuestion(eventType: .messageSent, module: .chat, actorRoles: [])
}
