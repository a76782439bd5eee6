import CarillonSimulator
import CarillonTesting
import Testing
import _CryptoExtras

@Suite(.bench) struct FCMTests {
    private let bench: Bench = lent()

    @Test(arguments: [
        (["aud": "https://oauth2.example.com/token"], "invalid_grant"),
        (["iss": "somebody@example.com"], "invalid_grant"),
        (["scope": "https://www.googleapis.com/auth/drive"], "invalid_scope"),
    ])
    func `gives no access token for claims that are wrong`(claims: [String: String], error: String) async throws {
        let assertion = try Token.assertion(bench.simulator.serviceAccountJSON, claims)
        let answer = try await bench.requestToken(assertion)
        #expect(answer.status == 400)
        #expect(answer["error"] == error)
        #expect(bench.simulator.accessTokensIssued == 0)
    }

    @Test(arguments: [(-7200, -3600), (0, 3601), (3000, 6000)])
    func `gives no access token out of time`(issued: Int, expires: Int) async throws {
        let claims = ["iat": Token.now + issued, "exp": Token.now + expires]
        let answer = try await bench.requestToken(try Token.assertion(bench.simulator.serviceAccountJSON, claims))
        #expect(answer.status == 400)
        #expect(answer["error"] == "invalid_grant")
    }

    @Test func `gives no access token for a signature that is another's, or for what is no assertion`() async throws {
        let another = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let forged = try Token.assertion(bench.simulator.serviceAccountJSON, signedBy: another)
        #expect(try await bench.requestToken(forged)["error_description"] == "Invalid JWT Signature.")
        #expect(try await bench.requestToken("rubbish")["error"] == "invalid_request")
    }

    @Test func `takes messages with an access token, over HTTP/2 and HTTP/1.1`() async throws {
        for http1 in [false, true] {
            try await withBench(http1: http1) { bench in
                let granted = try await bench.requestToken()
                #expect(granted.status == 200)
                #expect(granted["expires_in"] == "3599")
                #expect(granted["token_type"] == "Bearer")
                let token = SimulatedToken.fcm()
                let message = Bench.message(to: token, #""data":{"notificationId":"n-1"},"android":{"ttl":"60s"}"#)
                let answer = try await bench.send(message, accessToken: granted["access_token"] ?? "")
                #expect(answer.status == 200)
                #expect(answer["name"]?.hasPrefix("projects/simulated-project/messages/") == true)
                let notification = try #require(bench.simulator.received.notifications.first)
                #expect(notification.service == .fcm)
                #expect(notification.deviceToken == token)
                #expect(notification.notificationID == "n-1")
                #expect(notification.title == "Bob")
                #expect(notification.body == "Hello")
                #expect(bench.simulator.accessTokensIssued == 1)
            }
        }
    }

    @Test func `refuses access tokens that are unknown, revoked or expired`() async throws {
        try await withBench { bench in
            let message = Bench.message(to: SimulatedToken.fcm())
            #expect(try await bench.send(message, accessToken: "ya29.unknown").status == 401)
            let token = try await bench.accessToken()
            #expect(try await bench.send(message, accessToken: token).status == 200)
            bench.simulator.revokeAccessTokens()
            #expect(try await bench.send(message, accessToken: token).status == 401)
        }
        try await withBench({ $0.accessTokenLifetime = .zero }) { bench in
            let token = try await bench.accessToken()
            #expect(try await bench.send(Bench.message(to: "device-1"), accessToken: token).status == 401)
        }
    }

    @Test func `refuses other projects and paths`() async throws {
        let token = try await bench.accessToken()
        let message = Bench.message(to: SimulatedToken.fcm())
        let project = "\(bench.simulator.urls.fcm)/v1/projects/another/messages:send"
        #expect(try await bench.send(message, accessToken: token, url: project).status == 403)
        let path = "\(bench.simulator.urls.fcm)/v2/projects/simulated-project/messages:send"
        #expect(try await bench.send(message, accessToken: token, url: path).status == 404)
    }

    @Test func `answers every error to the token that asks for it`() async throws {
        let expected: [FCMRefusal: (UInt, String?)] = [
            .unregistered: (404, "UNREGISTERED"), .invalidToken: (400, "INVALID_ARGUMENT"),
            .invalidArgument: (400, "INVALID_ARGUMENT"), .tooBig: (400, nil),
            .senderMismatch: (403, "SENDER_ID_MISMATCH"), .thirdPartyAuth: (401, "THIRD_PARTY_AUTH_ERROR"),
            .unauthenticated: (401, nil), .permissionDenied: (403, nil), .notFound: (404, nil),
            .quotaProject: (429, "QUOTA_EXCEEDED"), .quotaDevice: (429, "QUOTA_EXCEEDED"), .internal: (500, "INTERNAL"),
            .unavailable: (503, "UNAVAILABLE"), .unspecified: (500, "UNSPECIFIED_ERROR"), .badGateway: (502, nil),
            .gatewayTimeout: (504, nil),
        ]
        let token = try await bench.accessToken()
        for refusal in FCMRefusal.allCases {
            let message = Bench.message(to: SimulatedToken.fcm(refusal.tokenPrefix))
            let answer = try await bench.send(message, accessToken: token)
            #expect(answer.status == expected[refusal]?.0, "\(refusal)")
            #expect(answer.fcmErrorCode == expected[refusal]?.1, "\(refusal)")
            #expect((answer.violatedField == "message.token") == (refusal == .invalidToken), "\(refusal)")
            let isPage = answer.header("content-type")?.hasPrefix("text/html") == true
            #expect(isPage == [.badGateway, .gatewayTimeout].contains(refusal))
        }
        let unknown = try await bench.send(Bench.message(to: "status-418-x"), accessToken: token)
        #expect(unknown.status == 418)
        #expect(unknown.fcmErrorCode == "SOMETHING_NEW")
    }

    @Test(arguments: [
        (#""data":{"count":1}"#, "message.data[0].value"), (#""data":{"google.c":"1"}"#, "message.data"),
        (#""data":{"from":"1"}"#, "message.data"), (#""android":{"ttl":"60"}"#, "message.android.ttl"),
        (#""android":{"priority":"high"}"#, "message.android.priority"), (#""topic":"news""#, "message"),
        (#""colour":"red""#, "message"),
    ])
    func `refuses messages that are wrong, and says where`(members: String, field: String) async throws {
        let message = Bench.message(to: SimulatedToken.fcm(), members)
        let answer = try await bench.send(message, accessToken: try await bench.accessToken())
        #expect(answer.status == 400)
        #expect(answer.fcmErrorCode == "INVALID_ARGUMENT")
        #expect(answer.violatedField == field)
    }

    @Test func `refuses a message that is too big, a token with a space, and what is no JSON`() async throws {
        let accessToken = try await bench.accessToken()
        let big = #""data":{"text":"\#(String(repeating: "x", count: 4096))"}"#
        #expect(try await bench.send(Bench.message(to: "d", big), accessToken: accessToken).status == 400)
        let malformed = try await bench.send(Bench.message(to: "a b"), accessToken: accessToken)
        #expect(malformed.violatedField == "message.token")
        #expect(try await bench.send("{", accessToken: accessToken).status == 400)
    }
}
