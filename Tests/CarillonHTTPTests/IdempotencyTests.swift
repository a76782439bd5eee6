import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// What creates can be sent again after an answer that was lost (API section 1).
@Suite struct IdempotencyTests {
    private static let key = ["idempotency-key": "0b2e7c1a"]

    @Test func `a network is made once and shown again with its secrets`() async throws {
        try await withAPI { api in
            let first = try await make("acme", api)
            #expect(first.status == 201)
            #expect(first.headers[.idempotencyReplayed] == nil)
            let second = try await make("acme", api)
            #expect(second.status == 201)
            #expect(second.bytes == first.bytes)
            #expect(second.headers[.idempotencyReplayed] == "true")
            let key = try #require(second.string("apiKey"))
            #expect(try await api.call(.get, "/v1/networks/acme/api-keys", as: key).status == 200)
            #expect(try await make("acme", api, headers: [:]).problem == "network-exists")
        }
    }

    @Test func `the same key with another body is refused`() async throws {
        try await withAPI { api in
            #expect(try await make("acme", api).status == 201)
            let other = try await make("other", api)
            #expect(other.status == 422)
            #expect(other.problem == "idempotency-key-reused")
            #expect(try await api.call(.get, "/v1/networks/other", as: TestAPI.operatorToken).status == 404)
        }
    }

    @Test func `another layout of the same JSON is the same body`() async throws {
        try await withAPI { api in
            let first = try await make("acme", api)
            let body = "{ \"id\" :\n\"acme\" }"
            let second = try await api.call(.post, "/v1/networks", body, as: TestAPI.operatorToken, headers: Self.key)
            #expect(second.bytes == first.bytes)
        }
    }

    @Test(arguments: [
        ("api-keys", #"{"role":"events"}"#, "apiKey"), ("webhook-secrets/rotate", "{}", "webhookSecret"),
        ("providers/webhook/secret", #"{"overlapSeconds":60}"#, "secret"),
        ("user-token-keys", #"{"algorithm":"HS256"}"#, "secret"),
    ])
    func `whatever makes a secret answers the same once more`(path: String, body: String, secret: String) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            func post(_ headers: [String: String] = Self.key, as key: String? = nil) async throws -> Answer {
                try await api.call(.post, network.path(path), body, as: key ?? network.adminKey, headers: headers)
            }
            let first = try await post()
            #expect(first.status == 201)
            let shown = try #require(first.string(secret))
            #expect(try await post().string(secret) == shown)
            #expect(try await post(["idempotency-key": "another"]).string(secret) != shown)
            #expect(try await post([:]).string(secret) != shown)
            let byOperator = try await post(as: TestAPI.operatorToken)
            #expect(byOperator.string(secret) != shown, "what another caller sends is another request")
            let elsewhere = try await api.makeNetwork("elsewhere")
            let answer = try await api.call(
                .post,
                elsewhere.path(path),
                body,
                as: TestAPI.operatorToken,
                headers: Self.key
            )
            #expect(answer.status == 201)
            #expect(answer.string(secret) != shown)
        }
    }

    @Test func `many of one key at once make one thing`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await api.call(
                            .post,
                            network.path("api-keys"),
                            #"{"role":"events"}"#,
                            as: network.adminKey,
                            headers: Self.key
                        ).bytes
                    }
                }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
            }
            #expect(answers.count == 1)
        }
    }

    @Test func `after a day the key is free`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            func post() async throws -> String? {
                let path = network.path("api-keys")
                let answer = try await api.call(
                    .post,
                    path,
                    #"{"role":"events"}"#,
                    as: network.adminKey,
                    headers: Self.key
                )
                return answer.string("apiKey")
            }
            let first = try await post()
            try await api.database.advance(by: .seconds(86_399))
            #expect(try await post() == first)
            try await api.database.advance(by: .seconds(1))
            #expect(try await post() != first)
        }
    }

    @Test(arguments: ["", String(repeating: "k", count: 256), "tab\tinside", "ümlaut"])
    func `a key is 1 to 255 printable characters`(key: String) async throws {
        try await withAPI { api in
            let answer = try await make("acme", api, headers: ["idempotency-key": key])
            #expect(answer.status == 400)
            #expect(answer.problem == "invalid-idempotency-key")
            let longest = String(repeating: "k", count: 255)
            #expect(try await make("acme", api, headers: ["idempotency-key": longest]).status == 201)
        }
    }

    private func make(_ id: String, _ api: TestAPI, headers: [String: String] = Self.key) async throws -> Answer {
        try await api.call(.post, "/v1/networks", #"{"id":"\#(id)"}"#, as: TestAPI.operatorToken, headers: headers)
    }
}

extension HTTPField.Name {
    fileprivate static let idempotencyReplayed = HTTPField.Name("idempotency-replayed") ?? .via
}
