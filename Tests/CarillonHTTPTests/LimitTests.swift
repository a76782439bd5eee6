import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonEdge

@Suite(.acme) struct LimitTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `a user has documents for so many channels, and an admin writes more`() async throws {
        try await api.setLimits(#"{"channelsPerUser":2}"#)
        func path(_ channel: String) -> String { network.path("users/alice/channels/\(channel)/notifications") }
        let body = #"{"enabled":false}"#
        #expect(try await api.call(.put, path("a"), body, as: network.token()).status == 200)
        #expect(try await api.call(.patch, path("b"), body, as: network.token()).status == 200)
        for method in [HTTPRequest.Method.put, .patch] {
            let refused = try await api.call(method, path("c"), body, as: network.token())
            #expect(refused.status == 409)
            #expect(refused.problem == "limit-reached" && refused.string("detail") == "channelsPerUser is 2")
            #expect(refused.pointers == ["/limits/channelsPerUser"])
        }
        #expect(try await api.call(.get, path("c"), as: network.token())["updatedAt"] == .null)
        #expect(try await api.call(.put, path("a"), #"{"enabled":true}"#, as: network.token()).status == 200)
        #expect(try await network.call(.put, path("c"), body).status == 200)
        let bob = network.path("users/me/channels/c/notifications")
        #expect(try await api.call(.put, bob, body, as: network.token(for: "bob")).status == 200)
        let own = network.path("users/me/notifications")
        #expect(try await api.call(.put, own, body, as: network.token()).status == 200)
    }

    @Test func `a network has so many templates of its own`() async throws {
        try await api.setLimits(#"{"templates":1}"#)
        let body = #"{"title":"%s","body":"Hi"}"#
        let first = network.path("templates/channel.created/en")
        let second = network.path("templates/channel.created/th")
        #expect(try await network.call(.put, first, body).status == 201)
        let refused = try await network.call(.put, second, body)
        #expect(refused.status == 409)
        #expect(refused.problem == "limit-reached" && refused.string("detail") == "templates is 1")
        #expect(try await network.call(.put, first, body).status == 200)
        #expect(try await network.call(.delete, first).status == 204)
        #expect(try await api.call(.put, second, body, as: TestAPI.operatorToken).status == 201)
    }
}

extension TestAPI {
    /// Changes a network, as its operator.
    func set(_ patch: String, of network: String = "acme") async throws {
        let answer = try await call(.patch, "/v1/networks/\(network)", patch, as: Self.operatorToken)
        try #require(answer.status == 200, "\(answer.text)")
    }

    func setLimits(_ limits: String, of network: String = "acme") async throws {
        try await set(#"{"limits":\#(limits)}"#, of: network)
    }
}
