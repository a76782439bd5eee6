import CarillonCore
import CarillonTesting
import HTTPTypes
import Postgres
import Testing

/// What a 503 says of the change that was asked for (API section 1).
@Suite struct OutcomeTests {
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
        try await withAPI { api in
            _ = try await api.makeNetwork()
            // The credentials are known from here on, so that it is the write that fails.
            _ = try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken)
            _ = try await api.call(.get, "/v1/networks/acme/users/nobody", as: TestAPI.operatorToken)
            for outcome in ["nothing changed", "unknown"] {
                api.database.answers(outcome == "unknown")
                if outcome == "unknown" { try await api.database.alter(Self.losingCommits) }
                let answer = try await api.call(method, path, body, as: TestAPI.operatorToken)
                #expect(answer.status == 503)
                #expect(answer.problem == "service-unavailable")
                #expect(answer.string("outcome") == outcome)
                #expect(answer.headers[.retryAfter] != nil)
                #expect(answer.string("detail")?.contains("nothing was changed") == (outcome == "nothing changed"))
            }
        }
    }

    @Test func `a read changes nothing, whatever was lost`() async throws {
        try await withAPI(
            credentials: { CredentialsInTrouble(store: $0.credentials) { _ in throw LostInCommit() } }
        ) { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.get, network.path("providers/webpush"), as: network.adminKey)
            #expect(answer.status == 503)
            #expect(answer.string("outcome") == "nothing changed")
        }
    }
}
