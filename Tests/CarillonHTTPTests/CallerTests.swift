import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonTesting
import HTTPTypes
import Testing

@Suite struct CallerTests {
    @Test func `everybody with credentials learns whose they are`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            for role in ["admin", "events", "device", "notify"] {
                let answer = try await api.call(.get, "/v1/whoami", as: try await api.makeKey(role, in: network))
                #expect(answer.status == 200)
                #expect(answer.text == #"{"role":"\#(role)","network":"acme","userId":null}"#)
            }
            let user = try await api.call(.get, "/v1/whoami", as: network.token())
            #expect(user.text == #"{"role":"user","network":"acme","userId":"alice"}"#)
            let `operator` = try await api.call(.get, "/v1/whoami", as: TestAPI.operatorToken)
            #expect(`operator`.text == #"{"role":"operator","network":null,"userId":null}"#)
        }
    }

    @Test func `what proves nothing is 401`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let made = try await api.call(.post, network.path("api-keys"), #"{"role":"events"}"#, as: network.adminKey)
            let key = try #require(made.string("apiKey"))
            let id = try #require(made.string("id"))
            #expect(try await api.call(.delete, network.path("api-keys/\(id)"), as: network.adminKey).status == 204)
            let expired = Tokens.hs256(Tokens.claims(expiresIn: -1), secret: network.userTokenSecret)
            let foreign = Tokens.hs256(Tokens.claims(network: "other"), secret: network.userTokenSecret)
            for token in [nil, "x", key, expired, foreign] {
                let answer = try await api.call(.get, "/v1/whoami", as: token)
                #expect(answer.status == 401)
                #expect(answer.problem == "unauthorized")
            }
        }
    }

    @Test func `a user who asks too often is told to wait`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            try await api.set(#"{"limits":{"requestsPerSecond":{"user":1}}}"#)
            for _ in 0..<10 {
                #expect(try await api.call(.get, "/v1/whoami", as: network.token()).status == 200)
            }
            let answer = try await api.call(.get, "/v1/whoami", as: network.token())
            #expect(answer.status == 429)
            #expect(answer.headers[.retryAfter] == "1")
        }
    }
}
