import CarillonCore
import CarillonEdge
import CarillonTesting
import Crypto
import Testing

@testable import CarillonFaces

/// What a pushkey stands for, and what an admin may say of an app id.
@Suite struct MatrixPushkeyTests {
    private static let hex = String(repeating: "0aF9", count: 16)

    private static let tokens: [(String, MatrixBinding.PushkeyFormat, String?)] = [
        (hex, .auto, hex.lowercased()), (hex, .hex, hex.lowercased()), ("aBcD", .hex, "abcd"),
        ("AQID", .auto, "010203"),
        ("AQI=", .auto, "0102"), ("+/+/", .base64, "fbffbf"), ("-_-_", .auto, "fbffbf"), ("zz", .hex, nil),
        ("abc", .hex, nil), ("not a token!", .auto, nil), ("A", .auto, nil), ("A===", .base64, nil),
        (String(repeating: "ab", count: 101), .hex, nil),
    ]

    @Test(arguments: tokens)
    func `a token of Apple's`(_ pushkey: String, _ format: MatrixBinding.PushkeyFormat, _ token: String?) {
        #expect(MatrixPushkey.token(pushkey, format) == token)
    }

    @Test func `an app's id is the credential's where nothing else is said`() throws {
        let device = try Self.device(#""pushkey":"token""#)
        #expect(Self.read(device, #"{"provider":"fcm"}"#) == .address(.fcm(token: "token", appID: "org.app")))
        #expect(
            Self.read(
                try Self.device(#""pushkey":"AQID""#),
                #"{"provider":"apns","appId":"b","environment":"sandbox"}"#
            )
                == .address(.apns(token: "010203", appID: "b", environment: .sandbox))
        )
    }

    @Test func `a browser's subscription is in the data`() throws {
        let point = Base64URL.encode(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        let auth = Base64URL.encode([UInt8](repeating: 1, count: 16))
        func reading(_ data: String, _ binding: String = "", key: String = point) throws -> MatrixPushkey.Reading {
            let device = try Self.device(#""pushkey":"\#(key)","data":{\#(data)}"#)
            return Self.read(device, #"{"provider":"webpush"\#(binding)}"#)
        }
        let keys = #""endpoint":"https://push.example.org/1","auth":"\#(auth)""#
        let address = DeviceAddress.webpush(endpoint: "https://push.example.org/1", p256dh: point, auth: auth)
        #expect(try reading(keys) == .address(address))
        #expect(try reading(keys, #","allowedEndpoints":["*.example.org"]"#) == .address(address))
        #expect(try reading(keys, #","allowedEndpoints":["*.example.com"]"#) == .blocked)
        let elsewhere = #""endpoint":"https://push.example.com/1","auth":"\#(auth)""#
        #expect(try reading(elsewhere) == .blocked)
        let inside = #""endpoint":"https://10.0.0.1/1","auth":"\#(auth)""#
        #expect(try reading(inside, #","allowedEndpoints":["*"]"#) == .blocked)
        for bad in ["", #""endpoint":"https://push.example.org/1""#, #""endpoint":"nowhere","auth":"\#(auth)""#] {
            guard case .unusable = try reading(bad) else {
                Issue.record("\(bad) should be unusable")
                continue
            }
        }
        guard case .unusable = try reading(keys, key: "AQID") else {
            Issue.record("a point that is none should be unusable")
            return
        }
    }

    @Test func `what is unusable has an address of its own, which says nothing of it`() throws {
        let readings = try ["not a token!", "none either?"].map { key in
            Self.read(try Self.device(#""pushkey":"\#(key)""#), #"{"provider":"apns"}"#)
        }
        #expect(readings[0] != readings[1])
        guard case .unusable(let address) = readings[0], address.provider == .apns else {
            Issue.record("it should be unusable")
            return
        }
        #expect(address.text.utf8.count == 64)
    }

    private static let wrong = [
        ("{}", ["/provider"]), (#"{"provider":"log"}"#, ["/provider"]), (#"{"provider":7}"#, ["/provider"]),
        (#"{"provider":"apns","environment":"x"}"#, ["/environment"]),
        (#"{"provider":"apns","topic":"x"}"#, ["/topic"]),
        (#"{"provider":"apns","pushkeyFormat":"x"}"#, ["/pushkeyFormat"]),
        (#"{"provider":"apns","payload":"x"}"#, ["/payload"]), (#"{"provider":"apns","badge":1}"#, ["/badge"]),
        (#"{"provider":"apns","ttlSeconds":-1}"#, ["/ttlSeconds"]),
        (#"{"provider":"apns","pushType":"voip"}"#, ["/pushType"]),
        (#"{"provider":"webpush","allowedEndpoints":["a.*"]}"#, ["/allowedEndpoints/0"]),
        (#"{"provider":"webpush","allowFrom":["10.0.0.0/8","10.0.0.1/8"]}"#, ["/allowFrom/1"]),
        (#"{"provider":"webpush","gatewayKeyRequired":"yes"}"#, ["/gatewayKeyRequired"]),
    ]

    @Test func `what an admin says wrongly is refused`() async throws {
        try await withStage(MatrixFace.init) { stage in
            for (body, pointers) in Self.wrong {
                let wrong = try stage.settings(of: "app", body).wrong
                #expect(wrong.map(\.pointer) == pointers, "\(body)")
            }
        }
    }

    @Test func `what holds is shown, and read back as it was said`() async throws {
        let whole = """
            {"provider":"apns","appId":"b","environment":"sandbox","pushkeyFormat":"hex","payload":"buzz","badge":false,"sound":true,
            "pushType":"background","ttlSeconds":5,"retired":false,"gatewayKeyRequired":true,"allowFrom":["203.0.113.0/24"],
            "requestsPerSecond":7}
            """
        try await withStage(MatrixFace.init) { stage in
            let settings = try #require(try stage.settings(of: "app", whole).settings)
            #expect(settings.isPrivate)
            #expect(JSONValue.object(settings.document) == (try JSONValue(parsing: whole)))
            let least = try #require(try stage.settings(of: "app", #"{"provider":"fcm"}"#).settings)
            #expect(!least.isPrivate)
            #expect(least.document["ttlSeconds"] == 86_400)
            #expect(least.document["payload"] == "sygnal")
            let gone = try #require(try stage.settings(of: "app", #"{"retired":true}"#).settings)
            #expect(MatrixBinding(stored: gone.document).isRetired)
        }
    }

    private static func device(_ members: String) throws -> MatrixNotification.Device {
        let body = #"{"notification":{"devices":[{"app_id":"org.app",\#(members)}]}}"#
        return try MatrixNotification(body: Array(body.utf8)).devices[0]
    }

    private static func read(_ device: MatrixNotification.Device, _ binding: String) -> MatrixPushkey.Reading {
        guard case .object(let settings)? = try? JSONValue(parsing: binding) else { return .blocked }
        let binding = MatrixBinding(stored: settings)
        return MatrixPushkey(egress: EgressGuard())
            .reading(of: device, binding, binding.provider ?? .log, hosts: WebPushHosts(["push.example.org"]))
    }
}
