import CarillonCore
import CarillonTesting
import HTTPTypes
import Postgres
import Testing

@Suite(.api) struct NetworkTests {
    private let api: TestAPI = lent()
    private static let defaultLimits = """
        {"devicesPerUser":50,"channelsPerUser":2000,"templates":300,"webhookHosts":1000,"tags":1000,"tagsPerSubscriber":200,"ownerlessDevices":1000000,"eventsPerSecond":null,\
        "requestsPerSecond":{"user":20,"app":200}}
        """

    @Test func `a new network answers all that is needed to begin, once`() async throws {
        let body = #"{"id":"acme","displayName":"Acme"}"#
        let answer = try await api.call(.post, "/v1/networks", body, as: TestAPI.operatorToken)
        #expect(answer.status == 201)
        let network = """
            {"id":"acme","displayName":"Acme","defaultLocale":"en","deviceRegistration":"userToken",\
            "webPushHosts":["default"],"userTokenMaxLifetimeSeconds":86400,"limits":\(Self.defaultLimits),\
            "createdAt":"2026-11-24T12:00:00.000Z"}
            """
        #expect(answer.text.hasPrefix(#"{"network":\#(network),"apiKey":"ck_"#))
        #expect(answer.string("webhookSecret")?.hasPrefix("whsec_") == true)
        #expect(answer.string("userTokenSecret")?.count == 43)
        #expect(answer.headers[.cacheControl] == "no-store")
        let shown = try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken)
        #expect(shown.text == network)
    }

    @Test func `an id that is taken is 409`() async throws {
        _ = try await api.makeNetwork()
        let answer = try await api.call(.post, "/v1/networks", #"{"id":"acme"}"#, as: TestAPI.operatorToken)
        #expect(answer.refusal == "409 network-exists")
    }

    @Test func `an id of which something is left of a former network is 409, with a time to try again`() async throws {
        _ = try await api.makeNetwork()
        let deleted = try await api.call(.delete, "/v1/networks/acme", as: TestAPI.operatorToken)
        #expect(deleted.status == 204)
        // It counts as deleted a moment from now, and so never: the time stands still.
        try await api.database.pool.execute("INSERT INTO former_networks VALUES ('acme', now() + interval '1 second')")
        let answer = try await api.call(.post, "/v1/networks", #"{"id":"acme"}"#, as: TestAPI.operatorToken)
        #expect(answer.refusal == "409 being-deleted")
        #expect(answer.headers[.retryAfter] == "5")
    }

    @Test(arguments: [
        ("{}", ["/id"]), (#"{"id":""}"#, ["/id"]), (#"{"id":"a\nb"}"#, ["/id"]), (#"{"id":7}"#, ["/id"]),
        (#"{"id":"a","name":"x"}"#, ["/name"]), (#"{"id":"a","defaultLocale":"!"}"#, ["/defaultLocale"]), ("[]", [""]),
        (#"{"id":"a","displayName":7,"x/y~":1}"#, ["/displayName", "/x~1y~0"]), ("null", [""]), ("7", [""]),
    ])
    func `a bad network is 400 with every pointer`(body: String, pointers: [String]) async throws {
        let answer = try await api.call(.post, "/v1/networks", body, as: TestAPI.operatorToken)
        #expect(answer.refusal == "400 invalid-network")
        #expect(Set(pointers).isSubset(of: answer.pointers))
    }

    @Test func `networks are listed in pages`() async throws {
        for id in ["c", "a", "b"] { _ = try await api.makeNetwork(id) }
        let first = try await api.call(.get, "/v1/networks?limit=2", as: TestAPI.operatorToken)
        #expect(first["items", "0", "id"] == "a" && first["items", "1", "id"] == "b" && first["items", "2"] == nil)
        let cursor = try #require(first.string("next"))
        let second = try await api.call(.get, "/v1/networks?limit=2&cursor=\(cursor)", as: TestAPI.operatorToken)
        #expect(second["items", "0", "id"] == "c" && second["items", "1"] == nil && second["next"] == nil)
    }

    @Test func `a patch changes what it names`() async throws {
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

    @Test func `a network is made with whatever it is to have`() async throws {
        let body = """
            {"id":"acme","defaultLocale":"th","deviceRegistration":"appKey","webPushHosts":["*.Example.org","127.0.0.1"],\
            "limits":{"templates":7,"requestsPerSecond":{"app":9}}}
            """
        let answer = try await api.call(.post, "/v1/networks", body, as: TestAPI.operatorToken)
        #expect(answer.status == 201)
        let shown = try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken)
        #expect(shown.string("defaultLocale") == "th" && shown.string("deviceRegistration") == "appKey")
        #expect(shown["webPushHosts"] == ["*.example.org", "127.0.0.1"])
        #expect(shown["limits", "templates"] == 7 && shown["limits", "devicesPerUser"] == 50)
        #expect(shown["limits", "requestsPerSecond"] == ["user": 20, "app": 9])
    }

    @Test func `a patch reaches into limits, and null stands for the default`() async throws {
        _ = try await api.makeNetwork()
        func patch(_ body: String) async throws -> Answer {
            try await api.call(.patch, "/v1/networks/acme", body, as: TestAPI.operatorToken)
        }
        _ = try await patch(#"{"limits":{"devicesPerUser":3,"eventsPerSecond":10,"requestsPerSecond":{"user":5}}}"#)
        let second = try await patch(#"{"limits":{"templates":0,"requestsPerSecond":{"app":6}}}"#)
        #expect(
            second["limits"]?.serializedText == """
                {"devicesPerUser":3,"channelsPerUser":2000,"templates":0,"webhookHosts":1000,"tags":1000,"tagsPerSubscriber":200,"ownerlessDevices":1000000,"eventsPerSecond":10,\
                "requestsPerSecond":{"user":5,"app":6}}
                """
        )
        let third = try await patch(
            #"{"limits":{"devicesPerUser":null,"eventsPerSecond":null,"requestsPerSecond":{"user":null}}}"#
        )
        #expect(third["limits", "devicesPerUser"] == 50 && third["limits", "eventsPerSecond"] == .null)
        #expect(third["limits", "requestsPerSecond"] == ["user": 20, "app": 6])
        let fourth = try await patch(#"{"limits":null,"webPushHosts":null,"deviceRegistration":null}"#)
        #expect(fourth["limits"]?.serializedText == Self.defaultLimits)
        #expect(fourth["webPushHosts"] == ["default"] && fourth.string("deviceRegistration") == "userToken")
    }

    @Test(arguments: [
        (#"{"deviceRegistration":"anybody"}"#, ["/deviceRegistration"]), (#"{"limits":7}"#, ["/limits"]),
        (#"{"limits":{"devices":7}}"#, ["/limits/devices"]),
        (
            #"{"limits":{"devicesPerUser":-1,"templates":1.5,"webhookHosts":"9","channelsPerUser":1000000000}}"#,
            ["/limits/devicesPerUser", "/limits/templates", "/limits/webhookHosts", "/limits/channelsPerUser"]
        ),
        (
            #"{"limits":{"eventsPerSecond":0,"requestsPerSecond":{"user":0,"app":true,"key":1}}}"#,
            [
                "/limits/eventsPerSecond", "/limits/requestsPerSecond/user", "/limits/requestsPerSecond/app",
                "/limits/requestsPerSecond/key",
            ]
        ),
        (#"{"limits":{"requestsPerSecond":20}}"#, ["/limits/requestsPerSecond"]),
        (#"{"webPushHosts":"*"}"#, ["/webPushHosts"]), (#"{"webPushHosts":[7]}"#, ["/webPushHosts/0"]),
        (#"{"webPushHosts":["https://push.example.org"]}"#, ["/webPushHosts"]),
        (#"{"webPushHosts":["push.example.org:443"]}"#, ["/webPushHosts"]),
        (#"{"webPushHosts":["a.*.example.org"]}"#, ["/webPushHosts"]), (#"{"webPushHosts":["*."]}"#, ["/webPushHosts"]),
        (#"{"webPushHosts":["*.127.0.0.1"]}"#, ["/webPushHosts"]), (#"{"webPushHosts":["x@y"]}"#, ["/webPushHosts"]),
    ])
    func `a bad setting is 400 with every pointer, and nothing is changed`(
        body: String,
        pointers: [String]
    ) async throws {
        _ = try await api.makeNetwork()
        let before = try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken).text
        let answer = try await api.call(.patch, "/v1/networks/acme", body, as: TestAPI.operatorToken)
        #expect(answer.refusal == "400 invalid-network")
        #expect(Set(pointers) == Set(answer.pointers), "\(answer.text)")
        #expect(try await api.call(.get, "/v1/networks/acme", as: TestAPI.operatorToken).text == before)
    }

    @Test func `an admin sees the network, and changes everything but its limits`() async throws {
        let network = try await api.makeNetwork()
        _ = try await api.makeNetwork("other")
        let path = "/v1/networks/acme"
        #expect(try await network.call(.get, path).status == 200)
        let body = #"{"displayName":"Mine","deviceRegistration":"appKey","webPushHosts":["*"]}"#
        let changed = try await network.call(.patch, path, body)
        #expect(changed.status == 200 && changed.string("displayName") == "Mine")
        for body in [#"{"limits":{"devicesPerUser":9}}"#, #"{"displayName":"X","limits":null}"#] {
            let refused = try await network.call(.patch, path, body)
            #expect(refused.status == 403)
            #expect(refused.problem == "forbidden" && refused.pointers == ["/limits"])
        }
        #expect(try await network.call(.get, path).string("displayName") == "Mine")
        #expect(try await network.call(.get, "/v1/networks/other").status == 404)
        #expect(try await network.call(.patch, "/v1/networks/other", "{}").status == 404)
        for role in ["device", "events"] {
            let key = try await api.makeKey(role, in: network)
            #expect(try await api.call(.get, path, as: key).status == 403)
            #expect(try await api.call(.patch, path, "{}", as: key).status == 403)
        }
        #expect(try await api.call(.get, path, as: network.token()).status == 403)
        #expect(try await network.call(.delete, path).status == 403)
    }

    @Test func `a deleted network is gone for everybody at once`() async throws {
        let network = try await api.makeNetwork()
        #expect(try await network.call(.get, "events").status == 200)
        #expect(try await api.call(.delete, "/v1/networks/acme", as: TestAPI.operatorToken).status == 204)
        #expect(try await api.call(.delete, "/v1/networks/acme", as: TestAPI.operatorToken).status == 404)
        #expect(try await network.call(.get, "events", as: TestAPI.operatorToken).status == 404)
        #expect(try await network.call(.get, "events").status == 401)
    }

    @Test(arguments: [("{}", "/role"), (#"{"role":"root"}"#, "/role"), (#"{"role":"admin","x":1}"#, "/x")])
    func `a bad key request is 400`(body: String, pointer: String) async throws {
        let network = try await api.makeNetwork()
        let answer = try await network.call(.post, "api-keys", body)
        #expect(answer.status == 400)
        #expect(answer.pointers == [pointer])
    }
}
