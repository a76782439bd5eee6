import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonHTTP

/// What `recent` says of posts some of whose events are bad: they are named, whatever became of the others.
@Suite(.acme) struct PostJournalTests {
    private let network: Credentials = lent()

    @Test func `a bad event of a transaction is named beside accepted ones and beside duplicates`() async throws {
        let content = #""type":"m.room.message","content":{"msgtype":"m.text","body":"Hello"}"#
        let good = #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x",\#(content)}"#
        let body = #"{"events":[\#(good),{"event_id":"$2","sender":"@b:x",\#(content)}]}"#
        let path = network.path("events/matrix/_matrix/app/v1/transactions/1")
        for _ in 0..<2 {
            #expect(try await network.call(.put, path, body).status == 200)
        }
        let recent = try await network.call(.get, "dialects/matrix/recent")
        let bad = "event 2: it has no usable event_id, room_id or sender"
        #expect(recent["items", "0", "reason"] == .string("a duplicate of what was accepted before; \(bad)"))
        #expect(recent["items", "0", "verdict"] == "duplicate")
        #expect(recent["items", "1", "reason"] == .string("1 of 2 events; \(bad)"))
        #expect(recent["items", "1", "verdict"] == "accepted")
    }

    @Test func `a bad event of Twilio's is named by its place`() async throws {
        let event = { (id: Int, data: String) in
            #"{"specversion":"1.0","id":"\#(id)","source":"/s","type":"com.twilio.conversations.message.added","data":\#(data)}"#
        }
        let good = event(1, #"{"ConversationSid":"CH1","MessageSid":"IM1","Author":"bob","MessageBody":"Hello"}"#)
        let body = "[\(good),\(event(2, #"{"ConversationSid":"CH1","Author":"bob"}"#))]"
        let path = network.path("events/cloudevents")
        let answer = try await network.call(.post, path, body)
        #expect(answer["results", "0", "status"] == "accepted" && answer["results", "1", "status"] == "ignored")
        let recent = try await network.call(.get, "dialects/cloudevents/recent")
        let reason = "1 of 2 events; event 2: the message has no usable MessageSid or Author"
        #expect(recent["items", "0", "reason"] == .string(reason))
    }

    @Test func `an unknown type is named beside a duplicate`() async throws {
        let message = #"{"channel":{"id":"c"},"user":{"id":"bob"},"message":{"id":"m","text":"Hello"}}"#
        let known = #"{"id":"1","type":"message.sent","data":\#(message)}"#
        let path = network.path("events")
        #expect(try await network.call(.post, path, known).status == 202)
        let mixed = #"[\#(known),{"id":"2","type":"poll.opened"}]"#
        #expect(try await network.call(.post, path, mixed).status == 202)
        let recent = try await network.call(.get, "events/recent")
        #expect(recent["items", "0", "verdict"] == "duplicate")
        let reason = "a duplicate of what was accepted before; poll.opened is no type that is known"
        #expect(recent["items", "0", "reason"] == .string(reason))
    }
}
