import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme) struct EventTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    static let message = """
        {"id":"evt-1","type":"message.sent","data":{"channel":{"id":"general","displayName":"General"},\
        "user":{"id":"alice","displayName":"Alice"},"message":{"type":"text","text":"Hello"}},"later":1}
        """

    @Test func `a signed event is accepted, and a repeated one is a duplicate of the same id`() async throws {
        let headers = try network.signature(of: Self.message)
        let first = try await api.call(.post, network.path("events"), Self.message, headers: headers)
        #expect(first.status == 202)
        let id = try #require(first.string("id"))
        #expect(first.text == #"{"id":"\#(id)","status":"accepted"}"#)
        let again = try await api.call(.post, network.path("events"), Self.message, headers: headers)
        #expect(again.status == 202)
        #expect(again.text == #"{"id":"\#(id)","status":"duplicate"}"#)
    }

    @Test func `a silent event is accepted and done, and leaves what it says`() async throws {
        let body = """
            {"id":"evt-1","type":"message.sent","data":{"channel":{"id":"general"},"user":{"id":"alice"},\
            "message":{"text":"x"},"members":["bob"],"notify":false}}
            """
        let answer = try await network.call(.post, "events", body)
        #expect(answer.string("status") == "accepted")
        let id = try #require(answer.string("id"))
        let event = try await network.call(.get, "events/\(id)")
        #expect(event["state"] == "done" && event["recipients", "resolved"] == 0)
        let members = try await network.call(.get, "channels/general/members")
        #expect(members.text == #"{"items":[{"userId":"alice"},{"userId":"bob"}]}"#)
    }

    @Test(arguments: [
        ("message.create", "message.create is no type that is known; did you mean message.sent?"),
        ("member.join", "member.join is no type that is known; did you mean member.joined?"),
        ("channel.create", "channel.create is no type that is known; did you mean channel.created?"),
        ("mesage.sent", "mesage.sent is no type that is known; did you mean message.sent?"),
        ("poll.opened", "poll.opened is no type that is known"),
        ("notification.direct", "notification.direct is posted to /notifications"),
    ])
    func `an unknown type is ignored, with a reason and a guess`(type: String, reason: String) async throws {
        let body = #"{"id":"1","type":"\#(type)"}"#
        let answer = try await network.call(.post, "events", body)
        #expect(answer.status == 202)
        let id = try #require(answer.string("id"))
        #expect(answer.text == #"{"id":"\#(id)","status":"ignored","reason":"\#(reason)"}"#)
    }

    @Test func `the last posts say what became of them, those that were refused too`() async throws {
        let other = try await api.makeNetwork("other")
        let path = network.path("events")
        let first = try await network.call(.post, path, Self.message)
        _ = try await network.call(.post, path, Self.message)
        _ = try await network.call(.post, path, #"{"id":"2","type":"message.create"}"#)
        let mixed = "[\(Self.message.replacing("evt-1", with: "evt-2")),\(#"{"id":"3","type":"poll.opened"}"#)]"
        _ = try await network.call(.post, path, mixed)
        _ = try await network.call(.post, path, #"{"id":"4","type":"message.sent"}"#)
        _ = try await other.call(.post, path, Self.message)
        let forged = try network.signature(of: Self.message + " ")
        _ = try await api.call(.post, path, Self.message, headers: forged)
        _ = try await api.call(.post, "/v1/networks/nobody/events", Self.message, headers: forged)
        let recent = try await network.call(.get, "events/recent")
        #expect(recent.status == 200)
        guard case .array(let items)? = recent["items"] else { throw NoAnswer() }
        let told = items.indices.map { index in
            ["verdict", "reason"].map { key in
                if case .string(let text)? = recent["items", "\(index)", key] { text } else { "" }
            }
        }
        #expect(
            told == [
                ["refused", "no signature is that of a known secret"], ["refused", "There is no such resource"],
                ["refused", "/data is required"],
                ["accepted", "1 of 2 events; poll.opened is no type that is known"],
                ["ignored", "message.create is no type that is known; did you mean message.sent?"],
                ["duplicate", "a duplicate of what was accepted before"], ["accepted", ""],
            ]
        )
        #expect(recent["items", "6", "eventId"] == first["id"] && recent["items", "5", "eventId"] == first["id"])
        #expect(!recent.text.contains("Hello"))
        let others = try await other.call(.get, "events/recent")
        #expect(others.text == #"{"items":[]}"#)
        let events = try await api.makeKey("events", in: network)
        #expect(try await network.call(.get, "events/recent", as: events).status == 403)
    }

    @Test func `a post of which everything is accepted writes nothing besides its events`() async throws {
        let batch = "[\(Self.message),\(Self.message.replacing("evt-1", with: "evt-2"))]"
        for body in [batch, Self.message.replacing("evt-1", with: "evt-3")] {
            #expect(try await network.call(.post, "events", body).status == 202)
        }
        let journal = JournalKey("events", in: NetworkID(trusted: network.id))
        #expect(try await api.journal.entries(of: journal.name, in: journal.networkID).isEmpty)
        let direct = #"{"to":{"users":["bob"]},"notification":{"title":"Hi"}}"#
        _ = try await network.call(.post, "notifications", direct)
        let recent = try await network.call(.get, "events/recent")
        guard case .array(let items)? = recent["items"] else { throw NoAnswer() }
        #expect(items.count == 3 && items.indices.allSatisfy { recent["items", "\($0)", "verdict"] == "accepted" })
        _ = try await network.call(.post, "events", Self.message)
        #expect(try await api.journal.entries(of: journal.name, in: journal.networkID).count == 1)
    }

    @Test func `devices of an event are found by what they are`() async throws {
        _ = try await api.store.giveUp(count: 2, in: NetworkID(trusted: network.id), at: TestAPI.now)
        let events = try await network.call(.get, "events")
        guard case .string(let id)? = events["items", "0", "id"] else { throw NoAnswer() }
        func count(_ query: String) async throws -> Int? {
            let answer = try await network.call(.get, "events/\(id)/deliveries?\(query)")
            guard case .array(let items)? = answer["items"] else { return nil }
            return items.count
        }
        for (query, expected) in [
            ("", 2), ("state=dead", 2), ("state=pending,dead", 2), ("state=delivered", 0), ("provider=log", 2),
            ("provider=apns", 0), ("userId=bob", 2), ("userId=carol", 0),
            ("state=dead&provider=log&userId=bob&limit=1", 1),
        ] {
            #expect(try await count(query) == expected, "\(query)")
        }
        for query in [
            "state=broken", "state=", "state=dead,", "state=dead&state=dead", "provider=mail", "provider=relay",
            "userId=",
            "user=bob",
        ] {
            let answer = try await network.call(.get, "events/\(id)/deliveries?\(query)")
            #expect(answer.status == 400 && answer.problem == "invalid-parameter", "\(query)")
        }
    }

    private struct NoAnswer: Error {}

    @Test func `webhook-id stands in for a missing id`() async throws {
        let body = #"{"type":"user.updated","data":{"user":{"id":"bob"}}}"#
        let headers = try network.signature(of: body, id: "hook-7")
        #expect(try await api.call(.post, network.path("events"), body, headers: headers).status == 202)
        let found = try await network.call(.get, "events?sourceId=hook-7")
        #expect(found["items", "0", "sourceId"] == "hook-7")
        let missing = try await network.call(.post, "events", body)
        #expect(missing.status == 400)
        #expect(missing.pointers == ["/id"])
    }

    @Test func `an array is answered in order`() async throws {
        let body = "[\(Self.message),{\"id\":\"2\",\"type\":\"x\"},\(Self.message)]"
        let headers = try network.signature(of: body)
        let answer = try await api.call(.post, network.path("events"), body, headers: headers)
        #expect(answer.status == 202)
        #expect(answer["results", "0", "status"] == "accepted")
        #expect(answer["results", "1", "status"] == "ignored")
        #expect(answer["results", "2", "status"] == "duplicate")
        #expect(answer["results", "2", "id"] == answer["results", "0", "id"])
    }

    @Test func `one bad element is named, and none is stored`() async throws {
        let body = #"[\#(Self.message),{"id":"2","type":"message.sent","data":{}}]"#
        let answer = try await network.call(.post, "events", body)
        #expect(answer.status == 400)
        #expect(answer.pointers.contains("/1/data/channel"))
        let list = try await network.call(.get, "events")
        #expect(list.text == #"{"items":[]}"#)
    }

    @Test(arguments: [
        "", "{", "null", "7", #""text""#, "[]", #"[1]"#, #"{"id":"1"}"#, #"{"type":"message.sent"}"#,
        #"{"id":"1","type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"\u0000"},"message":{}}}"#,
        #"{"id":"1","type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"a"},"message":{"text":"\ud800"}}}"#,
        #"{"id":"1","type":"user.updated","data":{"user":{"id":"me"}}}"#,
        "[" + String(repeating: #"{"id":"1","type":"x"},"#, count: 1000) + #"{"id":"1","type":"x"}]"#,
    ])
    func `a bad event is 400`(body: String) async throws {
        let answer = try await network.call(.post, "events", body)
        #expect(answer.status == 400)
        #expect(!answer.pointers.isEmpty)
    }

    @Test func `a wrong signature is 401, whatever the body`() async throws {
        let other = try await api.makeNetwork("other")
        let right = try network.signature(of: Self.message)
        var wrong = [
            try other.signature(of: Self.message), try network.signature(of: Self.message + " "),
            try network.signature(of: Self.message, at: TestAPI.now + .seconds(301)),
            try network.signature(of: Self.message, at: TestAPI.now - .seconds(301)),
            ["webhook-signature": right["webhook-signature"] ?? ""],
        ]
        wrong.append(right.merging(["webhook-signature": "v1,AAAA"]) { $1 })
        wrong.append(right.merging(["webhook-signature": "v1a,AAAA"]) { $1 })
        wrong.append(right.merging(["webhook-timestamp": "now"]) { $1 })
        wrong.append(right.merging(["webhook-id": "other"]) { $1 })
        for headers in wrong {
            let answer = try await api.call(.post, network.path("events"), Self.message, headers: headers)
            #expect(answer.status == 401)
        }
        let unknown = try await api.call(.post, "/v1/networks/nobody/events", Self.message, headers: right)
        #expect(unknown.status == 401)
    }

    @Test func `a post that is half signed is told what lacks, and by how much a clock is off`() async throws {
        func detail(_ headers: [String: String]) async throws -> String? {
            try await api.call(.post, network.path("events"), Self.message, headers: headers).string("detail")
        }
        let right = try network.signature(of: Self.message)
        for name in right.keys {
            let words =
                name == "webhook-signature"
                ? "neither Authorization nor webhook-signature is there" : "\(name) is missing"
            #expect(try await detail(right.filter { $0.key != name })?.hasPrefix(words) == true, "\(name)")
        }
        #expect(try await detail(["svix-id": "x"]) == "neither Authorization nor webhook-signature is there")
        #expect(try await detail([:]) == "Authorization is missing")
        let late = try await detail(network.signature(of: Self.message, at: TestAPI.now - .seconds(600)))
        #expect(late == "webhook-timestamp is too old: 600 s from the service's clock, where 300 s are allowed")
    }

    @Test func `several signatures are allowed`() async throws {
        var headers = try network.signature(of: Self.message)
        headers["webhook-signature"] = "v1,AAAA " + (headers["webhook-signature"] ?? "") + " v2,xx"
        #expect(try await api.call(.post, network.path("events"), Self.message, headers: headers).status == 202)
    }

    @Test func `an event is followed by its id and by its sender's`() async throws {
        let posted = try await network.call(.post, "events", Self.message)
        let id = try #require(posted.string("id"))
        let expected = """
            {"id":"\(id)","sourceId":"evt-1","type":"message.sent","channelId":"general","userId":"alice",\
            "receivedAt":"2026-11-24T12:00:00.000Z",\
            "state":"accepted","recipients":{"resolved":0,"notified":0,"suppressed":{"network":0,"user":0,\
            "channel":0,"endpoint":0},"noDevice":0},"deliveries":{"pending":0,"delivered":0,"unregistered":0,"expired":0,\
            "dead":0}}
            """
        let shown = try await network.call(.get, "events/\(id)")
        #expect(shown.text == expected)
        let upper = try await network.call(.get, "events/\(id.uppercased())")
        #expect(upper.status == 200)
        let found = try await network.call(.get, "events?sourceId=evt-1")
        #expect(found.text == #"{"items":[\#(expected)]}"#)
        let deliveries = try await network.call(.get, "events/\(id)/deliveries")
        #expect(deliveries.text == #"{"items":[]}"#)
    }

    @Test func `an event that cannot be expanded says why`() async throws {
        let posted = try await network.call(.post, "events", Self.message)
        let id = try #require(posted.string("id"))
        let events = try await api.store.inbox.claimEvents(limit: 1, excluding: [])
        try await api.store.inbox.noteFailure(of: events, reason: "it took longer than it may")
        let shown = try await network.call(.get, "events/\(id)")
        #expect(shown.string("failure") == "it took longer than it may")
        #expect(shown.string("state") == "accepted")
    }

    @Test func `unknown events are 404, and those of other networks too`() async throws {
        let other = try await api.makeNetwork("other")
        let posted = try await network.call(.post, "events", Self.message)
        let id = try #require(posted.string("id"))
        for path in ["events/\(id)", "events/\(id)/deliveries"] {
            #expect(try await other.call(.get, path).status == 404)
        }
        for path in ["events/x", "events/00000000-0000-0000-0000-000000000000", "events/x/deliveries"] {
            #expect(try await network.call(.get, path).status == 404)
        }
        let none = try await network.call(.get, "events?sourceId=evt-9")
        #expect(none.text == #"{"items":[]}"#)
        let empty = try await network.call(.get, "events?sourceId=")
        #expect(empty.status == 400)
    }

    @Test func `events are listed newest first in pages`() async throws {
        for id in 1...3 {
            let body = #"{"id":"\#(id)","type":"user.updated","data":{"user":{"id":"bob"}}}"#
            _ = try await network.call(.post, "events", body)
        }
        let first = try await network.call(.get, "events?limit=2")
        #expect(first["items", "0", "sourceId"] == "3" && first["items", "1", "sourceId"] == "2")
        let cursor = try #require(first.string("next"))
        let second = try await network.call(.get, "events?limit=2&cursor=\(cursor)")
        #expect(second["items", "0", "sourceId"] == "1" && second["next"] == nil)
    }

    @Test func `while the store is away nothing is promised`() async throws {
        #expect(try await network.call(.get, "events").status == 200)
        api.database.answers(false)
        let answer = try await network.call(.post, "events", Self.message)
        #expect(answer.status == 503)
        api.database.answers(true)
        let again = try await network.call(.post, "events", Self.message)
        #expect(again.string("status") == "accepted")
    }
}
