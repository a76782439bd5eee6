import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// What a 503 says of the change that was asked for (API section 1).
@Suite struct OutcomeTests {
    private struct Away: TransientError {
        let isTransient = true
    }

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

    @Test(arguments: writes.map(\.1))
    func `a write says that nothing was changed, or that nobody knows`(path: String) async throws {
        let (method, _, body) = try #require(Self.writes.first { $0.1 == path })
        try await withAPI { api in
            _ = try await api.makeNetwork()
            // The credentials are known from here on, so that it is the write that fails.
            _ = try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken)
            _ = try await api.call(.get, "/v1/networks/acme/users/nobody", as: TestAPI.operatorToken)
            for (error, outcome) in [(Away() as any Error, "nothing changed"), (LostInCommit(), "unknown")] {
                api.store.fail(with: error)
                let answer = try await api.call(method, path, body, as: TestAPI.operatorToken)
                #expect(answer.status == 503)
                #expect(answer.problem == "service-unavailable")
                #expect(answer.string("outcome") == outcome)
                #expect(answer.headers[.retryAfter] != nil)
                #expect(answer.string("detail")?.contains("nothing was changed") == (outcome == "nothing changed"))
                api.store.fail(with: nil)
            }
        }
    }

    @Test func `a read changes nothing, whatever was lost`() async throws {
        try await withAPI { api in
            api.store.fail(with: LostInCommit())
            let answer = try await api.call(.get, "/v1/networks", as: TestAPI.operatorToken)
            #expect(answer.status == 503)
            #expect(answer.string("outcome") == "nothing changed")
        }
    }
}
