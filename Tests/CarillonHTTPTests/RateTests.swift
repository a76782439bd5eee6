import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import HummingbirdTesting
import Testing

/// Rates of requests and events (API section 2), over time that stands still unless it is moved.
@Suite(.acme) struct RateTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static func events(_ ids: some Sequence<Int>) -> String {
        let events = ids.map { #"{"id":"evt-\#($0)","type":"channel.updated","data":{"channel":{"id":"c"}}}"# }
        return "[\(events.joined(separator: ","))]"
    }

    @Test func `a user has so many requests, and others are none the worse for it`() async throws {
        let other = try await api.makeNetwork("other")
        try await api.setLimits(#"{"requestsPerSecond":{"user":2}}"#)
        let path = network.path("users/me/notifications")
        for _ in 0..<20 { #expect(try await api.call(.get, path, as: network.token()).status == 200) }
        let refused = try await api.call(.get, path, as: network.token())
        #expect(refused.refusal == "429 too-many-requests")
        #expect(refused.headers[.retryAfter] == "1")
        #expect(try await network.call(.get, "devices/d", as: network.token()).status == 429)
        #expect(try await api.call(.get, path, as: network.token(for: "bob")).status == 200)
        #expect(try await other.call(.get, "users/me/notifications", as: other.token()).status == 200)
        #expect(try await network.call(.get, "users/alice").status == 404)
        try await api.database.advance(by: .seconds(1))
        for status in [200, 200, 429] {
            #expect(try await api.call(.get, path, as: network.token()).status == status)
        }
    }

    @Test func `a user's requests at other networks count as well`() async throws {
        let other = try await api.makeNetwork("other")
        try await api.setLimits(#"{"requestsPerSecond":{"user":1}}"#)
        let foreign = other.path("users/me/notifications")
        for _ in 0..<10 { #expect(try await api.call(.get, foreign, as: network.token()).status == 404) }
        #expect(try await api.call(.get, foreign, as: network.token()).status == 429)
        #expect(try await api.call(.get, "/v1/networks", as: network.token()).status == 429)
    }

    @Test func `an app's key has so many requests, other keys have any number`() async throws {
        let key = try await api.makeKey("device", in: network)
        let second = try await api.makeKey("device", in: network)
        let events = try await api.makeKey("events", in: network)
        try await api.setLimits(#"{"requestsPerSecond":{"user":1,"app":1}}"#)
        let path = network.path("devices/d")
        for _ in 0..<10 { #expect(try await api.call(.delete, path, as: key).status == 204) }
        #expect(try await api.call(.delete, path, as: key).status == 429)
        #expect(try await api.call(.delete, path, as: second).status == 204)
        for _ in 0..<20 {
            #expect(try await network.call(.delete, path).status == 204)
            #expect(try await api.call(.delete, path, as: TestAPI.operatorToken).status == 204)
            #expect(try await network.call(.post, "events", "[]", as: events).status == 400)
        }
    }

    @Test func `a network posts so many events, each of an array counts`() async throws {
        let other = try await api.makeNetwork("other")
        let key = try await api.makeKey("events", in: network)
        try await api.setLimits(#"{"eventsPerSecond":2}"#)
        func post(_ body: String, _ network: Credentials, as key: String) async throws -> Answer {
            try await network.call(.post, "events", body, as: key)
        }
        #expect(try await post(Self.events(0..<15), network, as: key).status == 202)
        let refused = try await post(Self.events(15..<25), network, as: key)
        #expect(refused.status == 429 && refused.headers[.retryAfter] == "3")
        let listed = try await network.call(.get, "events?limit=1000")
        #expect(listed["items", "14"] != .none && listed["items", "15"] == .none)
        #expect(try await post(Self.events(15..<20), network, as: network.adminKey).status == 202)
        #expect(try await post(Self.events([20]), network, as: TestAPI.operatorToken).status == 429)
        let body = Self.events([20])
        let signed = try await api.call(.post, network.path("events"), body, headers: try network.signature(of: body))
        #expect(signed.status == 429)
        #expect(try await post(Self.events(0..<100), other, as: other.adminKey).status == 202)
        #expect(try await network.call(.get, "events").status == 200)
        try await api.database.advance(by: .seconds(3))
        #expect(try await post(Self.events(15..<25), network, as: key).status == 429)
        try await api.setLimits(#"{"eventsPerSecond":null}"#)
        #expect(try await post(Self.events(15..<500), network, as: key).status == 202)
    }

    @Test
    func `an address that proves nothing is told to wait, and whoever proves something there is not`() async throws {
        try await withAPI(.live) { api in
            let network = try await api.makeNetwork()
            func from(_ address: String, _ token: String?, _ path: String = "events") async throws -> Answer {
                try await api.call(.get, network.path(path), as: token, headers: ["x-forwarded-for": address])
            }
            for _ in 0..<500 { #expect(try await from("192.0.2.1", "ck_wrong").status == 401) }
            let refused = try await from("192.0.2.1", "ck_wrong")
            #expect(refused.status == 429 && refused.headers[.retryAfter] == "1")
            #expect(try await from("192.0.2.1", nil).status == 429)
            #expect(try await from("192.0.2.1", network.adminKey).status == 200)
            #expect(try await from("192.0.2.1", TestAPI.operatorToken).status == 200)
            #expect(try await from("192.0.2.1", network.token(), "users/me/notifications").status == 200)
            #expect(try await from("192.0.2.2", "ck_wrong").status == 401)
            try await api.database.advance(by: .seconds(1))
            for _ in 0..<50 { #expect(try await from("192.0.2.1", nil).status == 401) }
            #expect(try await from("192.0.2.1", nil).status == 429)
            // The last one: a body that nobody waits for may end the connection.
            let body = "[]"
            let forged = try await api.call(
                .post,
                network.path("events"),
                body,
                headers: try network.signature(of: body + " ").merging(["x-forwarded-for": "192.0.2.1"]) { $1 }
            )
            #expect(forged.status == 429)
        }
    }

    @Test func `what an address that proves nothing names is not looked up`() async throws {
        try await withAPI(.live) { api in
            let network = try await api.makeNetwork()
            func from(_ address: String, _ id: Int) async throws -> Int {
                let token = Tokens.hs256(Tokens.claims(network: "unknown-\(id)"), secret: network.userTokenSecret)
                return try await network.call(.get, "events", as: token, headers: ["x-forwarded-for": address]).status
            }
            let before = api.database.calls
            for id in 0..<5 { #expect(try await from("2001:db8::\(id)", id) == 401) }
            let calls = api.database.calls
            #expect(calls == before + 5)
            // The others of 500, without asking for each.
            let address = try #require(IPAddress("2001:db8::5"))
            try api.rates.take(495, from: .address(address.subscriber), rate: 50)
            for id in 5..<15 { #expect(try await from("2001:db8::\(id)", id) == 429) }
            #expect(api.database.calls == calls)
            #expect(try await from("2001:db8:0:1::1", 15) == 401)
            #expect(api.database.calls == calls + 1)
        }
    }
}
