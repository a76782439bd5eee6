import CarillonCore
import HTTPTypes
import Testing

@testable import CarillonHTTP

/// What `recent` says of posts some of whose events are bad: they are named, whatever became of the others.
@Suite struct PostJournalTests {
    @Test func `a bad event of a transaction is named beside accepted ones and beside duplicates`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let content = #""type":"m.room.message","content":{"msgtype":"m.text","body":"Hello"}"#
            let good = #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x",\#(content)}"#
            let body = #"{"events":[\#(good),{"event_id":"$2","sender":"@b:x",\#(content)}]}"#
            let path = network.path("events/matrix/_matrix/app/v1/transactions/1")
            for _ in 0..<2 {
                #expect(try await api.call(.put, path, body, as: network.adminKey).status == 200)
            }
            let recent = try await api.call(.get, network.path("dialects/matrix/recent"), as: network.adminKey)
            let bad = "event 2: it has no usable event_id, room_id or sender"
            #expect(recent["items", "0", "reason"] == .string("a duplicate of what was accepted before; \(bad)"))
            #expect(recent["items", "0", "verdict"] == "ignored")
            #expect(recent["items", "1", "reason"] == .string("1 of 2 events; \(bad)"))
            #expect(recent["items", "1", "verdict"] == "accepted")
        }
    }

    @Test func `a bad event of Twilio's is named by its place`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let event = { (id: Int, data: String) in
                #"{"specversion":"1.0","id":"\#(id)","source":"/s","type":"com.twilio.conversations.message.added","data":\#(data)}"#
            }
            let good = event(1, #"{"ConversationSid":"CH1","MessageSid":"IM1","Author":"bob","MessageBody":"Hello"}"#)
            let body = "[\(good),\(event(2, #"{"ConversationSid":"CH1","Author":"bob"}"#))]"
            let path = network.path("events/cloudevents")
            let answer = try await api.call(.post, path, body, as: network.adminKey)
            #expect(answer["results", "0", "status"] == "accepted" && answer["results", "1", "status"] == "ignored")
            let recent = try await api.call(.get, network.path("dialects/cloudevents/recent"), as: network.adminKey)
            let reason = "1 of 2 events; event 2: the message has no usable MessageSid or Author"
            #expect(recent["items", "0", "reason"] == .string(reason))
        }
    }

    @Test func `an unknown type is named beside a duplicate`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let message = #"{"channel":{"id":"c"},"user":{"id":"bob"},"message":{"id":"m","text":"Hello"}}"#
            let known = #"{"id":"1","type":"message.sent","data":\#(message)}"#
            let path = network.path("events")
            #expect(try await api.call(.post, path, known, as: network.adminKey).status == 202)
            let mixed = #"[\#(known),{"id":"2","type":"poll.opened"}]"#
            #expect(try await api.call(.post, path, mixed, as: network.adminKey).status == 202)
            let recent = try await api.call(.get, network.path("events/recent"), as: network.adminKey)
            #expect(recent["items", "0", "verdict"] == "duplicate")
            let reason = "a duplicate of what was accepted before; poll.opened is no type that is known"
            #expect(recent["items", "0", "reason"] == .string(reason))
        }
    }
}
