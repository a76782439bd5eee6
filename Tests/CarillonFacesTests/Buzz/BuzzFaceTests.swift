import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Hummingbird
import Testing

@testable import CarillonFaces

@Suite(.timeLimit(.minutes(1))) struct BuzzFaceTests {
    private static let path = "/api/MobilePhoneNotificationToken"
    private static let application = "com.namaka.buzzclient.custom"

    private static func body(_ type: String = "0", token: String = "AB12", application: String = application) -> String
    {
        #"{"applicationId":"\#(application)","type":\#(type),"debugBuild":true,"token":"\#(token)"}"#
    }

    private func withBuzz(
        network: Network = Network(id: "acme", createdAt: FaceStage.now),
        asker: any UserTokenAsker = NobodyToAsk(),
        _ test: @Sendable (FaceStage) async throws -> Void
    ) async throws {
        let binding = FaceBinding(
            face: .buzz,
            externalID: Self.application,
            networkID: "acme",
            settings: ["ios": ["appId": "ios.app"], "android": ["appId": "android.app"]],
            updatedAt: FaceStage.now
        )
        try await withStage({ BuzzFace($0) }, networks: [network], bindings: [binding], asker: asker, test)
    }

    private static let refused = [
        ("{}", 400), ("[]", 400), ("x", 400), (body("2"), 400), (body("\"0\""), 400), (body("-1"), 400),
        (body(token: "xyz"), 400), (body("1", token: "a b"), 400), (body(token: ""), 400),
        (body(application: "com.unknown"), 404),
    ]

    @Test func `what is no registration of a bound application is refused in Buzz's words`() async throws {
        try await withBuzz { api in
            for (body, status) in Self.refused {
                let answer = try await api.call(.put, Self.path, body, as: api.token())
                #expect(answer.status == status, "\(body)")
                #expect(answer.string("message") != nil, "\(body)")
            }
        }
    }

    @Test func `only a user's own token registers`() async throws {
        try await withBuzz { api in
            for (token, status) in [(nil, 401), ("opaque", 401), (api.token(expiresIn: -1), 401), (api.adminKey, 403)] {
                let answer = try await api.call(.put, Self.path, Self.body(), as: token)
                #expect(answer.status == status && answer["message"] != nil)
            }
            #expect(try await api.devices(of: "alice").isEmpty)
            #expect(try await api.call(.post, Self.path, Self.body(), as: api.token()).status == 405)
        }
    }

    @Test func `the device is the one of the address, and whoever logs in last has it`() async throws {
        try await withBuzz { api in
            let address = DeviceAddress.apns(token: "ab12", appID: "ios.app", environment: .sandbox)
            for user in ["alice", "bob"] {
                let answer = try await api.call(.put, Self.path, Self.body(), as: api.token(for: user))
                #expect(answer.status == 200 && answer.text == "{}")
                let device = try await api.device(DeviceID(reachedAt: address))
                #expect(device?.address == address && device?.userID == UserID(trusted: user))
            }
            #expect(try await api.devices(of: "alice").isEmpty)
            _ = try await api.call(.put, Self.path, Self.body("1", token: "f:X"), as: api.token())
            let android = DeviceAddress.fcm(token: "f:X", appID: "android.app")
            #expect(try await api.devices(of: "alice").map(\.address) == [android])
        }
    }

    @Test func `the homeserver says whose token it is`() async throws {
        let network = Network(
            id: "acme",
            introspection: UserTokenIntrospection(url: "https://hs.example/whoami", userIDPointer: "/user_id"),
            createdAt: FaceStage.now
        )
        let asker = KnownTokens(["syt_token": "@alice:example.org"])
        try await withBuzz(network: network, asker: asker) { api in
            #expect(try await api.call(.put, Self.path, Self.body(), as: "syt_other").status == 401)
            #expect(try await api.call(.put, Self.path, Self.body(), as: "syt_token").status == 200)
            let devices = try await api.devices(of: "@alice:example.org")
            #expect(devices.count == 1)
        }
    }

    @Test(arguments: [
        ("{}", Optional(BuzzApps(document: JSONObject(), applicationID: "a"))),
        (#"{"ios":{"appId":"i"}}"#, BuzzApps(document: ["ios": ["appId": "i"]], applicationID: "a")),
        (#"{"ios":{}}"#, nil), (#"{"ios":"i"}"#, nil), (#"{"android":{"appId":7}}"#, nil),
        (#"{"ios":{"appId":"i","environment":"sandbox"}}"#, nil), (#"{"apps":[]}"#, nil),
    ])
    func `an app is the application unless it is said otherwise`(body: String, expected: BuzzApps?) throws {
        let errors = InputErrors()
        var reader = JSONObjectReader(try JSONValue(parsing: body), unknown: .refuse, into: errors)
        let apps = BuzzApps(&reader, applicationID: "a")
        reader.finish()
        #expect((errors.isEmpty ? apps : nil) == expected)
    }
}
