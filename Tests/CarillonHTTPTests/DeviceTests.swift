import CarillonCore
import CarillonTesting
import Crypto
import Foundation
import HTTPTypes
import Testing

@Suite(.acme) struct DeviceTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let apns = """
        {"userId":"alice","provider":"apns","appId":"com.acme.chat","environment":"production",\
        "token":"740F47C0FFEE740f47c0ffee0000f7a2","locale":"th-TH"}
        """

    @Test func `a device is registered, shown without its token, and unregistered`() async throws {
        let path = network.path("devices/d-1")
        let created = try await network.call(.put, path, Self.apns)
        #expect(created.status == 201)
        #expect(
            created.text == """
                {"id":"d-1","userId":"alice","provider":"apns","appId":"com.acme.chat","environment":"production",\
                "token":"…f7a2","locale":"th-TH","broadcasts":true,"state":"active","error":null,\
                "registeredAt":"2026-11-24T12:00:00.000Z","lastSeenAt":"2026-11-24T12:00:00.000Z"}
                """
        )
        try await api.database.advance(by: .seconds(60))
        let renewed = try await network.call(.put, path, Self.apns)
        #expect(renewed.status == 200 && renewed.string("lastSeenAt") == "2026-11-24T12:01:00.000Z")
        #expect(try await network.call(.get, path).text == renewed.text)
        let list = try await network.call(.get, "users/alice/devices")
        #expect(list.text == #"{"items":[\#(renewed.text)]}"#)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        let unknown = try await network.call(.get, "users/nobody/devices")
        #expect(unknown.status == 404)
    }

    @Test func `an admin registers what nobody owns, and leaves a device out of what is sent to everyone`() async throws
    {
        let path = network.path("devices/d-1")
        for body in [
            #"{"provider":"log","broadcasts":false}"#, #"{"userId":null,"provider":"log","broadcasts":false}"#,
        ] {
            let answer = try await network.call(.put, path, body)
            #expect(answer.status < 300)
            #expect(answer["userId"] == .null)
            #expect(answer["broadcasts"] == .bool(false))
            #expect(try await network.call(.get, path).text == answer.text)
        }
        let owned = try await network.call(.put, path, #"{"userId":"alice","provider":"log"}"#)
        #expect(owned.status == 200 && owned.string("userId") == "alice" && owned["broadcasts"] == .bool(true))
        let lines = #"{"device":{"id":"d-2","provider":"log","broadcasts":false}}"#
        let imported = try await network.call(.post, "import", lines, type: "application/x-ndjson")
        #expect(imported.status == 200)
        #expect(try await network.call(.get, "devices/d-2")["userId"] == .null)
    }

    @Test func `each provider's address is taken`() async throws {
        try await api.set(#"{"webPushHosts":["*"]}"#)
        let point = Tokens.base64URL(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        let auth = Tokens.base64URL([UInt8](repeating: 7, count: 16))
        let bodies = [
            #"{"userId":"a","provider":"log"}"#,
            #"{"userId":"a","provider":"fcm","token":"t:1_2-3","appId":"app"}"#,
            #"{"userId":"a","provider":"webhook","url":"https://hooks.acme.example:8443/in?x=1"}"#,
            """
            {"userId":"a","provider":"webpush","subscription":{"endpoint":"https://push.example/send/abcdefghijkl",\
            "expirationTime":null,"keys":{"p256dh":"\(point)","auth":"\(auth)=="}}}
            """,
            """
            {"userId":"a","provider":"webpush","subscription":{"endpoint":"http://127.0.0.1:9/abcdefghijkl",\
            "keys":{"p256dh":"\(point)","auth":"\(auth)"}}}
            """,
        ]
        for (index, body) in bodies.enumerated() {
            let answer = try await network.call(.put, "devices/d-\(index)", body)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(!answer.text.contains(auth) && !answer.text.contains(point) && !answer.text.contains("abcdefgh"))
        }
    }

    @Test(arguments: [
        ("{}", ["/provider"]), (#"{"provider":"log","broadcasts":1}"#, ["/broadcasts"]),
        (#"{"userId":"a","provider":"pager","token":"x"}"#, ["/provider"]),
        (#"{"userId":"me","provider":"log"}"#, ["/userId"]),
        (#"{"userId":"a","provider":"log","token":"x"}"#, ["/token"]),
        (#"{"userId":"a","provider":"apns"}"#, ["/token", "/appId", "/environment"]),
        (
            #"{"userId":"a","provider":"apns","token":"xyz","appId":"a","environment":"test"}"#,
            ["/token", "/environment"]
        ),
        (#"{"userId":"a","provider":"apns","token":"","appId":"a","environment":"sandbox"}"#, ["/token"]),
        (#"{"userId":"a","provider":"fcm","token":"","appId":""}"#, ["/token", "/appId"]),
        (#"{"userId":"a","provider":"fcm","token":"a b","appId":"x"}"#, ["/token"]),
        (#"{"userId":"a","provider":"webhook","url":"/relative"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"ftp://x/y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://u:p@x/y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://u@x/y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https:///y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://x/ y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://x:99999/"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://x/#y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"http://127.1/y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"http://0x7f000001/y"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://x.example:22/"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://[::ffff:10.0.0.1]/"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://10.1.2.3/in"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"http://169.254.169.254/latest/meta-data/"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"http://127.0.0.2/"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://[::1]/"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webhook","url":"https://[fd00::1]/"}"#, ["/url"]),
        (#"{"userId":"a","provider":"webpush"}"#, ["/subscription"]),
        (
            #"{"userId":"a","provider":"webpush","subscription":{"endpoint":"https://192.168.1.1/1","keys":{}}}"#,
            ["/subscription/endpoint"]
        ),
        (
            #"{"userId":"a","provider":"webpush","subscription":{"endpoint":"x","keys":{"p256dh":"AA","auth":"!"},"y":1}}"#,
            ["/subscription/endpoint", "/subscription/keys/p256dh", "/subscription/keys/auth", "/subscription/y"]
        ),
        (
            #"{"userId":"a","provider":"webpush","subscription":{"endpoint":"http://push.example/1","keys":{}}}"#,
            ["/subscription/endpoint", "/subscription/keys/p256dh", "/subscription/keys/auth"]
        ),
        (
            #"{"userId":"a","provider":"webpush","subscription":{"endpoint":"HTTP://127.0.0.1.example/1","keys":{}}}"#,
            ["/subscription/endpoint"]
        ),
        (#"{"userId":"a","provider":"log","locale":"??"}"#, ["/locale"]), ("[]", [""]),
    ])
    func `a bad device is 400 with every pointer`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.put, "devices/d", body)
        #expect(answer.refusal == "400 invalid-device")
        #expect(Set(pointers).isSubset(of: answer.pointers), "\(answer.text)")
    }

    @Test func `a point that is not on the curve is no key`() async throws {
        let point = Tokens.base64URL([4] + [UInt8](repeating: 1, count: 64))
        let body = """
            {"userId":"a","provider":"webpush","subscription":{"endpoint":"https://fcm.googleapis.com/1",\
            "keys":{"p256dh":"\(point)","auth":"BwcHBwcHBwcHBwcHBwcHBw"}}}
            """
        let answer = try await network.call(.put, "devices/d", body)
        #expect(answer.pointers == ["/subscription/keys/p256dh"])
    }

    @Test func `a token belongs to the device that registered it last`() async throws {
        #expect(try await network.call(.put, "devices/a", Self.apns).status == 201)
        #expect(try await network.call(.put, "devices/b", Self.apns).status == 201)
        #expect(try await network.call(.get, "devices/a").status == 404)
    }
}
