import CarillonCore
import HTTPTypes
import Testing

@Suite struct NetworkTests {
    @Test func `a new network answers all that is needed to begin, once`() async throws {
        try await withAPI { api in
            let body = #"{"id":"acme","displayName":"Acme"}"#
            let answer = try await api.call(.post, "/v1/networks", body, as: TestAPI.operatorToken)
            #expect(answer.status == 201)
            let network = #"{"id":"acme","displayName":"Acme","createdAt":"2026-11-24T12:00:00.000Z"}"#
            #expect(answer.text.hasPrefix(#"{"network":\#(network),"apiKey":"ck_"#))
            #expect(answer.string("webhookSecret")?.hasPrefix("whsec_") == true)
            #expect(answer.string("userTokenSecret")?.count == 43)
            #expect(answer.headers[.cacheControl] == "no-store")
            let shown = try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken)
            #expect(shown.text == network)
        }
    }

    @Test func `an id that is taken is 409`() async throws {
        try await withAPI { api in
            _ = try await api.makeNetwork()
            let answer = try await api.call(.post, "/v1/networks", #"{"id":"acme"}"#, as: TestAPI.operatorToken)
            #expect(answer.status == 409)
            #expect(answer.problem == "network-exists")
        }
    }

    @Test(arguments: [
        ("{}", ["/id"]), (#"{"id":""}"#, ["/id"]), (#"{"id":"a\nb"}"#, ["/id"]), (#"{"id":7}"#, ["/id"]),
        (#"{"id":"a","name":"x"}"#, ["/name"]), (#"{"id":"a","defaultLocale":"!"}"#, ["/defaultLocale"]), ("[]", [""]),
        (#"{"id":"a","displayName":7,"x/y~":1}"#, ["/displayName", "/x~1y~0"]), ("null", [""]), ("7", [""]),
    ])
    func `a bad network is 400 with every pointer`(body: String, pointers: [String]) async throws {
        try await withAPI { api in
            let answer = try await api.call(.post, "/v1/networks", body, as: TestAPI.operatorToken)
            #expect(answer.status == 400)
            #expect(answer.problem == "invalid-network")
            #expect(Set(pointers).isSubset(of: answer.pointers))
        }
    }

    @Test func `networks are listed in pages`() async throws {
        try await withAPI { api in
            for id in ["c", "a", "b"] { _ = try await api.makeNetwork(id) }
            let first = try await api.call(.get, "/v1/networks?limit=2", as: TestAPI.operatorToken)
            #expect(first["items", "0", "id"] == "a" && first["items", "1", "id"] == "b" && first["items", "2"] == nil)
            let cursor = try #require(first.string("next"))
            let second = try await api.call(.get, "/v1/networks?limit=2&cursor=\(cursor)", as: TestAPI.operatorToken)
            #expect(second["items", "0", "id"] == "c" && second["items", "1"] == nil && second["next"] == nil)
        }
    }

    @Test func `a patch changes what it names`() async throws {
        try await withAPI { api in
            _ = try await api.makeNetwork()
            let body = #"{"displayName":"New","defaultLocale":"th"}"#
            let type = "application/merge-patch+json"
            let changed = try await api.call(.patch, "/v1/networks/acme", body, as: TestAPI.operatorToken, type: type)
            #expect(changed.string("defaultLocale") == "th")
            let second = try await api.call(
                .patch,
                "/v1/networks/acme",
                #"{"displayName":null}"#,
                as: TestAPI.operatorToken
            )
            #expect(second["displayName"] == .null)
            #expect(second.string("defaultLocale") == "th")
            let wrong = try await api.call(.patch, "/v1/networks/acme", #"{"id":"x"}"#, as: TestAPI.operatorToken)
            #expect(wrong.pointers == ["/id"])
        }
    }

    @Test func `a deleted network is gone for everybody at once`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            #expect(try await api.call(.get, network.path("events"), as: network.adminKey).status == 200)
            #expect(try await api.call(.delete, "/v1/networks/acme", as: TestAPI.operatorToken).status == 204)
            #expect(try await api.call(.delete, "/v1/networks/acme", as: TestAPI.operatorToken).status == 404)
            #expect(try await api.call(.get, network.path("events"), as: TestAPI.operatorToken).status == 404)
            #expect(try await api.call(.get, network.path("events"), as: network.adminKey).status == 401)
        }
    }

    @Test(arguments: [("{}", "/role"), (#"{"role":"root"}"#, "/role"), (#"{"role":"admin","x":1}"#, "/x")])
    func `a bad key request is 400`(body: String, pointer: String) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.post, network.path("api-keys"), body, as: network.adminKey)
            #expect(answer.status == 400)
            #expect(answer.pointers == [pointer])
        }
    }
}
