import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@Suite struct DirectoryTests {
    @Test func `a user is put, shown, replaced and deleted`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("users/bob")
            let body = #"{"displayName":"Bob","locale":"th-TH","roles":["moderator"]}"#
            let shown = #"{"id":"bob","displayName":"Bob","locale":"th-TH","roles":["moderator"]}"#
            let created = try await api.call(.put, path, body, as: network.adminKey)
            #expect(created.status == 201 && created.text == shown)
            #expect(try await api.call(.get, path, as: network.adminKey).text == shown)
            let replaced = try await api.call(.put, path, "{}", as: network.adminKey)
            #expect(replaced.status == 200)
            #expect(replaced.text == #"{"id":"bob","displayName":null,"locale":null,"roles":[]}"#)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 204)
            #expect(try await api.call(.get, path, as: network.adminKey).status == 404)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 404)
        }
    }

    @Test(arguments: [
        (#"{"displayname":"Bob"}"#, ["/displayname"]), (#"{"roles":"admin"}"#, ["/roles"]),
        (#"{"roles":["a",7]}"#, ["/roles/1"]), (#"{"locale":"not a locale"}"#, ["/locale"]), ("[]", [""]),
        (#"{"displayName":true,"locale":7}"#, ["/displayName", "/locale"]), (#"{"id":"bob"}"#, ["/id"]),
    ])
    func `a bad user is 400 with every pointer`(body: String, pointers: [String]) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.put, network.path("users/bob"), body, as: network.adminKey)
            #expect(answer.status == 400)
            #expect(answer.problem == "invalid-user")
            #expect(answer.pointers == pointers)
        }
    }

    @Test func `a channel is put, shown and deleted`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("channels/general")
            let created = try await api.call(.put, path, #"{"displayName":"General"}"#, as: network.adminKey)
            #expect(created.status == 201)
            #expect(created.text == #"{"id":"general","displayName":"General","direct":false}"#)
            #expect(try await api.call(.put, path, #"{"displayName":"New"}"#, as: network.adminKey).status == 200)
            #expect(try await api.call(.get, path, as: network.adminKey).string("displayName") == "New")
            let wrong = try await api.call(.put, path, #"{"name":"x"}"#, as: network.adminKey)
            #expect(wrong.pointers == ["/name"])
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 204)
            #expect(try await api.call(.get, path, as: network.adminKey).status == 404)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 404)
            #expect(try await api.call(.get, path + "/members", as: network.adminKey).status == 404)
        }
    }

    @Test func `a channel is direct when somebody says so, until it is replaced`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("channels/dm")
            let created = try await api.call(.put, path, #"{"direct":true}"#, as: network.adminKey)
            #expect(created.text == #"{"id":"dm","displayName":null,"direct":true}"#)
            #expect(try await api.call(.get, path, as: network.adminKey).text == created.text)
            _ = try await api.call(.put, path, #"{"displayName":"Two"}"#, as: network.adminKey)
            #expect(try await api.call(.get, path, as: network.adminKey)["direct"] == false)
            let wrong = try await api.call(.put, path, #"{"direct":"yes"}"#, as: network.adminKey)
            #expect(wrong.status == 400 && wrong.pointers == ["/direct"])
            let event = #"{"id":"1","type":"channel.updated","data":{"channel":{"id":"dm","direct":true}}}"#
            _ = try await api.call(.post, network.path("events"), event, as: network.adminKey)
            #expect(try await api.call(.get, path, as: network.adminKey)["direct"] == true)
        }
    }

    @Test func `an imported channel may be direct`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            func importing(_ line: String) async throws -> Answer {
                try await api.call(
                    .post,
                    network.path("import"),
                    line,
                    as: network.adminKey,
                    type: "application/x-ndjson"
                )
            }
            #expect(try await importing(#"{"channel":{"id":"dm","direct":true}}"#)["channels"] == 1)
            #expect(try await api.call(.get, network.path("channels/dm"), as: network.adminKey)["direct"] == true)
            #expect(try await importing(#"{"channel":{"id":"dm","direct":1}}"#).pointers == ["/channel/direct"])
        }
    }

    @Test(arguments: [
        (#","registeredAt":"2025-03-01T10:00:00Z""#, "2025-03-01T10:00:00.000Z", "2025-03-01T10:00:00.000Z"),
        ("", "1970-01-01T00:00:00.000Z", "2026-11-24T12:00:00.000Z"),
        (#","registeredAt":"2099-01-01T00:00:00Z""#, "2026-11-24T12:00:00.000Z", "2026-11-24T12:00:00.000Z"),
    ])
    func `an imported device begins when it was registered, or at no time`(
        rest: String,
        begin: String,
        shown: String
    ) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let line = #"{"device":{"id":"d","userId":"u","provider":"fcm","appId":"a","token":"t"\#(rest)}}"#
            let type = "application/x-ndjson"
            let answer = try await api.call(.post, network.path("import"), line, as: network.adminKey, type: type)
            #expect(answer["devices"] == 1)
            func stored() async throws -> Device? {
                try await api.store.devices.device("d", in: NetworkID(trusted: network.id))
            }
            #expect(try await stored()?.obtainedAt?.description == begin)
            let device = try await api.call(.get, network.path("devices/d"), as: network.adminKey)
            #expect(device.string("registeredAt") == shown)
            let own = #"{"userId":"u","provider":"fcm","appId":"a","token":"t"}"#
            _ = try await api.call(.put, network.path("devices/d"), own, as: network.adminKey)
            #expect(try await stored()?.obtainedAt == nil, "registered, it begins then")
            let wrong = #"{"userId":"u","provider":"log","registeredAt":"2025-03-01T10:00:00Z"}"#
            let refused = try await api.call(.put, network.path("devices/e"), wrong, as: network.adminKey)
            #expect(refused.status == 400 && refused.pointers == ["/registeredAt"])
        }
    }

    @Test func `members are replaced, added, listed in pages and removed`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("channels/general/members")
            let body = #"{"userIds":["carol","alice","bob","alice"]}"#
            #expect(try await api.call(.put, path, body, as: network.adminKey).status == 204)
            let first = try await api.call(.get, path + "?limit=2", as: network.adminKey)
            let cursor = try #require(first.string("next"))
            #expect(first.text == #"{"items":[{"userId":"alice"},{"userId":"bob"}],"next":"\#(cursor)"}"#)
            let second = try await api.call(.get, path + "?limit=2&cursor=\(cursor)", as: network.adminKey)
            #expect(second.text == #"{"items":[{"userId":"carol"}]}"#)
            #expect(try await api.call(.put, path + "/dave", as: network.adminKey).status == 201)
            #expect(try await api.call(.put, path + "/dave", "{}", as: network.adminKey).status == 200)
            #expect(try await api.call(.get, network.path("users/dave"), as: network.adminKey).status == 200)
            #expect(try await api.call(.delete, path + "/dave", as: network.adminKey).status == 204)
            #expect(try await api.call(.delete, path + "/dave", as: network.adminKey).status == 404)
            #expect(try await api.call(.put, path, #"{"userIds":[]}"#, as: network.adminKey).status == 204)
            #expect(try await api.call(.get, path, as: network.adminKey).text == #"{"items":[]}"#)
        }
    }

    @Test(arguments: [
        ("{}", ["/userIds"]), (#"{"userIds":"bob"}"#, ["/userIds"]), (#"{"userIds":["me"]}"#, ["/userIds/0"]),
        (#"{"userIds":["a",1,""]}"#, ["/userIds/1", "/userIds/2"]), (#"{"userIds":[],"users":[]}"#, ["/users"]),
    ])
    func `bad members are 400 with every pointer`(body: String, pointers: [String]) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.put, network.path("channels/c/members"), body, as: network.adminKey)
            #expect(answer.status == 400)
            #expect(answer.pointers == pointers)
        }
    }

    @Test func `one network knows nothing of another's directory`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let other = try await api.makeNetwork("other")
            #expect(try await api.call(.put, network.path("users/bob"), "{}", as: network.adminKey).status == 201)
            #expect(try await api.call(.get, other.path("users/bob"), as: other.adminKey).status == 404)
            #expect(try await api.call(.get, network.path("users/bob"), as: other.adminKey).status == 404)
        }
    }
}

@Suite struct ImportTests {
    private static let type = "application/x-ndjson"

    @Test func `lines of all kinds are counted and applied`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let body = """
                {"user":{"id":"bob","displayName":"Bob"}}
                {"user":{"id":"carol"}}\r

                {"channel":{"id":"general","displayName":"General"}}
                {"member":{"channelId":"general","userId":"bob"}}
                {"device":{"id":"d-1","userId":"bob","provider":"log"}}
                """
            let answer = try await api.call(.post, network.path("import"), body, as: network.adminKey, type: Self.type)
            #expect(answer.status == 200)
            #expect(answer.text == #"{"users":2,"channels":1,"members":1,"devices":1}"#)
            let members = try await api.call(.get, network.path("channels/general/members"), as: network.adminKey)
            #expect(members.text == #"{"items":[{"userId":"bob"}]}"#)
            #expect(try await api.call(.get, network.path("devices/d-1"), as: network.adminKey).status == 200)
        }
    }

    @Test func `many lines are applied in batches`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let body = (0..<20_000).map { #"{"member":{"channelId":"c","userId":"user-\#($0)"}}"# }
            let answer = try await api.call(
                .post,
                network.path("import"),
                body.joined(separator: "\n"),
                as: network.adminKey,
                type: Self.type
            )
            #expect(answer.text == #"{"users":0,"channels":0,"members":20000,"devices":0}"#)
            let last = try await api.call(.get, network.path("users/user-19999"), as: network.adminKey)
            #expect(last.status == 200)
        }
    }

    @Test(arguments: [
        ("{", ""), (#"{"user":{}}"#, "/user/id"), (#"{"users":{}}"#, "/users"), ("{}", ""), ("[]", ""),
        (#"{"user":{"id":"x","name":"y"}}"#, "/user/name"), (#"{"user":{"id":"x"},"channel":{"id":"y"}}"#, "/channel"),
        (#"{"member":{"channelId":"c"}}"#, "/member/userId"),
        (#"{"member":{"channelId":"c","userId":"me"}}"#, "/member/userId"),
        (#"{"device":{"id":"d","userId":"u","provider":"apns"}}"#, "/device/token"),
        (#"{"device":{"id":"d","userId":"me","provider":"log"}}"#, "/device/userId"), (#"{"channel":7}"#, "/channel"),
        (#"{"device":{"id":"d","userId":"u","provider":"log","extra":1}}"#, "/device/extra"),
        (#"{"device":{"id":"d","userId":"u","provider":"log","registeredAt":"yesterday"}}"#, "/device/registeredAt"),
        (#"{"device":{"id":"d","userId":"u","provider":"log","registeredAt":1700000000}}"#, "/device/registeredAt"),
        (#"{"user":{"id":"\#(String(repeating: "x", count: 65_536))"}}"#, ""),
    ])
    func `a bad line is named, and nothing is imported`(line: String, pointer: String) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let body = #"{"user":{"id":"bob"}}"# + "\n\n" + line + "\n" + #"{"user":{"id":"carol"}}"#
            let answer = try await api.call(.post, network.path("import"), body, as: network.adminKey, type: Self.type)
            #expect(answer.status == 400)
            #expect(answer.problem == "invalid-import")
            #expect(answer.string("detail")?.contains("line 3:") == true)
            #expect(answer.pointers.contains(pointer))
            #expect(try await api.call(.get, network.path("users/bob"), as: network.adminKey).status == 404)
        }
    }

    @Test func `an import of nothing imports nothing`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.post, network.path("import"), "", as: network.adminKey, type: Self.type)
            #expect(answer.text == #"{"users":0,"channels":0,"members":0,"devices":0}"#)
        }
    }

    @Test func `an import is NDJSON, by an admin`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let json = try await api.call(.post, network.path("import"), "{}", as: network.adminKey)
            #expect(json.status == 415)
            let key = try await api.makeKey("events", in: network)
            let forbidden = try await api.call(.post, network.path("import"), "", as: key, type: Self.type)
            #expect(forbidden.status == 403)
        }
    }
}
