import CarillonCore
import CarillonTesting
import Crypto
import HTTPTypes
import Testing

/// How keys of user tokens are changed, and how long tokens may live (API section 2).
@Suite struct UserTokenKeyTests {
    @Test func `tokens of both keys are valid while one is changed for the other`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = "/v1/networks/acme/users/me/notifications"
            // Keys are listed in the order of their making.
            try await api.database.advance(by: .milliseconds(1))
            let made = try await api.call(
                .post,
                network.path("user-token-keys"),
                #"{"algorithm":"HS256"}"#,
                as: network.adminKey
            )
            #expect(made.status == 201)
            let secret = try #require(made.string("secret"))
            let new = Tokens.hs256(Tokens.claims(), secret: secret)
            let old = network.token()
            #expect(try await api.call(.get, path, as: old).status == 200)
            #expect(try await api.call(.get, path, as: new).status == 200)
            let list = try await api.call(.get, network.path("user-token-keys"), as: network.adminKey)
            #expect(!list.text.contains(secret))
            #expect(list["items", "1", "id"] == made["id"])
            guard case .string(let former)? = list["items", "0", "id"] else {
                Issue.record("the first key has no id")
                return
            }
            let removal = network.path("user-token-keys/\(former)")
            #expect(try await api.call(.delete, removal, as: network.adminKey).status == 204)
            #expect(try await api.call(.delete, removal, as: network.adminKey).status == 404)
            #expect(try await api.call(.get, path, as: old).status == 401)
            #expect(try await api.call(.get, path, as: new).status == 200)
        }
    }

    @Test func `admins make tokens of users, as long as the network lets them live`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("user-tokens")
            let made = try await api.call(.post, path, #"{"userId":"bob"}"#, as: network.adminKey)
            #expect(made.status == 201)
            #expect(made.string("expiresAt") == (TestAPI.now + .seconds(3_600)).description)
            let own = try await api.call(.get, "/v1/whoami", as: made.string("token"))
            #expect(own.text == #"{"role":"user","network":"acme","userId":"bob"}"#)
            let minute = #"{"userId":"bob","lifetimeSeconds":60}"#
            let brief = try await api.call(.post, path, minute, as: TestAPI.operatorToken)
            #expect(brief.string("expiresAt") == (TestAPI.now + .seconds(60)).description)
            for body in [
                #"{"userId":"bob","lifetimeSeconds":86401}"#, #"{"userId":"bob","lifetimeSeconds":0}"#,
                #"{"userId":"me"}"#, "{}", #"{"userId":"bob","for":1}"#,
            ] {
                #expect(try await api.call(.post, path, body, as: network.adminKey).status == 400, "\(body)")
            }
            #expect(try await api.call(.post, path, #"{"userId":"bob"}"#, as: network.token()).status == 403)
            #expect(try await api.call(.delete, network.path("user-token-key"), as: network.adminKey).status == 204)
            let unsigned = try await api.call(.post, path, #"{"userId":"bob"}"#, as: network.adminKey)
            #expect(unsigned.problem == "no-shared-secret")
        }
    }

    @Test func `a public key stands beside a secret`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let key = P256.Signing.PrivateKey()
            let pem = key.publicKey.pemRepresentation.replacing("\n", with: "\\n")
            let body = #"{"algorithm":"ES256","publicKey":"\#(pem)"}"#
            let added = try await api.call(.post, network.path("user-token-keys"), body, as: network.adminKey)
            #expect(added.status == 201)
            #expect(added["secret"] == nil)
            let path = "/v1/networks/acme/users/me/notifications"
            let token = try Tokens.es256(Tokens.claims(), key: key)
            #expect(try await api.call(.get, path, as: token).status == 200)
            #expect(try await api.call(.get, path, as: network.token()).status == 200)
        }
    }

    @Test func `a network has a bounded number of keys, and unusable ones are refused`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("user-token-keys")
            for _ in 0..<4 {
                let answer = try await api.call(.post, path, #"{"algorithm":"HS256"}"#, as: network.adminKey)
                #expect(answer.status == 201)
            }
            let more = try await api.call(.post, path, #"{"algorithm":"HS256"}"#, as: network.adminKey)
            #expect(more.problem == "limit-reached")
            for body in [
                #"{"algorithm":"ES256","publicKey":"no key"}"#, #"{"algorithm":"HS256","secret":"short"}"#,
                #"{"algorithm":"none"}"#, #"{"algorithm":"ES256"}"#,
            ] {
                let answer = try await api.call(.post, path, body, as: network.adminKey)
                #expect(answer.status == 400)
            }
            let missing = network.path("user-token-keys/nothing")
            #expect(try await api.call(.delete, missing, as: network.adminKey).status == 404)
            #expect(try await api.call(.get, path, as: network.token()).status == 403)
        }
    }

    @Test(arguments: [
        (Int64(86_400), "", 200), (86_500, "", 401), (600, #","iat":-86000"#, 401), (600, #","iat":-600"#, 200),
        (Int64.max / 4096, "", 401),
    ])
    func `a token lives a day at most unless the network says otherwise`(
        expiresIn: Int64,
        issued: String,
        status: Int
    ) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let now = TestAPI.now.milliseconds / 1000
            let more = issued.isEmpty ? "" : #","iat":\#(now + (Int64(issued.dropFirst(7)) ?? 0))"#
            let claims = Tokens.claims(expiresIn: expiresIn, more: more)
            let token = Tokens.hs256(claims, secret: network.userTokenSecret)
            let path = "/v1/networks/acme/users/me/notifications"
            #expect(try await api.call(.get, path, as: token).status == status)
            let patched = try await api.call(
                .patch,
                "/v1/networks/acme",
                #"{"userTokenMaxLifetimeSeconds":172800}"#,
                as: network.adminKey
            )
            #expect(patched["userTokenMaxLifetimeSeconds"] == 172_800)
            let later = try await api.call(.get, path, as: token).status
            #expect(later == (expiresIn > 172_810 ? 401 : 200))
            let short = #"{"userTokenMaxLifetimeSeconds":60}"#
            _ = try await api.call(.patch, "/v1/networks/acme", short, as: network.adminKey)
            #expect(try await api.call(.get, path, as: token).status == 401)
            let invalid = #"{"userTokenMaxLifetimeSeconds":59}"#
            #expect(try await api.call(.patch, "/v1/networks/acme", invalid, as: network.adminKey).status == 400)
        }
    }
}
