import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import HummingbirdTesting
import Testing

/// Devices, subscriptions, tags and messages, as SDKs and back ends use them.
@Suite(.mobileFirst) struct MobileFirstResourceTests {
    private let service: MobileFirstService = lent()

    @Test func `a device is registered, found, changed and removed`() async throws {
        let token = try await service.backEnd()
        #expect(try await service.call(.get, "devices/d1", as: token).refusal == "404 FPWSE0001E")
        let body =
            #"{"deviceId":"d1","token":"<32E7 b1a1>","platform":"A","userId":"alice","phoneNumber":"1","x":[]}"#
        for _ in 1...2 {
            let made = try await service.call(.post, "devices/", body, as: token)
            #expect(made.status == 201)
            #expect(made.string("deviceId") == "d1" && made.string("userId") == "alice")
            #expect(made.string("platform") == "A" && made.string("phoneNumber") == "1")
            #expect(made.string("createdTime") == "2026-11-24T12:00:00Z")
        }
        let device = try #require(try await service.stage.device("d1"))
        #expect(device.address == .apns(token: "32e7b1a1", appID: "ios.app", environment: .sandbox))
        let changed = try await service.call(.put, "devices/d1", #"{"userId":""}"#, as: token)
        #expect(changed.status == 200 && changed.string("userId") == "" && changed.string("token") == "32e7b1a1")
        let moved = try await service.call(.put, "devices/d1", #"{"token":"t","platform":"G"}"#, as: token)
        #expect(moved.string("platform") == "G" && moved.string("token") == "t")
        #expect(try await service.call(.get, "devices/d1", as: token).string("token") == "t")
        #expect(try await service.call(.put, "devices/none", #"{"token":"t"}"#, as: token).status == 404)
        #expect(try await service.call(.delete, "devices/d1", as: token).status == 204)
        #expect(try await service.call(.delete, "devices/d1", as: token).status == 404)
    }

    @Test func `an app registers for its own user and sees nobody else's devices`() async throws {
        try await withMobileFirst(deviceRegistration: .userToken) { service in
            let (alice, bob) = (try service.app("alice"), try service.app("bob"))
            let body = #"{"deviceId":"d1","token":"t1","platform":"G"}"#
            #expect(try await service.call(.post, "devices", body, as: alice).string("userId") == "alice")
            let named = #"{"deviceId":"d2","token":"t2","platform":"G","userId":"alice"}"#
            #expect(try await service.call(.post, "devices", named, as: bob).refusal == "403 -")
            #expect(try await service.call(.get, "devices/d1", as: bob).refusal == "404 FPWSE0001E")
            #expect(try await service.call(.delete, "devices/d1", as: bob).refusal == "404 FPWSE0001E")
            #expect(try await service.call(.get, "devices/d1", as: alice).string("token") == "t1")
            #expect(try await service.call(.get, "devices", as: alice)["pageInfo", "totalCount"] == "1")
            #expect(try await service.call(.get, "devices", as: bob)["pageInfo", "totalCount"] == "0")
            #expect(try await service.call(.get, "devices?userId=alice", as: bob).refusal == "403 -")
            let other = #"{"deviceId":"d1","token":"t9","platform":"G"}"#
            #expect(try await service.call(.post, "devices", other, as: bob).refusal == "409 FPWSE0002E")
            let nobody = try service.app(nil)
            let unowned = try await service.call(.post, "devices", named, as: nobody)
            #expect(unowned.status == 201 && unowned.string("userId") == "", "nobody vouches for the name")
            #expect(try await service.call(.get, "devices/d1", as: nobody).status == 404)
            let key = ["clientSecret": try await service.addKey("app", ["clientSecret"])]
            let older = try await service.call(.post, "devices", named, headers: key)
            #expect(older.status == 201 && older.string("userId") == "")
        }
    }

    @Test func `a device from before a login is its user's, whatever its token is by then`() async throws {
        try await withMobileFirst(deviceRegistration: .userToken) { service in
            func register(_ token: String, as user: String?) async throws -> Answer {
                let body = #"{"deviceId":"d1","token":"\#(token)","platform":"G"}"#
                return try await service.call(.post, "devices", body, as: service.app(user))
            }
            let before = try await register("t1", as: nil)
            #expect(before.status == 201 && before.string("userId") == "")
            let login = try await register("t2", as: "alice")
            #expect(login.status == 201 && login.string("userId") == "alice" && login.string("token") == "t2")
            #expect(try await register("t3", as: "bob").refusal == "409 FPWSE0002E")
        }
    }

    @Test func `where apps are trusted, an older one says whose device it is`() async throws {
        let key = ["clientSecret": try await service.addKey("app", ["clientSecret"])]
        let body = #"{"deviceId":"d1","token":"t1","platform":"G","userId":"alice"}"#
        #expect(try await service.call(.post, "devices", body, headers: key).string("userId") == "alice")
        let seen = try await service.call(.get, "devices/d1", headers: key)
        #expect(seen.status == 200 && seen["token"] == nil)
    }

    @Test func `lists are counted, narrowed and linked`() async throws {
        let token = try await service.backEnd()
        for number in 1...5 {
            let (platform, user) = (number == 5 ? "A" : "G", number < 3 ? "alice" : "bob")
            let body =
                #"{"deviceId":"d\#(number)","token":"a\#(number)","platform":"\#(platform)","userId":"\#(user)"}"#
            #expect(try await service.call(.post, "devices", body, as: token).status == 201)
        }
        let first = try await service.call(.get, "devices?size=2&expand=true", as: token)
        #expect(first["devices", "0", "deviceId"] == "d1" && first["devices", "2"] == nil)
        #expect(first["pageInfo", "count"] == "2" && first["pageInfo", "totalCount"] == "5")
        #expect(first["pageInfo", "previous"] == "")
        let next = try #require(first.string("pageInfo", "next"))
        #expect(next.hasSuffix("/imfpush/v1/apps/com.acme/devices?expand=true&offset=2&size=2"))
        let last = try await service.call(.get, "devices?offset=4&size=2", as: token)
        #expect(last["devices", "0", "deviceId"] == "d5" && last["pageInfo", "next"] == "")
        #expect(last.string("pageInfo", "previous")?.hasSuffix("offset=2&size=2") == true)
        for (query, total) in [
            ("userId=alice", "2"), ("filter=userId==bob", "3"), ("filter=platform==A", "1"),
            ("filter=tagName==none", "0"), ("userId=bob&filter=platform==G", "2"),
        ] {
            #expect(
                try await service.call(.get, "devices?\(query)", as: token)["pageInfo", "totalCount"]
                    == .string(total)
            )
        }
        let left = try await service.call(.delete, "subscriptions?deviceId=d2&tagName=Push.ALL", as: token)
        #expect(left.status == 204)
        let everyone = try await service.call(.get, "devices?filter=tagName==push.ALL", as: token)
        #expect(everyone["pageInfo", "totalCount"] == "4")
    }

    @Test(arguments: [(TrustedProxies.loopback, "https"), (.none, "http")])
    func `links begin as a trusted proxy heard the request, and nobody else's word is taken`(
        proxies: TrustedProxies,
        scheme: String
    ) async throws {
        var settings = ServerSettings()
        settings.trustedProxies = proxies
        try await withMobileFirst(settings: settings, setup: .live) { service in
            let token = try await service.backEnd()
            let headers = ["x-forwarded-proto": "https"]
            _ = try await service.call(.post, "tags", #"{"name":"a"}"#, as: token)
            let tag = try await service.call(.get, "tags/a", as: token, headers: headers)
            #expect(tag.string("href")?.hasPrefix(scheme + "://") == true)
            let list = try await service.call(.get, "tags?offset=1", as: token, headers: headers)
            #expect(list.string("pageInfo", "previous")?.hasPrefix(scheme + "://") == true)
            #expect(try await service.call(.get, "tags/a", as: token).string("href")?.hasPrefix("http://") == true)
        }
    }

    @Test func `tags are declared once, and devices subscribe to what is declared`() async throws {
        let token = try await service.backEnd()
        let made = try await service.call(.post, "tags", #"{"name":"a b","description":"A"}"#, as: token)
        #expect(made.status == 201 && made.string("createdMode") == "API")
        #expect(made.string("href")?.hasSuffix("/imfpush/v1/apps/com.acme/tags/a%20b") == true)
        #expect(try await service.call(.post, "tags", #"{"name":"a b"}"#, as: token).refusal == "409 FPWSE0002E")
        #expect(
            try await service.call(.put, "tags/a%20b", #"{"description":"B"}"#, as: token).string("description")
                == "B"
        )
        #expect(try await service.call(.get, "tags/a%20b", as: token).string("description") == "B")
        #expect(try await service.call(.get, "tags", as: token)["tags", "0", "name"] == "a b")
        let app = try service.app("alice")
        let device = #"{"deviceId":"d1","token":"t1","platform":"G"}"#
        #expect(try await service.call(.post, "devices", device, as: app).status == 201)
        let one = #"{"deviceId":"d1","tagName":"a b"}"#
        let begun = try await service.call(.post, "subscriptions", one, as: app)
        #expect(begun.status == 201 && begun.string("deviceId") == "d1" && begun.string("tagName") == "a b")
        #expect(try await service.call(.post, "subscriptions", one, as: app).refusal == "409 FPWSE0011E")
        let unknown = #"{"deviceId":"d1","tagName":"none"}"#
        #expect(try await service.call(.post, "subscriptions", unknown, as: app).refusal == "404 FPWSE0001E")
        #expect(try await service.call(.post, "subscriptions", one, as: service.app("bob")).status == 404)
        _ = try await service.call(.post, "tags", #"{"name":"c"}"#, as: token)
        let many = try await service.call(
            .post,
            "subscriptions",
            #"{"deviceId":"d1","tagNames":["a b","c","none","PUSH.all"]}"#,
            as: app
        )
        #expect(many.status == 200 && many["subscribed"] == ["c"])
        #expect(many["subscriptionExists"] == ["a b", "PUSH.all"])
        #expect(many["tagsNotFound", "tags"] == ["none"] && many["tagsNotFound", "code"] == "FPWSE0001E")
        let list = try await service.call(.get, "subscriptions?deviceId=d1", as: app)
        #expect(list["pageInfo", "totalCount"] == "3")
        #expect(list["subscriptions", "0", "tagName"] == "Push.ALL" && list["subscriptions", "2", "tagName"] == "c")
        let second = try await service.call(.get, "subscriptions?deviceId=d1&offset=1&size=1", as: app)
        #expect(second["subscriptions", "0", "tagName"] == "a b" && second["pageInfo", "count"] == "1")
        let id = Base64URL.encode("d1\u{0}c".utf8)
        #expect(try await service.call(.get, "subscriptions/\(id)", as: app).string("tagName") == "c")
        #expect(try await service.call(.delete, "subscriptions/\(id)", as: app).status == 204)
        #expect(try await service.call(.delete, "subscriptions/\(id)", as: app).refusal == "404 FPWSE0012E")
        let both = #"{"deviceId":"d1","tagNames":["a b","c"]}"#
        #expect(try await service.call(.post, "subscriptions?action=delete", both, as: app).status == 204)
        #expect(try await service.call(.get, "subscriptions?userId=alice", as: token)["pageInfo", "totalCount"] == "1")
        #expect(try await service.call(.delete, "tags/c", as: token).status == 204)
    }

    @Test func `every device gets what goes to everyone unless it left`() async throws {
        let token = try await service.backEnd()
        let device = #"{"deviceId":"d1","token":"t1","platform":"G"}"#
        #expect(try await service.call(.post, "devices", device, as: token).status == 201)
        let path = "subscriptions?deviceId=d1&tagName=push.ALL"
        #expect(try await service.call(.delete, path, as: token).status == 204)
        #expect(try await service.stage.device("d1")?.broadcasts == false)
        #expect(try await service.call(.delete, path, as: token).refusal == "404 FPWSE0012E")
        #expect(try await service.call(.get, "subscriptions", as: token)["pageInfo", "totalCount"] == "0")
        #expect(try await service.call(.put, "devices/d1", #"{"token":"t2"}"#, as: token).status == 200)
        #expect(try await service.stage.device("d1")?.broadcasts == false)
        let again = #"{"deviceId":"d1","tagName":"Push.ALL"}"#
        #expect(try await service.call(.post, "subscriptions", again, as: token).status == 201)
        #expect(try await service.stage.device("d1")?.broadcasts == true)
    }

    @Test func `Android is told the sender`() async throws {
        let answer = try await service.call(.get, "settings/gcmConfPublic", as: service.app(nil))
        #expect(answer.json == ["senderId": "4711"])
    }

    @Test func `another application of the network sees nothing of a message`() async throws {
        try await service.bind("com.acme.other", to: "acme")
        let token = try await service.backEnd(["messages.write", "push.application.*"])
        let answer = try await service.call(.post, "messages", #"{"message":{"alert":"Hi"}}"#, as: token)
        let id = try #require(answer.string("messageId"))
        #expect(try await service.call(.get, "messages/\(id)", as: token).status == 200)
        let elsewhere = "/imfpush/v1/apps/com.acme.other/messages/\(id)"
        #expect(try await service.call(.get, elsewhere, as: token).refusal == "404 FPWSE0001E")
    }

    @Test func `what a message said is told for seven days`() async throws {
        let token = try await service.backEnd()
        let alert = String(repeating: "é", count: 3_000)
        let body =
            #"[{"message":{"alert":"Hi"}},{"message":{"alert":"\#(alert)"}},{"settings":{"apns":{"type":"SILENT"}}}]"#
        let answer = try await service.call(.post, "messages/bulk", body, as: token)
        var ids: [String] = []
        for number in 0..<3 {
            guard case .string(let id)? = answer["\(number)", "messageId"] else { continue }
            ids.append(id)
        }
        try #require(ids.count == 3)
        let first = try await service.call(.get, "messages/\(ids[0])", as: token)
        #expect(first.string("message", "alert") == "Hi")
        let long = try await service.call(.get, "messages/\(ids[1])", as: token).string("message", "alert") ?? ""
        #expect(long.utf8.count <= FaceTexts.maximumBytes && long.hasPrefix("éé"))
        let silent = try await service.call(.get, "messages/\(ids[2])", as: token)
        #expect(silent.status == 200 && silent["message", "alert"] == nil)
        try await service.stage.advance(by: FaceTexts.retention - .seconds(1))
        let sixth = try await service.backEnd(["messages.write", "push.application.*"])
        #expect(try await service.call(.get, "messages/\(ids[0])", as: sixth).string("message", "alert") == "Hi")
        try await service.stage.advance(by: .seconds(1))
        let old = try await service.call(.get, "messages/\(ids[0])", as: sixth)
        #expect(old.status == 200 && old["message", "alert"] == nil && old["message", "status"] != nil)
    }

    @Test func `a message is a direct notification, and can be looked up`() async throws {
        let token = try await service.backEnd()
        let answer = try await service.call(
            .post,
            "messages",
            #"{"message":{"alert":"Hi"},"target":{"tagNames":["t"]},"settings":{"apns":{"badge":2}}}"#,
            as: token
        )
        #expect(answer.status == 202 && answer.string("message", "alert") == "Hi")
        let id = try #require(answer.string("messageId"))
        guard case .object(let data)? = service.lastNotification else {
            Issue.record("nothing was accepted")
            return
        }
        #expect(data["to"] == ["tags": ["t"]] && data["body"] == "Hi" && data["envelope"] == false)
        let shown = try await service.call(.get, "messages/\(id)", as: token)
        #expect(shown.status == 200 && shown.string("messageId") == id)
        let bulk = try await service.call(
            .post,
            "messages/bulk",
            #"[{"message":{"alert":"A"}},{"message":{"alert":"B"},"target":{"userIds":["u"]}}]"#,
            as: token
        )
        #expect(bulk.status == 202 && bulk["1", "message", "alert"] == "B" && bulk["2"] == nil)
        #expect(service.acceptedCount == 3)
    }
}
