import CarillonCore
import CarillonDialects
import Testing

/// One bad event of a batch is refused alone, and named by its place.
@Suite struct BadEventTests {
    private static let hello = message(#""event_id":"$1","room_id":"!r:x","sender":"@b:x""#)

    private static func message(_ members: String) -> String {
        #"{\#(members),"type":"m.room.message","content":{"msgtype":"m.text","body":"Hello"}}"#
    }

    @Test(arguments: [
        "{}", "7", message(#""room_id":"!r:x","sender":"@b:x""#), message(#""event_id":"$2","sender":"@b:x""#),
        message(#""event_id":"$2","room_id":"!r:x""#), message(#""event_id":["$2"],"room_id":"!r:x","sender":"@b:x""#),
        message(#""event_id":"$2","room_id":"!r:x","sender":"me""#),
    ])
    func `an event of Matrix without usable ids`(_ event: String) throws {
        let reading = try Scene(.matrix).read(#"{"events":[\#(Self.hello),\#(event),\#(Self.hello)]}"#)
        #expect(reading.known.count == 2)
        #expect(reading.events.map(\.isUnreadable) == [false, true, false])
        #expect(reading.reason == "event 2: it has no usable event_id, room_id or sender")
        let alone = try Scene(.matrix).read(#"{"events":[\#(event)]}"#)
        #expect(alone.reason == "it has no usable event_id, room_id or sender")
    }

    @Test func `somebody of Matrix without a usable id`() throws {
        let join = #""type":"m.room.member","state_key":"","content":{"membership":"join"}"#
        let event = #"{"event_id":"$2","room_id":"!r:x","sender":"@b:x",\#(join)}"#
        let reading = try Scene(.matrix).read(#"{"events":[\#(event),\#(Self.hello)]}"#)
        #expect(reading.events.map(\.isUnreadable) == [true, false])
        #expect(reading.reason == "event 1: the member has no usable id")
    }

    private static let noIDs = "the message has no usable MessageSid or Author"

    private static func twilio(_ id: Int, _ type: String, _ data: String) -> String {
        let type = #""type":"com.twilio.conversations.\#(type)""#
        return #"{"specversion":"1.0","id":"\#(id)","source":"/s",\#(type),"data":{\#(data)}}"#
    }

    @Test(arguments: [
        (twilio(2, "message.added", #""ConversationSid":"CH1","Author":"bob""#), noIDs),
        (twilio(2, "message.added", #""ConversationSid":"CH1","MessageSid":"1""#), noIDs),
        (twilio(2, "message.added", #""MessageSid":"1","Author":"bob""#), "it has no usable ConversationSid"),
        (twilio(2, "conversation.added", #""ConversationSid":"""#), "it has no usable ConversationSid"),
        (
            twilio(2, "participant.added", #""ConversationSid":"CH1","Identity":["bob"]"#),
            "the participant has no usable Identity"
        ),
    ])
    func `an event of Twilio without usable ids`(_ event: String, _ reason: String) throws {
        let good = Self.twilio(1, "message.added", #""ConversationSid":"CH1","MessageSid":"1","Author":"bob""#)
        let headers = [(name: "content-type", value: "application/json")]
        let reading = try Scene(.cloudevents).read("[\(good),\(event)]", headers: headers)
        #expect(reading.events.map(\.isUnreadable) == [false, true])
        #expect(reading.events.map(\.shownID) == ["1", "2"])
        #expect(reading.reason == "event 2: \(reason)")
        #expect(try Scene(.cloudevents).read("[\(event)]", headers: headers).reason == reason)
    }

    @Test func `who takes part by telephone is passed over, and nothing is wrong`() throws {
        let phone = Self.twilio(1, "participant.added", #""ConversationSid":"CH1","Identity":null"#)
        let joined = Self.twilio(2, "participant.added", #""ConversationSid":"CH1","Identity":"bob""#)
        let headers = [(name: "content-type", value: "application/json")]
        let reading = try Scene(.cloudevents).read("[\(phone),\(joined)]", headers: headers)
        #expect(reading.known.count == 1 && reading.events.allSatisfy { !$0.isUnreadable })
    }
}
