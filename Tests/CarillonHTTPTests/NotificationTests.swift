import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme) struct NotificationTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let body = #"{"id":"n-1","to":{"userIds":["bob"]},"title":"Build 81 failed"}"#

    @Test func `a notification is accepted, a repeated one is a duplicate of the same id`() async throws {
        let first = try await network.call(.post, "notifications", Self.body)
        #expect(first.status == 202)
        let id = try #require(first.string("id"))
        #expect(first.text == #"{"id":"\#(id)","status":"accepted"}"#)
        let again = try await network.call(.post, "notifications", Self.body)
        #expect(again.text == #"{"id":"\#(id)","status":"duplicate"}"#)
        let event = try await network.call(.get, "events/\(id)")
        #expect(event.string("type") == "notification.direct")
        #expect(event.string("sourceId") == "n-1")
    }

    @Test func `an idempotency key stands in for an id, and the place in an array behind it`() async throws {
        let key = ["Idempotency-Key": "key-1"]
        let one = #"{"to":{"userIds":["bob"]},"title":"x"}"#
        func post(_ body: String) async throws -> Answer {
            try await network.call(.post, "notifications", body, headers: key)
        }
        #expect(try await post(one).string("status") == "accepted")
        #expect(try await post(one).string("status") == "duplicate")
        let batch = try await post("[\(one),\(one)]")
        #expect(batch["results", "0", "status"] == "accepted")
        #expect(batch["results", "1", "status"] == "accepted")
        #expect(try await post("[\(one),\(one)]")["results", "1", "status"] == "duplicate")
        for _ in 0..<2 {
            let answer = try await network.call(.post, "notifications", one)
            #expect(answer.string("status") == "accepted")
        }
    }

    @Test func `one bad element is named, and none is stored`() async throws {
        let body = #"[\#(Self.body),{"to":{"everyone":true}}]"#
        let answer = try await network.call(.post, "notifications", body)
        #expect(answer.status == 400)
        #expect(answer.string("type") == "/problems/invalid-notification")
        #expect(answer.pointers == ["/1/title"])
        let list = try await network.call(.get, "events")
        #expect(list.text == #"{"items":[]}"#)
    }

    @Test func `who may send is told by role, and a key of role notify may do nothing else`() async throws {
        for role in ["admin", "events", "device", "notify"] {
            let key = try await api.makeKey(role, in: network)
            let answer = try await network.call(.post, "notifications", Self.body, as: key)
            #expect(answer.status == (["admin", "notify"].contains(role) ? 202 : 403), "\(role)")
        }
        let notify = try await api.makeKey("notify", in: network)
        for path in ["events", "tags", "templates", "notifications", "dead-letters"] {
            let status = try await network.call(.get, path, as: notify).status
            #expect(status == 403, "\(path)")
        }
        let token = network.token(for: "bob")
        #expect(try await network.call(.post, "notifications", Self.body, as: token).status == 403)
        #expect(try await api.call(.post, network.path("notifications"), Self.body).status == 401)
    }

    @Test func `webhooks and the log are addressed by admins only`() async throws {
        let notify = try await api.makeKey("notify", in: network)
        let log =
            #"{"to":{"addresses":[{"provider":"fcm","appId":"a","token":"t"},{"provider":"log"}]},"title":"x"}"#
        let refused = try await network.call(.post, "notifications", log, as: notify)
        #expect(refused.status == 403)
        #expect(refused.pointers == ["/to/addresses/1/provider"])
        let array = try await network.call(.post, "notifications", "[\(log)]", as: notify)
        #expect(array.pointers == ["/0/to/addresses/1/provider"])
        #expect(try await network.call(.post, "notifications", log).status == 202)
    }

    @Test func `what waits of an event is withdrawn by admins`() async throws {
        let accepted = try await network.call(.post, "notifications", Self.body)
        let path = network.path("events/\(try #require(accepted.string("id")))/deliveries")
        for _ in 0..<2 { #expect(try await network.call(.delete, path).status == 204) }
        let unknown = network.path("events/00000000-0000-7000-8000-000000000000/deliveries")
        #expect(try await network.call(.delete, unknown).status == 404)
        #expect(try await network.call(.delete, "events/x/deliveries").status == 404)
        let notify = try await api.makeKey("notify", in: network)
        #expect(try await api.call(.delete, path, as: notify).status == 403)
    }

    @Test func `explain says what a notification would do`() async throws {
        let device = #"{"provider":"log","userId":"bob","locale":"th"}"#
        _ = try await network.call(.put, "devices/d", device)
        func explain(_ to: String, user: String = "bob", more: String = "") async throws -> Answer {
            let event =
                #"{"type":"notification.direct","data":{"to":\#(to),"title":"Hi","texts":{"th":{"title":"ไง"}}\#(more)}}"#
            let body = #"{"userId":"\#(user)","event":\#(event)}"#
            return try await network.call(.post, "explain", body)
        }
        let told = try await explain(#"{"everyone":true}"#)
        #expect(told.status == 200, "\(told.text)")
        #expect(told["notification", "title"] == "ไง")
        #expect(told["devices", "0", "id"] == "d")
        #expect(try await explain(#"{"userIds":["carol"]}"#).string("decidedBy") == "notMember")
        #expect(try await explain(#"{"deviceIds":["d"]}"#).string("decidedBy") == nil)
        #expect(try await explain(#"{"everyone":true}"#, more: #","actorId":"bob""#).string("decidedBy") == "actor")
        let bad = try await explain(#"{"everyone":true,"tags":["a"]}"#)
        #expect(bad.status == 400)
        #expect(bad.pointers == ["/event/data/to"])
    }

    @Test func `explain asks the channel that is told who is a member, and the other one what is set`() async throws {
        for (path, body) in [
            ("channels/told/members", #"{"userIds":["bob","carol"]}"#),
            ("channels/context/members", #"{"userIds":["carol","stranger"]}"#),
            ("devices/d-1", #"{"provider":"log","userId":"bob"}"#),
            ("devices/d-2", #"{"provider":"log","userId":"carol"}"#),
            ("devices/d-3", #"{"provider":"log","userId":"stranger"}"#),
            ("users/bob/channels/told/notifications", #"{"enabled":false}"#),
            ("users/carol/channels/context/notifications", #"{"enabled":false}"#),
        ] {
            let answer = try await network.call(.put, path, body)
            try #require(answer.status < 300, "\(answer.text)")
        }
        func explain(_ user: String) async throws -> Answer {
            let data = #"{"to":{"channelId":"told"},"channelId":"context","title":"Hi"}"#
            let event = #"{"type":"notification.direct","data":\#(data)}"#
            return try await network.call(.post, "explain", #"{"userId":"\#(user)","event":\#(event)}"#)
        }
        #expect(try await explain("bob")["verdict"] == "deliver")
        #expect(try await explain("carol").string("decidedBy") == "channel")
        #expect(try await explain("stranger").string("decidedBy") == "notMember")
    }

    @Test func `an idempotency key may be as long as an id`() async throws {
        let one = #"{"to":{"userIds":["bob"]},"title":"x"}"#
        let key = String(repeating: "k", count: 256)
        for status in ["accepted", "duplicate"] {
            let answer = try await network.call(.post, "notifications", one, headers: ["Idempotency-Key": key])
            #expect(answer.string("status") == status)
        }
        let byID = #"{"id":"\#(key)","to":{"userIds":["bob"]},"title":"x"}"#
        #expect(try await network.call(.post, "notifications", byID).string("status") == "duplicate")
        let longer = try await network.call(.post, "notifications", one, headers: ["Idempotency-Key": key + "k"])
        #expect(longer.refusal == "400 invalid-idempotency-key" && longer.text.contains("256"))
    }

    @Test func `nobody can have the id of a device at somebody else's address`() async throws {
        let address = DeviceAddress.fcm(token: "theirs", appID: "app")
        let id = DeviceID(reachedAt: address).rawValue
        func put(_ token: String) async throws -> Answer {
            let body = #"{"userId":"bob","provider":"fcm","appId":"app","token":"\#(token)"}"#
            return try await network.call(.put, "devices/\(id)", body)
        }
        let refused = try await put("mine")
        #expect(refused.status == 400)
        #expect(refused.pointers == ["/id"])
        #expect(try await put("theirs").status == 201)
    }

    @Test func `a body beyond 256 KiB is refused`() async throws {
        let body = #"{"to":{"everyone":true},"title":"\#(String(repeating: "x", count: 256 * 1024))"}"#
        let answer = try await network.call(.post, "notifications", body)
        #expect(answer.status == 413)
    }
}
