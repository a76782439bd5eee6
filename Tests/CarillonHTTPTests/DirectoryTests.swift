import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme) struct DirectoryTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `a user is put, shown, replaced and deleted`() async throws {
        let path = network.path("users/bob")
        let body = #"{"displayName":"Bob","locale":"th-TH","roles":["moderator"]}"#
        let shown = #"{"id":"bob","displayName":"Bob","locale":"th-TH","roles":["moderator"]}"#
        let created = try await network.call(.put, path, body)
        #expect(created.status == 201 && created.text == shown)
        #expect(try await network.call(.get, path).text == shown)
        let replaced = try await network.call(.put, path, "{}")
        #expect(replaced.status == 200)
        #expect(replaced.text == #"{"id":"bob","displayName":null,"locale":null,"roles":[]}"#)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        #expect(try await network.call(.delete, path).status == 404)
    }

    @Test(arguments: [
        (#"{"displayname":"Bob"}"#, ["/displayname"]), (#"{"roles":"admin"}"#, ["/roles"]),
        (#"{"roles":["a",7]}"#, ["/roles/1"]), (#"{"locale":"not a locale"}"#, ["/locale"]), ("[]", [""]),
        (#"{"displayName":true,"locale":7}"#, ["/displayName", "/locale"]), (#"{"id":"bob"}"#, ["/id"]),
    ])
    func `a bad user is 400 with every pointer`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.put, "users/bob", body)
        #expect(answer.refusal == "400 invalid-user")
        #expect(answer.pointers == pointers)
    }

    @Test func `a channel is put, shown and deleted`() async throws {
        let path = network.path("channels/general")
        let created = try await network.call(.put, path, #"{"displayName":"General"}"#)
        #expect(created.status == 201)
        #expect(created.text == #"{"id":"general","displayName":"General","direct":false}"#)
        #expect(try await network.call(.put, path, #"{"displayName":"New"}"#).status == 200)
        #expect(try await network.call(.get, path).string("displayName") == "New")
        let wrong = try await network.call(.put, path, #"{"name":"x"}"#)
        #expect(wrong.pointers == ["/name"])
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        #expect(try await network.call(.delete, path).status == 404)
        #expect(try await network.call(.get, path + "/members").status == 404)
    }

    @Test func `a channel is direct when somebody says so, until it is replaced`() async throws {
        let path = network.path("channels/dm")
        let created = try await network.call(.put, path, #"{"direct":true}"#)
        #expect(created.text == #"{"id":"dm","displayName":null,"direct":true}"#)
        #expect(try await network.call(.get, path).text == created.text)
        _ = try await network.call(.put, path, #"{"displayName":"Two"}"#)
        #expect(try await network.call(.get, path)["direct"] == false)
        let wrong = try await network.call(.put, path, #"{"direct":"yes"}"#)
        #expect(wrong.status == 400 && wrong.pointers == ["/direct"])
        let event = #"{"id":"1","type":"channel.updated","data":{"channel":{"id":"dm","direct":true}}}"#
        _ = try await network.call(.post, "events", event)
        #expect(try await network.call(.get, path)["direct"] == true)
    }

    @Test func `an imported channel may be direct`() async throws {
        func importing(_ line: String) async throws -> Answer {
            try await network.call(.post, "import", line, type: "application/x-ndjson")
        }
        #expect(try await importing(#"{"channel":{"id":"dm","direct":true}}"#)["channels"] == 1)
        #expect(try await network.call(.get, "channels/dm")["direct"] == true)
        #expect(try await importing(#"{"channel":{"id":"dm","direct":1}}"#).pointers == ["/channel/direct"])
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
        let line = #"{"device":{"id":"d","userId":"u","provider":"fcm","appId":"a","token":"t"\#(rest)}}"#
        let type = "application/x-ndjson"
        let answer = try await network.call(.post, "import", line, type: type)
        #expect(answer["devices"] == 1)
        func stored() async throws -> Device? {
            try await api.store.devices.device("d", in: NetworkID(trusted: network.id))
        }
        #expect(try await stored()?.obtainedAt?.description == begin)
        let device = try await network.call(.get, "devices/d")
        #expect(device.string("registeredAt") == shown)
        let own = #"{"userId":"u","provider":"fcm","appId":"a","token":"t"}"#
        _ = try await network.call(.put, "devices/d", own)
        #expect(try await stored()?.obtainedAt == nil, "registered, it begins then")
        let wrong = #"{"userId":"u","provider":"log","registeredAt":"2025-03-01T10:00:00Z"}"#
        let refused = try await network.call(.put, "devices/e", wrong)
        #expect(refused.status == 400 && refused.pointers == ["/registeredAt"])
    }

    @Test func `members are replaced, added, listed in pages and removed`() async throws {
        let path = network.path("channels/general/members")
        let body = #"{"userIds":["carol","alice","bob","alice"]}"#
        #expect(try await network.call(.put, path, body).status == 204)
        let first = try await network.call(.get, path + "?limit=2")
        let cursor = try #require(first.string("next"))
        #expect(first.text == #"{"items":[{"userId":"alice"},{"userId":"bob"}],"next":"\#(cursor)"}"#)
        let second = try await network.call(.get, path + "?limit=2&cursor=\(cursor)")
        #expect(second.text == #"{"items":[{"userId":"carol"}]}"#)
        #expect(try await network.call(.put, path + "/dave").status == 201)
        #expect(try await network.call(.put, path + "/dave", "{}").status == 200)
        #expect(try await network.call(.get, "users/dave").status == 200)
        #expect(try await network.call(.delete, path + "/dave").status == 204)
        #expect(try await network.call(.delete, path + "/dave").status == 404)
        #expect(try await network.call(.put, path, #"{"userIds":[]}"#).status == 204)
        #expect(try await network.call(.get, path).text == #"{"items":[]}"#)
    }

    @Test(arguments: [
        ("{}", ["/userIds"]), (#"{"userIds":"bob"}"#, ["/userIds"]), (#"{"userIds":["me"]}"#, ["/userIds/0"]),
        (#"{"userIds":["a",1,""]}"#, ["/userIds/1", "/userIds/2"]), (#"{"userIds":[],"users":[]}"#, ["/users"]),
    ])
    func `bad members are 400 with every pointer`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.put, "channels/c/members", body)
        #expect(answer.status == 400)
        #expect(answer.pointers == pointers)
    }

    @Test func `one network knows nothing of another's directory`() async throws {
        let other = try await api.makeNetwork("other")
        #expect(try await network.call(.put, "users/bob", "{}").status == 201)
        #expect(try await other.call(.get, "users/bob").status == 404)
        #expect(try await other.call(.get, network.path("users/bob")).status == 404)
    }
}

@Suite(.acme) struct ImportTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let type = "application/x-ndjson"

    @Test func `lines of all kinds are counted and applied`() async throws {
        let body = """
            {"user":{"id":"bob","displayName":"Bob"}}
            {"user":{"id":"carol"}}\r

            {"channel":{"id":"general","displayName":"General"}}
            {"member":{"channelId":"general","userId":"bob"}}
            {"device":{"id":"d-1","userId":"bob","provider":"log"}}
            """
        let answer = try await network.call(.post, "import", body, type: Self.type)
        #expect(answer.status == 200)
        #expect(answer.text == #"{"users":2,"channels":1,"members":1,"devices":1}"#)
        let members = try await network.call(.get, "channels/general/members")
        #expect(members.text == #"{"items":[{"userId":"bob"}]}"#)
        #expect(try await network.call(.get, "devices/d-1").status == 200)
    }

    @Test func `many lines are applied in batches`() async throws {
        let body = (0..<20_000).map { #"{"member":{"channelId":"c","userId":"user-\#($0)"}}"# }
        let answer = try await network.call(.post, "import", body.joined(separator: "\n"), type: Self.type)
        #expect(answer.text == #"{"users":0,"channels":0,"members":20000,"devices":0}"#)
        let last = try await network.call(.get, "users/user-19999")
        #expect(last.status == 200)
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
        let body = #"{"user":{"id":"bob"}}"# + "\n\n" + line + "\n" + #"{"user":{"id":"carol"}}"#
        let answer = try await network.call(.post, "import", body, type: Self.type)
        #expect(answer.refusal == "400 invalid-import")
        #expect(answer.string("detail")?.contains("line 3:") == true)
        #expect(answer.pointers.contains(pointer))
        #expect(try await network.call(.get, "users/bob").status == 404)
    }

    @Test func `an import of nothing imports nothing`() async throws {
        let answer = try await network.call(.post, "import", "", type: Self.type)
        #expect(answer.text == #"{"users":0,"channels":0,"members":0,"devices":0}"#)
    }

    @Test func `an import is NDJSON, by an admin`() async throws {
        let json = try await network.call(.post, "import", "{}")
        #expect(json.status == 415)
        let key = try await api.makeKey("events", in: network)
        let forbidden = try await network.call(.post, "import", "", as: key, type: Self.type)
        #expect(forbidden.status == 403)
    }
}

/// Tags and subscriptions in imports (FACES section B2).
@Suite(.acme) struct TagImportTests {
    private let network: Credentials = lent()
    private static let type = "application/x-ndjson"

    @Test func `tags and subscriptions are counted and applied`() async throws {
        _ = try await network.call(.put, "devices/known", #"{"userId":"bob","provider":"log"}"#)
        let body = """
            {"tag":{"id":"beta","description":"Early birds","selfService":true}}
            {"subscription":{"tag":"beta","userId":"alice"}}

            {"device":{"id":"d-1","userId":"bob","provider":"log"}}
            {"subscription":{"tag":"beta","deviceId":"d-1"}}
            {"subscription":{"tag":"beta","deviceId":"known"}}
            """
        let answer = try await network.call(.post, "import", body, type: Self.type)
        #expect(answer.text == #"{"users":0,"channels":0,"members":0,"devices":1,"tags":1,"subscriptions":3}"#)
        let tag = try await network.call(.get, "tags/beta")
        #expect(tag.string("description") == "Early birds" && tag["selfService"] == true)
        let list = try await network.call(.get, "tags/beta/subscribers")
        #expect(list.text == #"{"items":[{"deviceId":"d-1"},{"deviceId":"known"},{"userId":"alice"}]}"#)
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
        let body = "{\"user\":{\"id\":\"bob\"}}\n\(line)"
        let answer = try await network.call(.post, "import", body, type: Self.type)
        #expect(answer.refusal == "400 invalid-import")
        #expect(answer.pointers.first == pointer)
        #expect(answer.string("detail")?.contains("line 2") == true)
    }

    @Test
    func `a subscription of a device that nobody has heard of is a bad line, and nothing is imported`() async throws {
        let many = (0..<3_000).map { #"{"user":{"id":"user-\#($0)"}}"# }
        let lines =
            many + [
                "", #"{"subscription":{"tag":"t","userId":"user-1"}}"#,
                #"{"subscription":{"tag":"t","deviceId":"late"}}"#,
            ] + many + [#"{"device":{"id":"late","userId":"bob","provider":"log"}}"#]
        let body = lines.joined(separator: "\n")
        let answer = try await network.call(.post, "import", body, type: Self.type)
        #expect(answer.refusal == "400 invalid-import")
        #expect(answer.pointers == ["/subscription/deviceId"])
        #expect(answer.string("detail")?.contains("line 3003:") == true)
        #expect(try await network.call(.get, "users/user-1").status == 404)
    }
}
