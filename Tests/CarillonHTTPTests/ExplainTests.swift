import CarillonCore
import CarillonTesting
import Foundation
import HTTPTypes
import Testing

@Suite(.acme) struct ExplainTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let message = """
        {"type":"message.sent","data":{"channel":{"id":"general"},"user":{"id":"alice","roles":["guest"]},\
        "message":{"type":"text","text":"Hello"},"mentions":["carol"]}}
        """

    /// A channel with alice, bob and carol; bob has a device.
    init() async throws {
        for (path, body) in [
            ("channels/general/members", #"{"userIds":["alice","bob","carol"]}"#),
            ("channels/general", #"{"displayName":"General"}"#), ("users/alice", #"{"displayName":"Alice"}"#),
            ("devices/d-1", #"{"userId":"bob","provider":"log"}"#),
        ] {
            let answer = try await network.call(.put, path, body)
            try #require(answer.status < 300)
        }
    }

    private func explain(_ user: String, _ event: String = message) async throws -> Answer {
        try await network.call(.post, "explain", #"{"event":\#(event),"userId":"\#(user)"}"#)
    }

    /// What becomes of a message whose data says `more`.
    private func explain(_ user: String, with more: String) async throws -> Answer {
        let event = """
            {"type":"message.sent","data":{"channel":{"id":"general"},"user":{"id":"alice"},"message":{"text":"x"}\(more)}}
            """
        return try await explain(user, event)
    }

    @Test func `a member with a device gets the notification`() async throws {
        let answer = try await explain("bob")
        #expect(
            answer.text == """
                {"verdict":"deliver","decidedBy":null,"reason":null,"levels":[{"level":"network","allows":true,\
                "updatedAt":null},{"level":"user","allows":true,"updatedAt":null},{"level":"channel",\
                "allows":true,"updatedAt":null}],"notification":{"locale":"en","title":"Alice (General)",\
                "body":"Hello"},"devices":[{"id":"d-1","provider":"log"}]}
                """
        )
    }

    @Test func `an endpoint that would be asked is named, and not asked`() async throws {
        let now = api.now
        let settings = EndpointSettings(
            url: "https://mod.acme.example/check",
            role: .intercept(.init(onFailure: .drop)),
            events: EndpointEvents(trusted: ["message.sent"])
        )
        let endpoint = Endpoint(id: "e-1", settings: settings, createdAt: now - .seconds(60))
        let id = NetworkID(trusted: network.id)
        try await api.store.endpoints.addEndpoint(endpoint, to: id)
        let answer = try await explain("bob")
        #expect(answer.text.contains(#""interception":{"endpointId":"e-1","onFailure":"drop"}"#))
        #expect(api.caller.calls.isEmpty)
        let other = try await explain("carol")
        #expect(!other.text.contains("interception"), "nobody is asked about whom it would not reach")
    }

    @Test func `the first that forbids decides`() async throws {
        func decidedBy(_ user: String) async throws -> String? { try await explain(user).string("decidedBy") }
        func set(_ path: String, _ body: String) async throws {
            let answer = try await network.call(.put, path, body)
            try #require(answer.status == 200)
        }
        #expect(try await decidedBy("carol") == "noDevice")
        try await set("users/bob/channels/general/notifications", #"{"mutedUntil":"2026-12-01T00:00:00Z"}"#)
        let muted = try await explain("bob")
        #expect(muted.string("decidedBy") == "channel")
        #expect(muted.string("reason") == "mutedUntil 2026-12-01T00:00:00.000Z")
        #expect(muted["levels", "2", "allows"] == false && muted["levels", "1", "allows"] == true)
        #expect(muted["verdict"] == "suppress" && muted["devices", "0", "id"] == "d-1")
        try await set("users/bob/notifications", #"{"modules":{"chat":{"roles":{"except":["guest"]}}}}"#)
        #expect(try await explain("bob").string("reason") == "modules.chat.roles")
        #expect(try await decidedBy("bob") == "user")
        try await set("notifications", #"{"events":{"message.sent":{"enabled":false}}}"#)
        #expect(try await explain("bob").string("reason") == "events.message.sent")
        #expect(try await decidedBy("bob") == "network")
        #expect(try await decidedBy("stranger") == "notMember")
        #expect(try await decidedBy("alice") == "actor")
    }

    @Test func `membership follows the type of event`() async throws {
        let created = """
            {"type":"channel.created","data":{"channel":{"id":"new"},"user":{"id":"alice"},"members":[{"id":"bob"}]}}
            """
        #expect(try await explain("bob", created).string("verdict") == "deliver")
        #expect(try await explain("carol", created).string("decidedBy") == "notMember")
        let joined = """
            {"type":"member.joined","data":{"channel":{"id":"general"},"members":[{"id":"bob"},{"id":"dave"}]}}
            """
        #expect(try await explain("bob", joined).string("decidedBy") == "actor")
        #expect(try await explain("carol", joined).string("decidedBy") == "noDevice")
        let added = """
            {"type":"member.joined","data":{"channel":{"id":"general"},"user":{"id":"alice"},"members":[{"id":"bob"}]}}
            """
        #expect(try await explain("bob", added).string("decidedBy") == "notMember")
        #expect(try await explain("alice", added).string("decidedBy") == "actor")
        let updated = #"{"type":"user.updated","data":{"user":{"id":"carol"}}}"#
        let nobody = try await explain("bob", updated)
        #expect(nobody.string("decidedBy") == "notMember")
        #expect(nobody["notification"] == .some(.null))
    }

    @Test func `an event that is kept from a member says by which of its fields`() async throws {
        let hidden = try await explain("bob", with: #","visibleTo":["carol"]"#)
        #expect(hidden.string("decidedBy") == "event" && hidden.string("reason") == "visibleTo")
        #expect(hidden["verdict"] == "suppress" && hidden["notification", "body"] == "x")
        #expect(try await explain("carol", with: #","visibleTo":["carol"]"#).string("decidedBy") == "noDevice")
        #expect(try await explain("bob", with: #","visibleTo":[]"#).string("reason") == "visibleTo")
        let silent = try await explain("bob", with: #","notify":false"#)
        #expect(silent.string("decidedBy") == "event" && silent.string("reason") == "notify")
        #expect(silent["notification"] == .some(.null))
        #expect(try await explain("stranger", with: #","visibleTo":["stranger"]"#).string("decidedBy") == "notMember")
        #expect(try await explain("alice", with: #","notify":false"#).string("decidedBy") == "actor")
    }

    @Test func `explain counts who is a member by the message, and whom it mentions with everybody`() async throws {
        #expect(try await explain("dave", with: "").string("decidedBy") == "notMember")
        #expect(try await explain("dave", with: #","members":["dave"]"#).string("decidedBy") == "noDevice")
        let members = try await network.call(.get, "channels/general/members")
        #expect(members["items", "3"] == .none)
        let path = network.path("users/bob/channels/general/notifications")
        _ = try await network.call(.put, path, #"{"mentionsOnly":true}"#)
        #expect(try await explain("bob", with: "").string("reason") == "mentionsOnly")
        #expect(try await explain("bob", with: #","mentionsAll":true"#).string("verdict") == "deliver")
    }

    @Test func `ids that sort next to each other are not confused`() async throws {
        for user in ["bo", "boa", "boc", "bob!", "bobb", "bo\u{ffff}"] {
            #expect(try await explain(user).string("decidedBy") == "notMember", "\(user)")
        }
        for user in ["\u{e000}", " ", "x\u{10ffff}", "é"] {
            let path = try #require(user.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            _ = try await network.call(.put, "channels/general/members/\(path)")
            #expect(try await explain(user).string("decidedBy") == "noDevice", "\(user)")
        }
    }

    @Test func `the event's own names and roles go on top, and nothing is changed`() async throws {
        let event = """
            {"id":"evt-1","type":"message.sent","data":{"channel":{"id":"general","displayName":"Neu"},\
            "user":{"id":"zoe","displayName":"Zoë"},"message":{"type":"image"}}}
            """
        let answer = try await explain("bob", event)
        #expect(answer["notification", "title"] == "Zoë (Neu)" && answer["notification", "body"] == "Image Message")
        #expect(try await network.call(.get, "users/zoe").status == 404)
        #expect(try await network.call(.get, "events").text == #"{"items":[]}"#)
    }

    @Test(arguments: ["", " ", "\\u202e", "\\u200b"])
    func `a blank name in an event says nothing of what somebody is called`(name: String) async throws {
        let event = """
            {"id":"evt-1","type":"message.sent","data":{"channel":{"id":"general"},\
            "user":{"id":"alice","displayName":"\(name)"},"message":{"text":"x"}}}
            """
        #expect(try await network.call(.post, "events", event).status == 202)
        #expect(try await explain("bob", event)["notification", "title"] == "Alice (General)")
        #expect(try await network.call(.get, "users/alice")["displayName"] == "Alice")
    }

    @Test(arguments: [
        ("{}", ["/userId", "/event"]), (#"{"userId":"me","event":{}}"#, ["/userId"]),
        (#"{"userId":"b","event":{"type":"x"}}"#, ["/event/type"]), (#"{"userId":"b","event":[]}"#, ["/event"]),
        (#"{"userId":"b","event":{"type":"message.sent","data":{}}}"#, ["/event/data/channel"]),
        (#"{"userId":"b","event":{"type":"user.updated","data":{"user":{"id":"x"}}},"dry":true}"#, ["/dry"]),
    ])
    func `a bad question is 400`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.post, "explain", body)
        #expect(answer.status == 400)
        #expect(Set(pointers).isSubset(of: answer.pointers))
    }

    @Test func `only admins may ask`() async throws {
        let answer = try await network.call(.post, "explain", "{}", as: network.token())
        #expect(answer.status == 403)
    }
}
