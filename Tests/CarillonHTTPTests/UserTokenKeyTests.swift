import CarillonCore
import CarillonTesting
import Crypto
import HTTPTypes
import Testing

/// How keys of user tokens are changed, and how long tokens may live (API section 2).
@Suite(.acme) struct UserTokenKeyTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `tokens of both keys are valid while one is changed for the other`() async throws {
        let path = "/v1/networks/acme/users/me/notifications"
        // Keys are listed in the order of their making.
        try await api.database.advance(by: .milliseconds(1))
        let made = try await network.call(.post, "user-token-keys", #"{"algorithm":"HS256"}"#)
        #expect(made.status == 201)
        let secret = try #require(made.string("secret"))
        let new = Tokens.hs256(Tokens.claims(), secret: secret)
        let old = network.token()
        #expect(try await api.call(.get, path, as: old).status == 200)
        #expect(try await api.call(.get, path, as: new).status == 200)
        let list = try await network.call(.get, "user-token-keys")
        #expect(!list.text.contains(secret))
        #expect(list["items", "1", "id"] == made["id"])
        guard case .string(let former)? = list["items", "0", "id"] else {
            Issue.record("the first key has no id")
            return
        }
        let removal = network.path("user-token-keys/\(former)")
        #expect(try await network.call(.delete, removal).status == 204)
        #expect(try await network.call(.delete, removal).status == 404)
        #expect(try await api.call(.get, path, as: old).status == 401)
        #expect(try await api.call(.get, path, as: new).status == 200)
    }

    @Test func `admins make tokens of users, as long as the network lets them live`() async throws {
        let path = network.path("user-tokens")
        let made = try await network.call(.post, path, #"{"userId":"bob"}"#)
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
            #expect(try await network.call(.post, path, body).status == 400, "\(body)")
        }
        #expect(try await api.call(.post, path, #"{"userId":"bob"}"#, as: network.token()).status == 403)
        #expect(try await network.call(.delete, "user-token-key").status == 204)
        let unsigned = try await network.call(.post, path, #"{"userId":"bob"}"#)
        #expect(unsigned.problem == "no-shared-secret")
    }

    @Test func `a public key stands beside a secret`() async throws {
        let key = P256.Signing.PrivateKey()
        let pem = key.publicKey.pemRepresentation.replacing("\n", with: "\\n")
        let body = #"{"algorithm":"ES256","publicKey":"\#(pem)"}"#
        let added = try await network.call(.post, "user-token-keys", body)
        #expect(added.status == 201)
        #expect(added["secret"] == nil)
        let path = "/v1/networks/acme/users/me/notifications"
        let token = try Tokens.es256(Tokens.claims(), key: key)
        #expect(try await api.call(.get, path, as: token).status == 200)
        #expect(try await api.call(.get, path, as: network.token()).status == 200)
    }

    @Test func `a network has a bounded number of keys, and unusable ones are refused`() async throws {
        let path = network.path("user-token-keys")
        for _ in 0..<4 {
            let answer = try await network.call(.post, path, #"{"algorithm":"HS256"}"#)
            #expect(answer.status == 201)
        }
        let more = try await network.call(.post, path, #"{"algorithm":"HS256"}"#)
        #expect(more.problem == "limit-reached")
        for body in [
            #"{"algorithm":"ES256","publicKey":"no key"}"#, #"{"algorithm":"HS256","secret":"short"}"#,
            #"{"algorithm":"none"}"#, #"{"algorithm":"ES256"}"#,
        ] {
            let answer = try await network.call(.post, path, body)
            #expect(answer.status == 400)
        }
        let missing = network.path("user-token-keys/nothing")
        #expect(try await network.call(.delete, missing).status == 404)
        #expect(try await api.call(.get, path, as: network.token()).status == 403)
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
        let now = TestAPI.now.milliseconds / 1000
        let more = issued.isEmpty ? "" : #","iat":\#(now + (Int64(issued.dropFirst(7)) ?? 0))"#
        let claims = Tokens.claims(expiresIn: expiresIn, more: more)
        let token = Tokens.hs256(claims, secret: network.userTokenSecret)
        let path = "/v1/networks/acme/users/me/notifications"
        #expect(try await api.call(.get, path, as: token).status == status)
        let patched = try await network.call(.patch, "/v1/networks/acme", #"{"userTokenMaxLifetimeSeconds":172800}"#)
        #expect(patched["userTokenMaxLifetimeSeconds"] == 172_800)
        let later = try await api.call(.get, path, as: token).status
        #expect(later == (expiresIn > 172_810 ? 401 : 200))
        let short = #"{"userTokenMaxLifetimeSeconds":60}"#
        _ = try await network.call(.patch, "/v1/networks/acme", short)
        #expect(try await api.call(.get, path, as: token).status == 401)
        let invalid = #"{"userTokenMaxLifetimeSeconds":59}"#
        #expect(try await network.call(.patch, "/v1/networks/acme", invalid).status == 400)
    }
}

/// What must not be the last, and what outlives its successor (API section 2).
@Suite(.acme) struct KeyRemovalTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `the last admin key goes only by force`() async throws {
        let id = try #require(try await network.call(.get, "api-keys").string("items", "0", "id"))
        _ = try await api.makeKey("events", in: network)
        let path = network.path("api-keys/\(id)")
        let refused = try await network.call(.delete, path)
        #expect(refused.refusal == "409 last-admin-key")
        #expect(refused.string("detail")?.contains(id) == true)
        #expect(try await network.call(.delete, path + "?force=perhaps").status == 400)
        #expect(try await network.call(.delete, path + "?force=false").status == 409)
        _ = try await api.makeKey("admin", in: network)
        #expect(try await network.call(.delete, path).status == 204)
        let other = try await api.makeNetwork("other")
        let last = try #require(try await other.call(.get, "api-keys").string("items", "0", "id"))
        #expect(try await other.call(.delete, "api-keys/\(last)?force=true").status == 204)
        #expect(try await other.call(.get, "api-keys").status == 401)
    }

    @Test func `a network has at most a thousand API keys, and others for those that are removed`() async throws {
        let id = NetworkID(trusted: "many")
        let keys = (0..<APIKey.maximumCount).map { number in
            APIKey(id: "k\(number)", networkID: id, role: .device, label: nil, createdAt: TestAPI.now)
        }
        let network = NetworkCredentials(
            network: Network(id: id, createdAt: TestAPI.now),
            webhookSecrets: [],
            userTokenKeys: [],
            apiKeys: keys.map { StoredAPIKey(key: $0, secretHash: SecretHash(bytes: [0])) }
        )
        _ = try await api.store.accounts.createNetwork(network)
        let path = "/v1/networks/many/api-keys"
        let body = #"{"role":"events"}"#
        let refused = try await api.call(.post, path, body, as: TestAPI.operatorToken)
        #expect(refused.refusal == "409 limit-reached")
        #expect(refused.headers[.retryAfter] == nil)
        #expect(refused.string("detail") == "a network has at most 1000 API keys: remove one first")
        #expect(try await api.call(.delete, path + "/k7", as: TestAPI.operatorToken).status == 204)
        let made = try await api.call(.post, path, body, as: TestAPI.operatorToken)
        #expect(made.status == 201)
    }

    @Test func `what was signed with any of five rotated secrets is accepted during the overlap`() async throws {
        var secrets = [network.webhookSecret]
        for _ in 0..<6 {
            let answer = try await network.call(.post, "webhook-secrets/rotate", #"{"overlapSeconds":3600}"#)
            secrets.append(try #require(answer.string("webhookSecret")))
        }
        let body = #"{"id":"1","type":"x"}"#
        for (index, secret) in secrets.enumerated() {
            var signer = network
            signer.webhookSecret = secret
            let headers = try signer.signature(of: body)
            let status = try await api.call(.post, network.path("events"), body, headers: headers).status
            #expect(status == (index == 0 ? 401 : 202), "a sixth rotation ends the oldest")
        }
        try await api.database.advance(by: .seconds(3600))
        var later = network
        later.webhookSecret = secrets[5]
        let headers = try later.signature(of: body, at: TestAPI.now + .seconds(3600))
        #expect(try await api.call(.post, network.path("events"), body, headers: headers).status == 401)
    }
}
