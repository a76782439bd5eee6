import CarillonCore
import CarillonTesting
import HTTPTypes
import HummingbirdTesting
import Logging
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Who changed what, and who was refused, stands in the log.
@Suite struct AuditTests {
    private let log = CollectedLog()

    @Test func `a change of a network's set-up names the key, and no secret`() async throws {
        try await withAPI(logger: log.logger) { api in
            let network = try await api.makeNetwork()
            let key = try await api.makeKey("events", in: network)
            let id = try #require(network.adminKey.split(separator: "_").dropFirst().first)
            let lines = log.lines("An admin made a change")
            #expect(lines.count == 2)
            #expect(lines.first?["admin"] == "operator")
            #expect(lines.first?["network"] == "acme")
            #expect(lines.last?["admin"] == "key \(id)")
            #expect(lines.last?["http.route"] == "/v1/networks/{network}/api-keys")
            #expect(lines.last?["network"] == "acme")
            let text = log.text
            for secret in [network.adminKey, network.webhookSecret, network.userTokenSecret, key] {
                #expect(!text.contains(secret))
            }
            _ = try await network.call(.put, "users/alice", "{}")
            _ = try await network.call(.get, "api-keys")
            _ = try await network.call(.post, "events", #"{"id":"1","type":"x"}"#)
            _ = try await network.call(.post, "notifications", #"{"to":{"userIds":["alice"]},"title":"x"}"#)
            _ = try await network.call(.put, "tags/beta/users/alice")
            #expect(log.lines("An admin made a change").count == 2, "data comes and goes all day")
            _ = try await network.call(.put, "tags/beta", "{}")
            #expect(log.lines("An admin made a change").last?["http.route"] == "/v1/networks/{network}/tags/{tag}")
        }
    }

    @Test func `a refusal is written with the address it came from, and a flood of them is counted`() async throws {
        try await withAPI(.live, logger: log.logger) { api in
            let network = try await api.makeNetwork()
            let events = try await api.makeKey("events", in: network)
            _ = try await network.call(.get, "api-keys", as: "ck_wrong")
            _ = try await network.call(.get, "api-keys", as: events)
            let lines = log.lines("A caller was refused")
            #expect(lines.map { $0["http.status"] } == ["401", "403"])
            #expect(lines.allSatisfy { $0["client.address"] == "127.0.0.1" })
            for _ in 0..<200 { _ = try await network.call(.get, "api-keys", as: "ck_wrong") }
            #expect(log.lines("A caller was refused").count < 200)
        }
    }
}

/// How much of the log those have who cause its lines.
@Suite(.timeLimit(.minutes(1))) struct RequestLogTests {
    private static let limits = RequestLog.Limits.ofAnswers

    private let log = CollectedLog()

    private func lines(_ log: CollectedLog, _ status: String, _ route: String) -> Int {
        log.lines("Request answered").count { $0["http.status"] == status && $0["http.route"] == route }
    }

    @Test func `strangers have so many lines of each status and route, however many paths they ask for`() async throws {
        try await withAPI(logger: log.logger(from: .info)) { api in
            let network = try await api.makeNetwork()
            let route = "/v1/networks/{network}/users/{user}"
            for number in 0..<100 {
                _ = try await api.call(.get, "/nowhere/\(number)")
                _ = try await api.call(.get, "/v1/networks/n-\(number)/users/u", as: "ck_wrong")
                _ = try await api.call(.get, network.path("users/u-\(number)"))
            }
            #expect(lines(log, "404", "none") == Self.limits.ofStrangers)
            #expect(lines(log, "401", route) == Self.limits.ofStrangers)
            _ = try await api.call(.get, network.path("users"))
            #expect(lines(log, "401", "/v1/networks/{network}/users") == 1)
        }
    }

    @Test func `who has proved who they are finds their lines beside a flood of others`() async throws {
        try await withAPI(logger: log.logger(from: .info)) { api in
            let network = try await api.makeNetwork()
            let path = network.path("users/nobody")
            for _ in 0..<100 { _ = try await api.call(.get, path) }
            for token in [network.adminKey, TestAPI.operatorToken] {
                for _ in 0..<50 { #expect(try await api.call(.get, path, as: token).status == 404) }
            }
            #expect(lines(log, "404", "/v1/networks/{network}/users/{user}") == 100)
            for _ in 0..<50 { #expect(try await api.call(.get, path, as: network.token()).status == 403) }
            #expect(lines(log, "403", "/v1/networks/{network}/users/{user}") == 50)
            let signature = try network.signature(of: "{")
            for _ in 0..<30 {
                let answer = try await api.call(.post, network.path("events"), "{", headers: signature)
                #expect(answer.status == 400)
            }
            #expect(lines(log, "400", "/v1/networks/{network}/events") == 30, "a signature proves it, too")
        }
    }

    @Test func `what is left out is counted, by what its lines have in common`() async throws {
        let requests = RequestLog(.init(ofStrangers: 2, ofNetwork: 3, window: .milliseconds(50)))
        let logger = log.logger(from: .info)
        for _ in 0..<7 {
            requests.writeOfStranger("Refused", at: .info, status: .notFound, route: "none", ["id": "1"], to: logger)
        }
        requests.writeOfStranger("Refused", at: .debug, status: .notFound, route: "none", [:], to: logger)
        #expect(log.lines("Refused").count == 2)
        try await waitUntil { !log.lines("More of the same was not logged").isEmpty }
        let expected = ["http.status": "404", "http.route": "none", "same": "Refused", "count": "5"]
        #expect(log.lines("More of the same was not logged") == [expected])
    }

    @Test func `a network's admin who changes very much hides no other network's changes`() async throws {
        try await withAPI(logger: log.logger) { api in
            let (busy, calm) = (try await api.makeNetwork("busy"), try await api.makeNetwork("calm"))
            for number in 0..<150 {
                _ = try await busy.call(.put, "tags/t-\(number)", "{}")
            }
            _ = try await calm.call(.put, "tags/t", "{}")
            let changes = log.lines("An admin made a change").filter { $0["admin"] != "operator" }
            #expect(changes.count { $0["network"] == "busy" } == 100)
            #expect(changes.count { $0["network"] == "calm" } == 1)
        }
    }
}

@Suite(.acme) struct CallerTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `everybody with credentials learns whose they are`() async throws {
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

    @Test func `what proves nothing is 401`() async throws {
        let made = try await network.call(.post, "api-keys", #"{"role":"events"}"#)
        let key = try #require(made.string("apiKey"))
        let id = try #require(made.string("id"))
        #expect(try await network.call(.delete, "api-keys/\(id)").status == 204)
        let expired = Tokens.hs256(Tokens.claims(expiresIn: -1), secret: network.userTokenSecret)
        let foreign = Tokens.hs256(Tokens.claims(network: "other"), secret: network.userTokenSecret)
        for token in [nil, "x", key, expired, foreign] {
            let answer = try await api.call(.get, "/v1/whoami", as: token)
            #expect(answer.refusal == "401 unauthorized")
        }
    }

    @Test func `a user who asks too often is told to wait`() async throws {
        try await api.set(#"{"limits":{"requestsPerSecond":{"user":1}}}"#)
        for _ in 0..<10 {
            #expect(try await api.call(.get, "/v1/whoami", as: network.token()).status == 200)
        }
        let answer = try await api.call(.get, "/v1/whoami", as: network.token())
        #expect(answer.status == 429)
        #expect(answer.headers[.retryAfter] == "1")
    }
}
