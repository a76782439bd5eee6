import CarillonCore
import CarillonTesting
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Who changed what, and who was refused, stands in the log.
@Suite struct AuditTests {
    @Test func `a change of a network's set-up names the key, and no secret`() async throws {
        let log = CollectedLog()
        try await withAPI(logger: log.logger) { api in
            let network = try await api.makeNetwork()
            let key = try await api.makeKey("events", in: network)
            let id = try #require(network.adminKey.split(separator: "_").dropFirst().first)
            let lines = log.lines("An admin made a change")
            #expect(lines.count == 2)
            #expect(lines.first?["admin"] == "operator")
            #expect(lines.last?["admin"] == "key \(id)")
            #expect(lines.last?["http.route"] == "/v1/networks/{network}/api-keys")
            #expect(lines.last?["network"] == "acme")
            let text = log.text
            for secret in [network.adminKey, network.webhookSecret, network.userTokenSecret, key] {
                #expect(!text.contains(secret))
            }
            _ = try await api.call(.put, network.path("users/alice"), "{}", as: network.adminKey)
            _ = try await api.call(.get, network.path("api-keys"), as: network.adminKey)
            _ = try await api.call(.post, network.path("events"), #"{"id":"1","type":"x"}"#, as: network.adminKey)
            _ = try await api.call(.put, network.path("tags/beta/users/alice"), as: network.adminKey)
            #expect(log.lines("An admin made a change").count == 2, "data comes and goes all day")
            _ = try await api.call(.put, network.path("tags/beta"), "{}", as: network.adminKey)
            #expect(log.lines("An admin made a change").last?["http.route"] == "/v1/networks/{network}/tags/{tag}")
        }
    }

    @Test func `a refusal is written with the address it came from, and a flood of them is counted`() async throws {
        let log = CollectedLog()
        try await withAPI(.live, logger: log.logger) { api in
            let network = try await api.makeNetwork()
            let events = try await api.makeKey("events", in: network)
            _ = try await api.call(.get, network.path("api-keys"), as: "ck_wrong")
            _ = try await api.call(.get, network.path("api-keys"), as: events)
            let lines = log.lines("A caller was refused")
            #expect(lines.map { $0["http.status"] } == ["401", "403"])
            #expect(lines.allSatisfy { $0["client.address"] == "127.0.0.1" })
            for _ in 0..<200 { _ = try await api.call(.get, network.path("api-keys"), as: "ck_wrong") }
            #expect(log.lines("A caller was refused").count < 200)
        }
    }
}
