import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonTesting
import Crypto
import HTTPTypes
import Testing

@Suite(.acme) struct AuthenticationTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test(arguments: [
        nil, "", "Basic YTpi", "Bearer", "Bearer ", "Bearer x", "Bearer ck_a_b_c", "Bearer ck_", "bearer a.b.c",
    ])
    func `no credentials and garbage are 401`(authorization: String?) async throws {
        let headers = authorization.map { ["authorization": $0] } ?? [:]
        for path in [
            network.path("api-keys"), "/v1/networks", "/v1/networks/nobody/api-keys",
            network.path("users/me/devices"),
        ] {
            let answer = try await api.call(.get, path, headers: headers)
            #expect(answer.refusal == "401 unauthorized")
            #expect(answer.headers[.wwwAuthenticate] == "Bearer")
        }
    }

    @Test func `several spaces are between the scheme and the token`() async throws {
        let headers = ["authorization": "bearer   \(network.adminKey)"]
        #expect(try await api.call(.get, network.path("api-keys"), headers: headers).status == 200)
    }

    @Test func `the operator may everything, and unknown networks are 404`() async throws {
        for token in [TestAPI.operatorToken, TestAPI.formerOperatorToken] {
            #expect(try await network.call(.get, "api-keys", as: token).status == 200)
            #expect(try await network.call(.get, "api-keys", as: token + "x").status == 401)
        }
        let unknown = try await api.call(.get, "/v1/networks/nobody/api-keys", as: TestAPI.operatorToken)
        #expect(unknown.status == 404)
    }

    @Test func `valid credentials of one network are 404 on every other`() async throws {
        let other = try await api.makeNetwork("other")
        for token in [network.adminKey, network.token()] {
            for path in ["api-keys", "events", "users/me/notifications", "devices/d", "notifications"] {
                let answer = try await other.call(.get, path, as: token)
                #expect(answer.status == 404)
            }
            #expect(try await api.call(.get, "/v1/networks/nobody/events", as: token).status == 404)
        }
        let event = try await network.call(.post, other.path("events"), "{}")
        #expect(event.status == 404)
    }

    @Test func `networks are for operators only`() async throws {
        _ = try await api.makeNetwork("other")
        for (method, path, status) in [
            (HTTPRequest.Method.get, "/v1/networks", 403), (.post, "/v1/networks", 403),
            (.get, "/v1/networks/acme", 200), (.delete, "/v1/networks/acme", 403),
            (.get, "/v1/networks/other", 404), (.delete, "/v1/networks/other", 404),
        ] {
            let answer = try await network.call(method, path)
            #expect(answer.status == status, "\(method) \(path)")
        }
    }

    @Test func `an app key registers and unregisters devices and nothing else`() async throws {
        let key = try await api.makeKey("device", in: network)
        let device = #"{"userId":"alice","provider":"fcm","token":"t","appId":"app"}"#
        #expect(try await network.call(.put, "devices/d", device, as: key).status == 403)
        try await api.set(#"{"deviceRegistration":"appKey"}"#)
        #expect(try await network.call(.put, "devices/d", device, as: key).status == 201)
        #expect(try await network.call(.get, "devices/d", as: key).status == 403)
        #expect(try await network.call(.get, "users/alice/devices", as: key).status == 403)
        #expect(try await network.call(.get, "users/alice/notifications", as: key).status == 403)
        #expect(try await network.call(.get, "events", as: key).status == 403)
        #expect(try await network.call(.post, "events", "{}", as: key).status == 403)
        #expect(try await network.call(.get, "api-keys", as: key).status == 403)
        #expect(try await network.call(.delete, "devices/d", as: key).status == 204)
    }

    @Test func `an events key posts events and nothing else`() async throws {
        let key = try await api.makeKey("events", in: network)
        #expect(try await network.call(.post, "events", #"{"id":"1","type":"x"}"#, as: key).status == 202)
        #expect(try await network.call(.get, "events", as: key).status == 403)
        #expect(try await network.call(.put, "devices/d", "{}", as: key).status == 403)
        #expect(try await network.call(.delete, "devices/d", as: key).status == 403)
    }

    @Test func `a notify key may do nothing of what the others may`() async throws {
        let key = try await api.makeKey("notify", in: network)
        for path in ["events", "users/alice/devices", "users/alice/notifications", "api-keys", "providers"] {
            #expect(try await network.call(.get, path, as: key).status == 403)
        }
        #expect(try await network.call(.post, "events", "{}", as: key).status == 403)
        #expect(try await network.call(.put, "devices/d", "{}", as: key).status == 403)
        #expect(try await network.call(.delete, "devices/d", as: key).status == 403)
    }

    @Test func `a revoked key is refused at once`() async throws {
        let made = try await network.call(.post, "api-keys", #"{"role":"admin","label":"x"}"#)
        let key = try #require(made.string("apiKey"))
        let id = try #require(made.string("id"))
        #expect(try await network.call(.get, "api-keys", as: key).status == 200)
        #expect(try await network.call(.delete, "api-keys/\(id)").status == 204)
        #expect(try await network.call(.get, "api-keys", as: key).status == 401)
        #expect(try await network.call(.delete, "api-keys/\(id)").status == 404)
    }

    @Test func `keys are listed without their secret`() async throws {
        let key = try await api.makeKey("device", in: network)
        let list = try await network.call(.get, "api-keys")
        let secrets = [key, network.adminKey].map { $0.split(separator: "_")[2] }
        #expect(!secrets.contains { list.text.contains($0) })
        #expect(list["items", "1", "role"] != nil)
        #expect(list["items", "0", "apiKey"] == nil)
    }

    @Test func `a key with another secret is 401`() async throws {
        var parts = network.adminKey.split(separator: "_").map(String.init)
        parts[2] = String(parts[2].reversed())
        let answer = try await network.call(.get, "api-keys", as: parts.joined(separator: "_"))
        #expect(answer.status == 401)
    }

    @Test func `a user token opens the user's own toggles and devices`() async throws {
        for path in [
            "users/me/notifications", "users/alice/notifications", "users/me/channels/c/notifications",
            "users/me/devices",
        ] {
            #expect(try await network.call(.get, path, as: network.token()).status == 200, "\(path)")
        }
        for path in ["users/bob/notifications", "users/me", "notifications", "events", "templates"] {
            #expect(try await network.call(.get, path, as: network.token()).status == 403, "\(path)")
        }
        #expect(try await network.call(.get, "users/bob/devices", as: network.token()).status == 404)
        #expect(try await network.call(.get, "users/me/notifications").status == 403)
    }

    @Test(arguments: [
        Tokens.claims(expiresIn: 0), Tokens.claims(expiresIn: -1), Tokens.claims(network: "acme2"),
        #"{"sub":"alice","aud":"carillon:acme"}"#, #"{"aud":"carillon:acme","exp":9999999999}"#,
        #"{"sub":"alice","exp":9999999999}"#, #"{"sub":"alice","aud":"acme","exp":9999999999}"#,
        #"{"sub":"me","aud":"carillon:acme","exp":9999999999}"#, #"{"sub":"","aud":"carillon:acme","exp":9999999999}"#,
        #"{"sub":7,"aud":"carillon:acme","exp":9999999999}"#, #"{"sub":"alice","aud":"carillon:acme","exp":"never"}"#,
        Tokens.claims(more: #","nbf":9999999999"#), Tokens.claims(more: #","iat":9999999999"#),
        Tokens.claims(more: #","nbf":null"#), Tokens.claims(more: #","sub":"bob""#), "[]", "",
    ])
    func `a user token with wrong claims is 401`(claims: String) async throws {
        let token = Tokens.hs256(claims, secret: network.userTokenSecret)
        let answer = try await network.call(.get, "users/me/notifications", as: token)
        #expect(answer.status == 401)
    }

    private static let complaints: [(claims: String, reason: String)] = [
        (#"{"sub":"alice","aud":"acme","exp":9999999999}"#, #""aud" must be "carillon:acme", is "acme""#),
        (Tokens.claims(network: "other"), #""aud" must be "carillon:acme", is "carillon:other""#),
        (#"{"sub":"alice","exp":9999999999}"#, #""aud" is missing, must be "carillon:acme""#),
        (Tokens.claims(expiresIn: -10), "expired 10 s ago"),
        (#"{"sub":"alice","aud":"carillon:acme"}"#, #""exp" is missing"#),
        (
            #"{"sub":"alice","aud":"carillon:acme","exp":"never"}"#,
            #""exp" must be a number of seconds since 1970, is "never""#
        ),
        (#"{"aud":"carillon:acme","exp":9999999999}"#, #""sub" is missing"#),
        (#"{"sub":"me","aud":"carillon:acme","exp":9999999999}"#, #""sub" must be a user's id, is "me""#),
        (
            Tokens.claims(more: #","nbf":\#(TestAPI.now.milliseconds / 1000 + 30)"#),
            #""nbf" is 30 s ahead of the service's clock"#
        ),
        ("[]", "the token is no JWT"),
    ]

    @Test(arguments: complaints.indices)
    func `a refused user token is told which claim is wrong, and so is the log`(index: Int) async throws {
        let (claims, reason) = Self.complaints[index]
        let log = CollectedLog()
        try await withAPI(logger: log.logger) { api in
            let network = try await api.makeNetwork()
            for secret in [network.userTokenSecret, String(repeating: "x", count: 32)] {
                let token = Tokens.hs256(claims, secret: secret)
                let answer = try await network.call(.get, "users/me/notifications", as: token)
                #expect(answer.status == 401)
                #expect(answer.string("detail") == reason)
            }
            #expect(log.lines("A caller was refused").first?["reason"] == reason)
            #expect(!log.text.contains(Tokens.hs256(claims, secret: network.userTokenSecret)))
        }
    }

    @Test func `a token of right claims is told of its signature, be there such a network or not`() async throws {
        for name in ["acme", "nobody"] {
            let token = Tokens.hs256(Tokens.claims(network: name), secret: String(repeating: "x", count: 32))
            for path in ["/v1/networks/\(name)/users/me/notifications", "/v1/whoami"] {
                let answer = try await api.call(.get, path, as: token)
                #expect(answer.string("detail") == "the signature is not that of a key of this network")
            }
        }
        let claims = #"{"sub":"a","aud":"acme"}"#
        let nowhere = try await api.call(.get, "/v1/whoami", as: Tokens.hs256(claims, secret: "s"))
        #expect(nowhere.string("detail") == #""aud" must be "carillon:" and a network's id, is "acme""#)
    }

    @Test(arguments: [
        Tokens.claims(more: #","nbf":1,"iat":\#(TestAPI.now.milliseconds / 1000 - 60),"name":"x""#),
        #"{"sub":"alice","aud":["else","carillon:other","carillon:acme"],"exp":\#(TestAPI.now.milliseconds / 1000).5}"#,
    ])
    func `a user token with right claims is accepted`(claims: String) async throws {
        let token = Tokens.hs256(claims, secret: network.userTokenSecret)
        let answer = try await network.call(.get, "users/me/notifications", as: token)
        #expect(answer.status == 200)
    }

    @Test func `the token's algorithm never decides`() async throws {
        let claims = Tokens.claims()
        let wrong = [
            Tokens.unsigned(claims),
            Tokens.hs256(claims, secret: network.userTokenSecret, header: #"{"alg":"none"}"#),
            Tokens.hs256(claims, secret: network.userTokenSecret, header: #"{"alg":"HS512"}"#),
            Tokens.hs256(claims, secret: network.userTokenSecret, header: #"{"alg":"HS256","crit":["exp"]}"#),
            Tokens.hs256(claims, secret: network.userTokenSecret, header: "{}"),
            Tokens.hs256(claims, secret: "another secret of the right length, surely"),
            Tokens.hs256(claims, secret: network.userTokenSecret) + "=",
            Tokens.hs256(claims, secret: network.userTokenSecret) + ".x",
        ]
        for token in wrong {
            let answer = try await network.call(.get, "users/me/notifications", as: token)
            #expect(answer.status == 401)
        }
    }

    @Test func `an uploaded public key replaces the secret, and cannot be used as one`() async throws {
        let key = P256.Signing.PrivateKey()
        let pem = key.publicKey.pemRepresentation
        let body = (["algorithm": "ES256", "publicKey": .string(pem)] as JSONValue).serializedText
        #expect(try await network.call(.put, "user-token-key", body).status == 200)
        let path = network.path("users/me/notifications")
        let claims = Tokens.claims()
        #expect(try await api.call(.get, path, as: Tokens.es256(claims, key: key)).status == 200)
        #expect(try await api.call(.get, path, as: Tokens.es256(claims, key: key, der: true)).status == 401)
        #expect(try await api.call(.get, path, as: Tokens.es256(claims, key: .init())).status == 401)
        #expect(try await api.call(.get, path, as: network.token()).status == 401)
        #expect(try await api.call(.get, path, as: Tokens.hs256(claims, secret: pem)).status == 401)
        let shown = try await network.call(.get, "user-token-key")
        #expect(shown.string("publicKey") == pem)
        #expect(try await network.call(.delete, "user-token-key").status == 204)
        #expect(try await api.call(.get, path, as: Tokens.es256(claims, key: key)).status == 401)
        #expect(try await network.call(.get, "user-token-key").status == 404)
    }

    @Test(arguments: [
        (#"{}"#, "/algorithm"), (#"{"algorithm":"none"}"#, "/algorithm"), (#"{"algorithm":"HS256"}"#, "/secret"),
        (#"{"algorithm":"HS256","secret":"short"}"#, "/secret"),
        (#"{"algorithm":"ES256","publicKey":"x"}"#, "/publicKey"),
        (
            #"{"algorithm":"RS256","publicKey":"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"}"#,
            "/publicKey"
        ),
        (#"{"algorithm":"ES256","publicKey":"x","secret":"y"}"#, "/secret"),
    ])
    func `a user token key that cannot be used is 400`(body: String, pointer: String) async throws {
        let answer = try await network.call(.put, "user-token-key", body)
        #expect(answer.status == 400)
        #expect(answer.pointers.contains(pointer))
    }

    @Test func `an HS256 secret can be set and is never shown`() async throws {
        let secret = "0123456789abcdef0123456789abcdef"
        let body = #"{"algorithm":"HS256","secret":"\#(secret)"}"#
        let answer = try await network.call(.put, "user-token-key", body)
        #expect(answer.text == #"{"algorithm":"HS256"}"#)
        let token = Tokens.hs256(Tokens.claims(), secret: secret)
        #expect(try await network.call(.get, "users/me/notifications", as: token).status == 200)
    }

    @Test func `after a rotation both webhook secrets verify until the overlap ends`() async throws {
        let rotated = try await network.call(.post, "webhook-secrets/rotate", #"{"overlapSeconds":60}"#)
        #expect(rotated.status == 201)
        var new = network
        new.webhookSecret = try #require(rotated.string("webhookSecret"))
        let body = #"{"id":"1","type":"x"}"#
        for credentials in [network, new] {
            let headers = try credentials.signature(of: body)
            #expect(try await api.call(.post, network.path("events"), body, headers: headers).status == 202)
        }
        try await api.database.advance(by: .seconds(61))
        let moment = api.now
        let old = try network.signature(of: body, at: moment)
        #expect(try await api.call(.post, network.path("events"), body, headers: old).status == 401)
        let current = try new.signature(of: body, at: moment)
        #expect(try await api.call(.post, network.path("events"), body, headers: current).status == 202)
    }

    @Test(arguments: [#"{"overlapSeconds":-1}"#, #"{"overlapSeconds":604801}"#, #"{"overlap":1}"#, "[]"])
    func `a bad overlap is 400`(body: String) async throws {
        for path in ["webhook-secrets/rotate", "providers/webhook/secret"] {
            let answer = try await network.call(.post, path, body)
            #expect(answer.status == 400)
        }
    }
}
