import CarillonCore
import CarillonTesting
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

/// Other chat backends' webhooks over HTTP (DIALECTS sections 1 and 18); what bodies mean is for `CarillonDialectsTests`.
@Suite(.acme) struct DialectTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let secret = "amity-secret-1"
    private static let message =
        #"{"event":"message.didCreate","data":{"messages":[{"messageId":"m-1","channelId":"general","userId":"alice","type":"text","data":{"text":"Hello"}}]}}"#

    private func signature(_ body: String, _ secret: String = secret) -> [String: String] {
        let code = HMAC<SHA256>.authenticationCode(for: Data(body.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return ["x-amity-signature": Data(code).base64EncodedString()]
    }

    private func putDialect(_ name: String, _ document: String) async throws {
        #expect(try await network.call(.put, "dialects/\(name)", document).status == 200)
    }

    private func verdicts(_ name: String) async throws -> [String] {
        let answer = try await network.call(.get, "dialects/\(name)/recent")
        #expect(answer.status == 200)
        guard case .array(let items)? = answer["items"] else { return [] }
        return items.compactMap { item in
            guard case .object(let entry) = item, case .string(let verdict)? = entry["verdict"] else { return nil }
            return verdict
        }
    }

    // MARK: - Documents

    private static let proofless = ": all posts without an API key are refused"
    private static let documents: [(name: String, document: String, warning: String?)] = [
        ("sendbird", "{}", "there is no secret" + proofless),
        ("cometchat", #"{"secrets":["s"]}"#, "there is no user and password" + proofless),
        ("sendbird", #"{"secrets":["s"]}"#, nil), ("sendbird", #"{"enabled":false}"#, nil), ("cloudevents", "{}", nil),
        ("cometchat", #"{"basic":{"user":"u","password":"p"}}"#, nil),
    ]

    @Test(arguments: documents.indices)
    func `a document that lets nobody in says so`(index: Int) async throws {
        let (name, document, warning) = Self.documents[index]
        let path = network.path("dialects/\(name)")
        let put = try await network.call(.put, path, document)
        #expect(put.status == 200)
        #expect(put.string("warning") == warning)
        #expect(try await network.call(.get, path).string("warning") == warning)
    }

    @Test func `a document is for admins, and shows nothing of its secrets`() async throws {
        let path = network.path("dialects/amity")
        #expect(try await network.call(.get, path).status == 404)
        #expect(try await api.call(.get, path).status == 401)
        let events = try await api.makeKey("events", in: network)
        #expect(try await api.call(.put, path, "{}", as: events).status == 403)
        #expect(try await network.call(.put, "dialects/none", "{}").status == 404)
        let body =
            #"{"secrets":["one secret","another"],"basic":{"user":"u","password":"p:w"},"ignoreSenders":["bot"]}"#
        let put = try await network.call(.put, path, body)
        #expect(put.status == 200)
        let shown = try await network.call(.get, path)
        #expect(shown.json == put.json)
        #expect(!shown.text.contains("one secret") && !shown.text.contains("p:w"))
        #expect(shown["secrets", "1", "setAt"] == .string(TestAPI.now.description))
        #expect(shown["basic", "user"] == "u")
        #expect(shown["enabled"] == true)
        #expect(shown["ignoreSenders"] == ["bot"])
        // What is left out is kept, what stays the same keeps its time.
        try await api.database.advance(by: .seconds(60))
        let next = #"{"enabled":false,"secrets":["third","one secret"]}"#
        let replaced = try await network.call(.put, path, next)
        #expect(replaced["secrets", "1", "setAt"] == .string(TestAPI.now.description))
        #expect(replaced["secrets", "0", "setAt"] == .string((TestAPI.now + .seconds(60)).description))
        #expect(replaced["basic", "user"] == "u")
        #expect(replaced["ignoreSenders"] == nil)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.delete, path).status == 404)
    }

    @Test func `all dialects are listed, for admins, with the documents that there are`() async throws {
        try await putDialect("stream", #"{"secrets":["one secret"]}"#)
        let path = network.path("dialects")
        #expect(try await api.call(.get, path).status == 401)
        #expect(try await api.call(.get, path, as: try await api.makeKey("events", in: network)).status == 403)
        let list = try await network.call(.get, path)
        #expect(list.status == 200)
        let document = try await network.call(.get, "dialects/stream").json
        let items = DialectName.allCases.map { name -> JSONValue in
            ["dialect": .string(name.rawValue), "document": name == .stream ? document ?? [:] : .null]
        }
        #expect(list["items"] == .array(items))
        #expect(!list.text.contains("one secret"))
    }

    @Test(arguments: [
        (#"{"secrets":["a","b","c","d","e"]}"#, "/secrets"), (#"{"secrets":[""]}"#, "/secrets/0"),
        (#"{"secrets":["a","a"]}"#, "/secrets/1"), (#"{"basic":{"user":"a:b","password":"c"}}"#, "/basic/user"),
        (#"{"basic":{"user":"a"}}"#, "/basic/password"), (#"{"enable":true}"#, "/enable"),
        (#"{"publicUrl":"ftp://x"}"#, "/publicUrl"), (#"{"ignoreSenders":[1]}"#, "/ignoreSenders/0"),
    ])
    func `what is wrong with a document is told with its place`(_ body: String, _ pointer: String) async throws {
        let answer = try await network.call(.put, "dialects/cloudevents", body)
        #expect(answer.refusal == "400 invalid-dialect")
        #expect(answer.pointers == [pointer])
    }

    // MARK: - Posts

    @Test func `without a document there is nothing but for keys that may post events`() async throws {
        let path = network.path("events/amity")
        let post = { (token: String?) async throws -> Int in
            try await api.call(.post, path, Self.message, as: token, headers: signature(Self.message)).status
        }
        #expect(try await post(nil) == 404)
        #expect(try await post("ck_nothing") == 404)
        #expect(try await post(try await api.makeKey("device", in: network)) == 404)
        #expect(try await post(try await api.makeKey("events", in: network)) == 200)
        #expect(try await post(network.adminKey) == 200)
        let off = #"{"enabled":false,"secrets":["\#(Self.secret)"]}"#
        _ = try await network.call(.put, "dialects/amity", off)
        #expect(try await post(nil) == 404)
    }

    @Test func `takes what is signed, once, and says what became of it`() async throws {
        try await putDialect("amity", #"{"secrets":["old","\#(Self.secret)"]}"#)
        let path = network.path("events/amity")
        for _ in 0..<2 {
            let answer = try await api.call(.post, path, Self.message, headers: signature(Self.message))
            #expect(answer.status == 200)
            #expect(answer.text == "{}")
        }
        let flipped = Self.message.replacing("Hello", with: "Hellp")
        let wrong = try await api.call(.post, path, flipped, headers: signature(Self.message))
        #expect(wrong.refusal == "401 unauthorized")
        let dropped = try await api.call(.post, path, Self.message, headers: ["x-eko-signature": "AAAA"])
        #expect(dropped.status == 200)
        let post = #"{"event":"v3.post.didCreate","data":{}}"#
        #expect(try await api.call(.post, path, post, headers: signature(post)).text == "{}")
        #expect(try await api.call(.post, path, "{}", headers: signature("{}")).status == 400)
        #expect(try await api.call(.post, path, "{", headers: signature("{")).status == 400)
        #expect(
            try await verdicts("amity")
                == ["refused", "refused", "ignored", "refused", "refused", "duplicate", "accepted"]
        )
        let recent = try await network.call(.get, "dialects/amity/recent")
        #expect(recent["items", "5", "eventId"] == recent["items", "6", "eventId"])
        #expect(!recent.text.contains("Hello") && !recent.text.contains(Self.secret))
        let found = try await network.call(.get, "events?sourceId=amity%7Cmessage.didCreate%7Cm-1")
        #expect(found["items", "0", "type"] == "message.sent")
    }

    @Test func `messages to channels without members are told by recent, once that is known`() async throws {
        let messages = ["a", "b"].map { channel in
            #"{"messageId":"m-\#(channel)","channelId":"\#(channel)","userId":"alice","type":"text","data":{"text":"x"}}"#
        }
        let together = #"{"event":"message.didCreate","data":{"messages":[\#(messages.joined(separator: ","))]}}"#
        for body in [Self.message, together] {
            let answer = try await network.call(.post, "events/amity", body)
            #expect(answer.status == 200)
        }
        func recent() async throws -> Answer { try await network.call(.get, "dialects/amity/recent") }
        let before = try await recent()
        #expect(before["items", "0", "reason"] == "2 of 2 events" && before["items", "1", "reason"] == .null)
        let pending = try await api.store.inbox.claimEvents(limit: 9, excluding: [])
        #expect(pending.count == 3)
        let expansions = pending.map { event in
            var expansion = Expansion(event: event, groups: [], next: nil)
            // Of the two that came together somebody was there to read the first.
            expansion.why = event.event.channel?.id == "a" ? nil : .onlyActor
            return expansion
        }
        #expect(try await api.store.queue.enqueue(expansions) == [true, true, true])
        let after = try await recent()
        #expect(after["items", "0", "reason"] == "2 of 2 events; no members are known")
        #expect(after["items", "1", "reason"] == "no members are known")
        let id = try #require(pending.first { $0.event.channel?.id == "general" }?.id)
        let event = try await network.call(.get, "events/\(id)")
        #expect(event["state"] == "done" && event["why"] == "nobody but the actor")
        let read = try await network.call(.get, "events?sourceId=amity%7Cmessage.didCreate%7Cm-a")
        #expect(read["items", "0", "state"] == "done" && read["items", "0", "why"] == nil)
    }

    @Test func `other dialects are told of the event, and of each where there are several`() async throws {
        let body = #"{"type":"message.new","cid":"a:b","message":{"id":"m","text":"hi","user":{"id":"bob"}}}"#
        let answer = try await network.call(.post, "events/stream", body)
        #expect(answer.status == 200)
        #expect(answer["status"] == "accepted")
        let again = try await network.call(.post, "events/stream", body)
        #expect(again["id"] == answer["id"] && again["status"] == "duplicate")
        let cloud =
            #"{"specversion":"1.0","id":"\#(1)","source":"/s","type":"channel.deleted","data":{"channel":{"id":"c"}}}"#
        let path = network.path("events/cloudevents")
        let one = try await network.call(.post, path, cloud, type: "application/cloudevents+json")
        #expect(one.status == 202)
        #expect(one["id"] == "1" && one["status"] == "accepted" && one["eventId"] != nil)
        let batch = "[\(cloud),\(cloud.replacing("channel.deleted", with: "x.y"))]"
        let both = try await network.call(.post, path, batch, type: "application/cloudevents-batch+json")
        #expect(both["results", "0", "status"] == "duplicate" && both["results", "1", "status"] == "ignored")
        #expect(both["results", "0", "eventId"] == one["eventId"])
        let none = try await network.call(.post, path, "[]")
        #expect(none.status == 202 && none.json == ["results": []])
        let avro = try await network.call(.post, path, "x", type: "application/cloudevents+avro")
        #expect(avro.status == 415)
    }

    @Test
    func `CloudEvents are taken from whom the network's own secret signs for, and shake hands first`() async throws {
        try await putDialect("cloudevents", "{}")
        let path = network.path("events/cloudevents")
        let asked = try await api.call(
            .options,
            path,
            headers: ["WebHook-Request-Origin": "eventgrid.example", "WebHook-Request-Rate": "120"]
        )
        #expect(asked.status == 200)
        #expect(asked.headers[HTTPField.Name("webhook-allowed-origin") ?? .allow] == "eventgrid.example")
        #expect(asked.headers[HTTPField.Name("webhook-allowed-rate") ?? .allow] == "*")
        let body = #"{"specversion":"1.0","id":"1","source":"/s","type":"x.y"}"#
        #expect(try await api.call(.post, path, body).status == 401)
        let secret = try #require(WebhookSecret(network.webhookSecret))
        let moment = TestAPI.now.milliseconds / 1000
        let signature = WebhookSignature.sign(id: "w", timestamp: moment, body: Array(body.utf8), secrets: [secret])
        let headers = ["webhook-id": "w", "webhook-timestamp": "\(moment)", "webhook-signature": signature]
        #expect(try await api.call(.post, path, body, headers: headers).status == 202)
        #expect(try await api.call(.post, path, body + " ", headers: headers).status == 401)
        #expect(try await api.call(.options, network.path("events/amity")).status == 405)
    }

    @Test func `without a document hands are shaken with keys that may post events alone`() async throws {
        let path = network.path("events/cloudevents")
        let shake = { (token: String?) async throws -> Int in
            let headers = ["WebHook-Request-Origin": "eventgrid.example"]
            return try await api.call(.options, path, as: token, headers: headers).status
        }
        #expect(try await shake(nil) == 404)
        #expect(try await shake("ck_nothing") == 404)
        #expect(try await shake(try await api.makeKey("device", in: network)) == 404)
        #expect(try await shake(try await api.makeKey("events", in: network)) == 200)
        #expect(try await shake(network.adminKey) == 200)
        try await putDialect("cloudevents", "{}")
        #expect(try await shake("ck_nothing") == 200)
    }

    @Test func `the URL answers 405 to whoever only looks`() async throws {
        for name in ["amity", "matrix", "stream"] {
            let answer = try await api.call(.get, network.path("events/\(name)"))
            #expect(answer.status == 405)
            #expect(answer.headers[.allow] == "POST")
        }
        let id = "01890000-0000-7000-8000-000000000000"
        #expect(try await network.call(.post, "events/\(id)", "{}").status == 405)
        #expect(try await network.call(.get, "events/\(id)").status == 404)
    }

    @Test func `CometChat's user and password are asked for`() async throws {
        try await putDialect("cometchat", #"{"basic":{"user":"carillon","password":"s3cret:with:colons"}}"#)
        let path = network.path("events/cometchat")
        let body = #"{"trigger":"group_deleted","data":{"group":{"guid":"g"}}}"#
        let post = { (value: String) async throws -> Int in
            try await api.call(.post, path, body, headers: ["authorization": value]).status
        }
        let right = try await post("Basic Y2FyaWxsb246czNjcmV0OndpdGg6Y29sb25z")
        #expect(right == 200)
        #expect(try await post("Basic Y2FyaWxsb246eA==") == 401)
        #expect(try await api.call(.post, path, body).status == 401)
    }

    @Test func `Mattermost's forms are taken, and nobody else's`() async throws {
        try await putDialect("mattermost", #"{"secrets":["t"]}"#)
        let form = "token=t&channel_id=c&user_id=u&post_id=p&text=hi"
        let type = "application/x-www-form-urlencoded"
        let answer = try await api.call(.post, network.path("events/mattermost"), form, type: type)
        #expect(answer.status == 200)
        #expect(answer["status"] == "accepted")
        #expect(answer["text"] == nil)
        let other = try await network.call(.post, "events/amity", form, type: type)
        #expect(other.status == 415)
    }

    // MARK: - Matrix

    @Test func `a homeserver's transactions are taken, and it is told of errors in its own way`() async throws {
        try await putDialect("matrix", #"{"secrets":["hs-token"]}"#)
        let base = network.path("events/matrix")
        let body =
            #"{"events":[{"event_id":"$1","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text","body":"hi"}},7]}"#
        for path in ["\(base)/_matrix/app/v1/transactions/1", "\(base)/transactions/1"] {
            let answer = try await api.call(.put, path, body, as: "hs-token")
            #expect(answer.status == 200)
            #expect(answer.text == "{}")
            #expect(try await api.call(.put, "\(path)?access_token=hs-token", body).status == 200)
            for wrong in ["\(path)?access_token=x", path] {
                let refused = try await api.call(.put, wrong, body)
                #expect(refused.status == 403)
                #expect(refused["errcode"] == "M_FORBIDDEN")
            }
        }
        #expect(try await verdicts("matrix").filter { $0 == "accepted" }.count == 1)
        let ping = try await api.call(.post, "\(base)/_matrix/app/v1/ping", "{}", as: "hs-token")
        #expect(ping.status == 200 && ping.text == "{}")
        let user = try await api.call(.get, "\(base)/_matrix/app/v1/users/%40b%3Ax", as: "hs-token")
        #expect(user.status == 404)
        #expect(user["errcode"] == "M_NOT_FOUND")
        let broken = try await api.call(.put, "\(base)/transactions/2", "{", as: "hs-token")
        #expect(broken.status == 400 && broken["errcode"] == "M_NOT_JSON")
        let elsewhere = try await network.call(.put, "events/amity/transactions/1", body)
        #expect(elsewhere.status == 404)
    }

    // MARK: - Preview

    @Test func `a preview says what a body would become, and keeps nothing of it`() async throws {
        let path = network.path("dialects/amity/preview")
        let answer = try await network.call(.post, path, Self.message)
        #expect(answer.status == 200)
        #expect(answer["status"] == "accepted")
        #expect(answer["events", "0", "data", "message", "text"] == "Hello")
        let nothing = try await network.call(.post, path, #"{"event":"poll.didCreate"}"#)
        #expect(nothing["status"] == "ignored")
        #expect(nothing["events"] == [])
        #expect(try await network.call(.post, path, "{}").status == 400)
        #expect(try await api.call(.post, path, Self.message).status == 401)
        #expect(try await network.call(.get, "events")["items"] == [])
        #expect(try await verdicts("amity") == [])
    }
}
