import CarillonCore
import CarillonTesting
import HTTPTypes
import Postgres
import Testing

/// What creates can be sent again after an answer that was lost (API section 1).
@Suite(.api) struct IdempotencyTests {
    private let api: TestAPI = lent()
    private static let key = ["idempotency-key": "0b2e7c1a"]

    @Test func `a network is made once and shown again with its secrets`() async throws {
        let first = try await make("acme")
        #expect(first.status == 201)
        #expect(first.headers[.idempotencyReplayed] == nil)
        let second = try await make("acme")
        #expect(second.status == 201)
        #expect(second.bytes == first.bytes)
        #expect(second.headers[.idempotencyReplayed] == "true")
        let key = try #require(second.string("apiKey"))
        #expect(try await api.call(.get, "/v1/networks/acme/api-keys", as: key).status == 200)
        #expect(try await make("acme", headers: [:]).problem == "network-exists")
    }

    @Test func `the same key with another body is refused`() async throws {
        #expect(try await make("acme").status == 201)
        let other = try await make("other")
        #expect(other.refusal == "422 idempotency-key-reused")
        #expect(try await api.call(.get, "/v1/networks/other", as: TestAPI.operatorToken).status == 404)
    }

    @Test func `another layout of the same JSON is the same body`() async throws {
        let first = try await make("acme")
        let body = "{ \"id\" :\n\"acme\" }"
        let second = try await api.call(.post, "/v1/networks", body, as: TestAPI.operatorToken, headers: Self.key)
        #expect(second.bytes == first.bytes)
    }

    @Test(arguments: [
        ("api-keys", #"{"role":"events"}"#, "apiKey"), ("webhook-secrets/rotate", "{}", "webhookSecret"),
        ("providers/webhook/secret", #"{"overlapSeconds":60}"#, "secret"),
        ("user-token-keys", #"{"algorithm":"HS256"}"#, "secret"),
    ])
    func `whatever makes a secret answers the same once more`(path: String, body: String, secret: String) async throws {
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
        let answer = try await elsewhere.call(.post, path, body, as: TestAPI.operatorToken, headers: Self.key)
        #expect(answer.status == 201)
        #expect(answer.string(secret) != shown)
    }

    @Test func `many of one key at once make one thing`() async throws {
        let network = try await api.makeNetwork()
        let answers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await network.call(.post, "api-keys", #"{"role":"events"}"#, headers: Self.key).bytes
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
    }

    @Test func `after a day the key is free`() async throws {
        let network = try await api.makeNetwork()
        func post() async throws -> String? {
            let path = network.path("api-keys")
            let answer = try await network.call(.post, path, #"{"role":"events"}"#, headers: Self.key)
            return answer.string("apiKey")
        }
        let first = try await post()
        try await api.database.advance(by: .seconds(86_399))
        #expect(try await post() == first)
        try await api.database.advance(by: .seconds(1))
        #expect(try await post() != first)
    }

    @Test(arguments: ["", String(repeating: "k", count: 256), "tab\tinside", "ümlaut"])
    func `a key is 1 to 255 printable characters`(key: String) async throws {
        let answer = try await make("acme", headers: ["idempotency-key": key])
        #expect(answer.refusal == "400 invalid-idempotency-key")
        let longest = String(repeating: "k", count: 255)
        #expect(try await make("acme", headers: ["idempotency-key": longest]).status == 201)
    }

    private func make(_ id: String, headers: [String: String] = Self.key) async throws -> Answer {
        try await api.call(.post, "/v1/networks", #"{"id":"\#(id)"}"#, as: TestAPI.operatorToken, headers: headers)
    }
}

extension HTTPField.Name {
    fileprivate static let idempotencyReplayed = HTTPField.Name("idempotency-replayed") ?? .via
}

/// What a 503 says of the change that was asked for (API section 1).
@Suite(.acme) struct OutcomeTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    private struct LostInCommit: TransientError {
        let isTransient = true
        let isOutcomeUnknown = true
    }

    private static let writes: [(HTTPRequest.Method, String, String)] = [
        (.post, "/v1/networks", #"{"id":"new"}"#),
        (.post, "/v1/networks/acme/api-keys", #"{"role":"events"}"#),
        (.put, "/v1/networks/acme/users/alice", "{}"),
        (.patch, "/v1/networks/acme/notifications", "{}"),
        (.put, "/v1/networks/acme/devices/d", #"{"userId":"alice","provider":"log"}"#),
        (.post, "/v1/networks/acme/events", #"{"id":"1","type":"user.updated","data":{"user":{"id":"alice"}}}"#),
    ]

    /// The server ends the session of whoever writes, in the midst of COMMIT.
    private static let losingCommits: SQL = """
        CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
        DO $$
        DECLARE name text;
        BEGIN
            FOREACH name IN ARRAY ARRAY['networks', 'api_keys', 'users', 'devices'] LOOP
                EXECUTE format(
                    'CREATE CONSTRAINT TRIGGER lost AFTER INSERT OR UPDATE ON %I DEFERRABLE INITIALLY DEFERRED
                     FOR EACH ROW EXECUTE FUNCTION lose()', name);
            END LOOP;
        END $$;
        """

    @Test(arguments: writes.map(\.1))
    func `a write says that nothing was changed, or that nobody knows`(path: String) async throws {
        let (method, _, body) = try #require(Self.writes.first { $0.1 == path })
        // The credentials are known from here on, so that it is the write that fails.
        _ = try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken)
        _ = try await api.call(.get, "/v1/networks/acme/users/nobody", as: TestAPI.operatorToken)
        for outcome in ["nothing changed", "unknown"] {
            api.database.answers(outcome == "unknown")
            if outcome == "unknown" { try await api.database.alter(Self.losingCommits) }
            let answer = try await api.call(method, path, body, as: TestAPI.operatorToken)
            #expect(answer.refusal == "503 service-unavailable")
            #expect(answer.string("outcome") == outcome)
            #expect(answer.headers[.retryAfter] != nil)
            #expect(answer.string("detail")?.contains("nothing was changed") == (outcome == "nothing changed"))
        }
    }

    @Test func `a read changes nothing, whatever was lost`() async throws {
        try await withAPI(
            credentials: { CredentialsInTrouble(store: $0.credentials) { _ in throw LostInCommit() } }
        ) { api in
            let network = try await api.makeNetwork()
            let answer = try await network.call(.get, "providers/webpush")
            #expect(answer.status == 503)
            #expect(answer.string("outcome") == "nothing changed")
        }
    }
}
