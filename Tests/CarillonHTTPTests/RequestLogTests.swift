import CarillonCore
import CarillonTesting
import HTTPTypes
import Logging
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// How much of the log those have who cause its lines.
@Suite(.timeLimit(.minutes(1))) struct RequestLogTests {
    private static let limits = RequestLog.Limits.ofAnswers

    private func lines(_ log: CollectedLog, _ status: String, _ route: String) -> Int {
        log.lines("Request answered").count { $0["http.status"] == status && $0["http.route"] == route }
    }

    @Test func `strangers have so many lines of each status and route, however many paths they ask for`() async throws {
        let log = CollectedLog()
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
        let log = CollectedLog()
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
        let log = CollectedLog()
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
        let log = CollectedLog()
        try await withAPI(logger: log.logger) { api in
            let (busy, calm) = (try await api.makeNetwork("busy"), try await api.makeNetwork("calm"))
            for number in 0..<150 {
                _ = try await api.call(.put, busy.path("tags/t-\(number)"), "{}", as: busy.adminKey)
            }
            _ = try await api.call(.put, calm.path("tags/t"), "{}", as: calm.adminKey)
            let changes = log.lines("An admin made a change")
            #expect(changes.count { $0["network"] == "busy" } == 100)
            #expect(changes.count { $0["network"] == "calm" } == 1)
        }
    }
}
