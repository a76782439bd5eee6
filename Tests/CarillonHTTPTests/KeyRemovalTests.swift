import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// What must not be the last, and what outlives its successor (API section 2).
@Suite struct KeyRemovalTests {
    @Test func `the last admin key goes only by force`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let list = try await api.call(.get, network.path("api-keys"), as: network.adminKey)
            guard case .string(let id)? = list["items", "0", "id"] else {
                Issue.record("the key has no id")
                return
            }
            _ = try await api.makeKey("events", in: network)
            let path = network.path("api-keys/\(id)")
            let refused = try await api.call(.delete, path, as: network.adminKey)
            #expect(refused.status == 409)
            #expect(refused.problem == "last-admin-key")
            #expect(refused.string("detail")?.contains(id) == true)
            #expect(try await api.call(.delete, path + "?force=perhaps", as: network.adminKey).status == 400)
            #expect(try await api.call(.delete, path + "?force=false", as: network.adminKey).status == 409)
            _ = try await api.makeKey("admin", in: network)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 204)
        }
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let list = try await api.call(.get, network.path("api-keys"), as: network.adminKey)
            guard case .string(let id)? = list["items", "0", "id"] else { return }
            let path = network.path("api-keys/\(id)?force=true")
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 204)
            #expect(try await api.call(.get, network.path("api-keys"), as: network.adminKey).status == 401)
        }
    }

    @Test func `a network has at most a thousand API keys, and others for those that are removed`() async throws {
        try await withAPI { api in
            let id = NetworkID(trusted: "acme")
            let keys = (0..<APIKey.maximumCount).map { number in
                APIKey(id: "k\(number)", networkID: id, role: .device, label: nil, createdAt: TestAPI.now)
            }
            let network = NetworkCredentials(
                network: Network(id: id, createdAt: TestAPI.now),
                webhookSecrets: [],
                userTokenKeys: [],
                apiKeys: keys.map { StoredAPIKey(key: $0, secretHash: [0]) }
            )
            _ = try await api.store.accounts.createNetwork(network)
            let path = "/v1/networks/acme/api-keys"
            let body = #"{"role":"events"}"#
            let refused = try await api.call(.post, path, body, as: TestAPI.operatorToken)
            #expect(refused.status == 409)
            #expect(refused.problem == "limit-reached")
            #expect(refused.headers[.retryAfter] == nil)
            #expect(refused.string("detail") == "a network has at most 1000 API keys: remove one first")
            #expect(try await api.call(.delete, path + "/k7", as: TestAPI.operatorToken).status == 204)
            let made = try await api.call(.post, path, body, as: TestAPI.operatorToken)
            #expect(made.status == 201)
        }
    }

    @Test func `what was signed with any of five rotated secrets is accepted during the overlap`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            var secrets = [network.webhookSecret]
            for _ in 0..<6 {
                let answer = try await api.call(
                    .post,
                    network.path("webhook-secrets/rotate"),
                    #"{"overlapSeconds":3600}"#,
                    as: network.adminKey
                )
                secrets.append(try #require(answer.string("webhookSecret")))
            }
            let body = #"{"id":"1","type":"x"}"#
            for (index, secret) in secrets.enumerated() {
                let signer = Credentials(
                    id: network.id,
                    adminKey: "",
                    webhookSecret: secret,
                    userTokenSecret: ""
                )
                let headers = try signer.signature(of: body)
                let status = try await api.call(.post, network.path("events"), body, headers: headers).status
                #expect(status == (index == 0 ? 401 : 202), "a sixth rotation ends the oldest")
            }
            try await api.database.advance(by: .seconds(3600))
            let later = Credentials(id: network.id, adminKey: "", webhookSecret: secrets[5], userTokenSecret: "")
            let headers = try later.signature(of: body, at: TestAPI.now + .seconds(3600))
            #expect(try await api.call(.post, network.path("events"), body, headers: headers).status == 401)
        }
    }
}
