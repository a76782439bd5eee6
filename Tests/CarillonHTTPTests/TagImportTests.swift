import CarillonCore
import HTTPTypes
import Testing

/// Tags and subscriptions in imports (FACES section B2).
@Suite struct TagImportTests {
    private static let type = "application/x-ndjson"

    @Test func `tags and subscriptions are counted and applied`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            _ = try await api.call(
                .put,
                network.path("devices/known"),
                #"{"userId":"bob","provider":"log"}"#,
                as: network.adminKey
            )
            let body = """
                {"tag":{"id":"beta","description":"Early birds","selfService":true}}
                {"subscription":{"tag":"beta","userId":"alice"}}

                {"device":{"id":"d-1","userId":"bob","provider":"log"}}
                {"subscription":{"tag":"beta","deviceId":"d-1"}}
                {"subscription":{"tag":"beta","deviceId":"known"}}
                """
            let answer = try await api.call(.post, network.path("import"), body, as: network.adminKey, type: Self.type)
            #expect(
                answer.text == #"{"users":0,"channels":0,"members":0,"devices":1,"tags":1,"subscriptions":3}"#
            )
            let tag = try await api.call(.get, network.path("tags/beta"), as: network.adminKey)
            #expect(tag.string("description") == "Early birds" && tag["selfService"] == true)
            let list = try await api.call(.get, network.path("tags/beta/subscribers"), as: network.adminKey)
            #expect(list.text == #"{"items":[{"deviceId":"d-1"},{"deviceId":"known"},{"userId":"alice"}]}"#)
        }
    }

    @Test(arguments: [
        (#"{"tag":{"description":"no id"}}"#, "/tag/id"),
        (#"{"tag":{"id":"t","selfservice":true}}"#, "/tag/selfservice"),
        (#"{"subscription":{"userId":"a"}}"#, "/subscription/tag"),
        (#"{"subscription":{"tag":"t"}}"#, "/subscription/userId"),
        (#"{"subscription":{"tag":"t","userId":"a","deviceId":"d"}}"#, "/subscription/userId"),
        (#"{"subscription":{"tag":"t","userId":"me"}}"#, "/subscription/userId"),
        (#"{"subscription":{"tag":"t","deviceId":"d","since":1}}"#, "/subscription/since"),
    ])
    func `a bad line is named with its place`(line: String, pointer: String) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let body = "{\"user\":{\"id\":\"bob\"}}\n\(line)"
            let answer = try await api.call(.post, network.path("import"), body, as: network.adminKey, type: Self.type)
            #expect(answer.status == 400)
            #expect(answer.problem == "invalid-import")
            #expect(answer.pointers.first == pointer)
            #expect(answer.string("detail")?.contains("line 2") == true)
        }
    }

    @Test func `a subscription of a device that nobody has heard of is a bad line, and nothing is imported`()
        async throws
    {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let many = (0..<3_000).map { #"{"user":{"id":"user-\#($0)"}}"# }
            let lines =
                many + [
                    "", #"{"subscription":{"tag":"t","userId":"user-1"}}"#,
                    #"{"subscription":{"tag":"t","deviceId":"late"}}"#,
                ] + many + [#"{"device":{"id":"late","userId":"bob","provider":"log"}}"#]
            let body = lines.joined(separator: "\n")
            let answer = try await api.call(.post, network.path("import"), body, as: network.adminKey, type: Self.type)
            #expect(answer.status == 400)
            #expect(answer.problem == "invalid-import")
            #expect(answer.pointers == ["/subscription/deviceId"])
            #expect(answer.string("detail")?.contains("line 3003:") == true)
            #expect(try await api.call(.get, network.path("users/user-1"), as: network.adminKey).status == 404)
        }
    }
}
