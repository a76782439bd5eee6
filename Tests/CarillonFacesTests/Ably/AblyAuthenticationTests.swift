import CarillonCore
import CarillonEdge
import CarillonTesting
import Crypto
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CarillonFaces

@Suite(.ably) struct AblyAuthenticationTests {
    private let ably: AblyService = lent()
    private static let list = "/push/deviceRegistrations"

    /// A token whose parts somebody wrote.
    private static func token(_ header: JSONValue, _ claims: JSONValue, secret: String = AblyService.secret) -> String {
        let text = Base64URL.encode(header.serialized) + "." + Base64URL.encode(claims.serialized)
        let key = SymmetricKey(data: Array(secret.utf8))
        return text + "." + Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }

    private static let claims: JSONValue = ["iat": 1_795_521_600, "exp": 1_795_522_200]

    private static let refused: [(what: String, token: String, error: [Int])] = [
        ("nothing", "", [401, 40101]), ("no token", "abc", [401, 40140]),
        ("a key's name that nobody has", AblyService.token("app1.none"), [401, 40140]),
        ("another secret", AblyService.token(secret: "another-secret-0123456789"), [401, 40140]),
        ("no algorithm", token(["alg": "none", "kid": "app1.admin"], claims), [401, 40140]),
        ("another algorithm", token(["alg": "HS512", "kid": "app1.admin"], claims), [401, 40140]),
        (
            "something that must be understood", token(["alg": "HS256", "kid": "app1.admin", "crit": ["x"]], claims),
            [401, 40140]
        ),
        ("no end", token(["alg": "HS256", "kid": "app1.admin"], ["iat": 1_795_521_600]), [401, 40140]),
        ("no key", token(["alg": "HS256"], claims), [401, 40140]),
        ("an end that is past", AblyService.token(lives: 0), [401, 40142]),
        ("a beginning that is yet to come", AblyService.token(and: ["nbf": 1_795_521_700]), [401, 40101]),
        ("a capability that is none", AblyService.token(and: ["x-ably-capability": "*"]), [401, 40101]),
        ("a client that is no text", AblyService.token(and: ["x-ably-clientId": 5]), [400, 40012]),
        ("a key of somebody who has not bound the application", AblyService.token("app1.stolen"), [404, 40400]),
        (
            "a device's token that a key has signed",
            AblyService.token(and: ["x-ably-deviceId": "d", "x-carillon-network": "acme", "jti": "x"]), [401, 40101]
        ),
    ]

    @Test func `tokens that prove nothing are refused, each with the code by which SDKs fetch another one or not`()
        async throws
    {
        for (what, token, error) in Self.refused {
            let headers = ["authorization": "Bearer \(token)"]
            let answer = try await ably.call(.get, Self.list, as: nil, headers: headers)
            #expect(answer.error == error, "\(what)")
        }
        for value in ["Digest x", "Bearer", "Bearer a b", "Basic"] {
            let answer = try await ably.call(.get, Self.list, as: nil, headers: ["authorization": value])
            #expect(answer.status == 401, "\(value)")
        }
    }

    @Test func `a token is taken as it is, in base64, and in the query`() async throws {
        let token = AblyService.token()
        #expect(try await ably.call(.get, Self.list, as: token).status == 200)
        let headers = ["authorization": "bearer \(token)"]
        #expect(try await ably.call(.get, Self.list, as: nil, headers: headers).status == 200)
        #expect(try await ably.call(.get, Self.list + "?access_token=\(token)", as: nil).status == 200)
        // What is sent as a header goes before.
        let query = Self.list + "?access_token=\(token)"
        #expect(try await ably.call(.get, query, as: AblyService.token(lives: 0)).error == [401, 40142])
        try await ably.stage.advance(by: .seconds(600))
        #expect(try await ably.call(.get, Self.list, as: token).error == [401, 40142])
    }

    @Test func `a key is taken over TLS and from this machine only`() async throws {
        @Sendable func basic(_ key: String) -> String { "Basic " + Base64URL.encode(key.utf8) }
        try await withAbly { (ably: AblyService) async throws in
            let headers = ["authorization": basic("app1.admin:\(AblyService.secret)"), "x-forwarded-proto": "https"]
            #expect(try await ably.call(.get, Self.list, as: nil, headers: headers).error == [401, 40103])
        }
        try await withAbly(.live) { (ably: AblyService) async throws in
            func status(_ key: String, _ headers: [String: String] = [:]) async throws -> [Int] {
                let all = headers.merging(["authorization": basic(key)]) { $1 }
                return try await ably.call(.get, Self.list, as: nil, headers: all).error
            }
            let key = "app1.admin:\(AblyService.secret)"
            #expect(try await status(key) == [200])
            #expect(try await status(key, ["x-forwarded-for": "203.0.113.9"]) == [401, 40103])
            #expect(try await status(key, ["x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"]) == [200])
            #expect(try await status(key, ["x-forwarded-proto": "http"]) == [401, 40103])
            #expect(try await status(key + "x") == [401, 40101])
            #expect(try await status("app1.none:\(AblyService.secret)") == [401, 40101])
            #expect(try await status("app1.admin") == [401, 40101])
            #expect(try await status("app1.stolen:\(AblyService.secret)") == [404, 40400])
        }
    }

    // MARK: requestToken

    /// A signed request.
    private static func request(
        ttl: String = "",
        capability: String = "",
        client: String = "",
        timestamp: Int64 = FaceStage.now.milliseconds,
        nonce: String = "nonce-0123456789"
    ) -> String {
        let signed = "app1.app\n\(ttl)\n\(capability)\n\(client)\n\(timestamp)\n\(nonce)\n"
        let key = SymmetricKey(data: Array(AblyService.secret.utf8))
        var body: JSONObject = [
            "keyName": "app1.app", "timestamp": .number(JSONNumber(Int(timestamp))), "nonce": .string(nonce),
            "mac": .string(
                Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)) + "="
            ),
        ]
        body["ttl"] = ttl.isEmpty ? .null : .number(JSONNumber(Int(ttl) ?? 0))
        body["capability"] = capability.isEmpty ? .null : .string(capability)
        body["clientId"] = client.isEmpty ? .null : .string(client)
        return JSONValue.object(body).serializedText
    }

    @Test func `a signed request is exchanged for a token once`() async throws {
        let path = "/keys/app1.app/requestToken"
        let capability = #"{"*":["*"]}"#
        let body = Self.request(ttl: "60000", capability: capability, client: "alice")
        let answer = try await ably.call(.post, path, body, as: nil)
        #expect(answer.status == 201)
        #expect(answer.string("keyName") == "app1.app" && answer.string("clientId") == "alice")
        #expect(answer.string("capability") == #"{"open:*":["publish","push-subscribe"]}"#, "cut to the key's")
        let issued = FaceStage.now.milliseconds
        #expect(answer["issued"] == JSONValue(Int(issued)) && answer["expires"] == JSONValue(Int(issued + 60_000)))
        #expect(try await ably.call(.post, path, body, as: nil).error == [401, 40105])
        let token = try #require(answer.string("token"))
        let message = try await ably.call(.post, "/channels/open:a/messages", "{}", as: token)
        #expect(message.status == 201)
        #expect(try await ably.call(.post, "/channels/else/messages", "{}", as: token).error == [401, 40160])
        try await ably.stage.advance(by: .seconds(60))
        #expect(try await ably.call(.post, "/channels/open:a/messages", "{}", as: token).error == [401, 40142])
    }

    @Test func `requests for tokens are refused that are forged, of another time, or for too much`() async throws {
        let forged = Self.request().replacing("app1.app", with: "app1.admin")
        let cases: [(body: String, error: [Int])] = [
            (Self.request(timestamp: FaceStage.now.milliseconds - 121_000, nonce: "a"), [401, 40104]),
            (Self.request(timestamp: FaceStage.now.milliseconds + 121_000, nonce: "b"), [401, 40104]),
            (Self.request(ttl: "86400001", nonce: "c"), [400, 40003]),
            (Self.request(ttl: "0", nonce: "d"), [400, 40003]),
            (Self.request(capability: #"{"else":["publish"]}"#, nonce: "e"), [401, 40160]),
            (Self.request(capability: "{", nonce: "f"), [400, 40001]),
            (Self.request(client: "me", nonce: "g"), [400, 40012]),
            (Self.request(nonce: "h").replacing("\"nonce\":\"h\"", with: "\"nonce\":\"i\""), [401, 40101]),
            (#"{"keyName":"app1.app","mac":"AAAA","nonce":"x","timestamp":1}"#, [401, 40101]),
            (#"{"keyName":"app1.app"}"#, [401, 40101]), (#"{"keyName":5}"#, [400, 40001]), (forged, [400, 40001]),
            (#"{"keyName":"app1.app","ttl":"soon"}"#, [400, 40001]), ("[]", [400, 40001]), ("{", [400, 40000]),
        ]
        for (body, error) in cases {
            let answer = try await ably.call(.post, "/keys/app1.app/requestToken", body, as: nil)
            #expect(answer.error == error, "\(body)")
        }
        #expect(try await ably.call(.post, "/keys/none/requestToken", Self.request(nonce: "z"), as: nil).status >= 400)
    }

    @Test func `the time is told to anybody`() async throws {
        let time = try await ably.call(.get, "/time", as: nil)
        #expect(time.json == [JSONValue(Int(FaceStage.now.milliseconds))])
        #expect(try await ably.call(.get, "/time?format=msgpack", as: nil).json == time.json)
    }
}
