import CarillonTesting
import Foundation
import Testing

@testable import CarillonCore

/// What an endpoint that was built for Amity is asked, and what its answers mean (FACES section C4).
@Suite struct AmityInterceptionTests {
    private func verdict(_ status: Int, _ body: String) -> Verdict {
        let reply = EndpointAnswer.Reply(status: status, body: Array(body.utf8))
        let answer = EndpointAnswer(.success(reply), time: .milliseconds(12))
        let notification = Notification(locale: "en", title: "", body: "Hello")
        return Verdict(answer, of: "e-1", in: .amity, onFailure: .drop, notification: notification, content: nil)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"action":"deliver"}"#, #"{"action":true}"#, #"{"action":"allow","data":"text"}"#,
        #"{"action":"allow","data":{"text":1}}"#, #"{"action":"allow","data":{"text":" "}}"#,
        #"{"action":"deny","message":{}}"#,
    ])
    func `what is no answer of Amity's is invalid`(body: String) {
        let report = verdict(200, body).report
        #expect(report.outcome == .invalid && report.action == .drop)
    }

    @Test(arguments: [
        (200, #"{"action":"allow"}"#), (200, #"{"action":"allow","data":{}}"#), (204, ""),
        (200, #"{"action":"allow","data":{"metadata":{"x":1}},"notification":{"body":"not read"}}"#),
    ])
    func `what is allowed is delivered as it is`(status: Int, body: String) {
        let verdict = verdict(status, body)
        #expect(verdict.report.outcome == .answered && verdict.report.action == .deliver)
        #expect(verdict.changes.isEmpty)
    }

    @Test func `a text is the body in all languages`() {
        let verdict = verdict(200, #"{"action":"allow","data":{"text":"H***o"}}"#)
        #expect(verdict.report.action == .edit)
        let edited = verdict.changes.edited(Notification(locale: "th", title: "Title", body: "Hello"))
        #expect(edited.title == "Title" && edited.body == "H***o")
    }

    @Test func `what is denied notifies nobody, for the reason that is given`() {
        let report = verdict(200, #"{"action":"deny","message":"spam","data":{"text":"x"}}"#)
        #expect(report.report.action == .drop && report.report.reason == "spam" && report.changes.isEmpty)
        #expect(report.withholds(from: "bob"))
    }

    @Test func `the question is about a message that is about to be sent`() throws {
        var endpoint = Endpoint.sample("e-1", .intercepting, ["*"])
        endpoint.settings.format = .amity
        guard case .intercept(let terms) = endpoint.settings.role else { return }
        let event = Event(
            sourceID: "evt-1",
            type: .messageSent,
            timestamp: Timestamp(milliseconds: 0),
            channel: Channel(id: "general", displayName: "General"),
            actor: Person(id: "alice", displayName: "Alice"),
            message: Message(id: "m-1", kind: .text, text: "Hello")
        )
        let question = InterceptionQuestion(
            event: PendingEvent(event),
            endpoint: endpoint,
            terms: terms,
            notification: Notification(locale: "en", title: "Alice (General)", body: "Hello"),
            recipients: ["bob"],
            hasMoreRecipients: false
        )
        let expected: JSONValue = [
            "eventName": "message.shouldCreate",
            "data": ["text": "Hello", "channelId": "general", "messageId": "m-1"],
            "actor": ["_id": "alice", "userId": "alice"],
        ]
        #expect(try JSONValue(parsing: question.body(nil, at: Timestamp(milliseconds: 0))) == expected)
    }

    @Test func `it is told of what Amity has a name for, and asked about messages only`() {
        var settings = Endpoint.sample("e-1", .observing, ["*", "delivery.*"]).settings
        settings.format = .amity
        #expect(settings.types == ["channel.created", "member.joined", "message.sent"])
        settings.role = .intercept(.init())
        #expect(settings.types == ["message.sent"])
    }

    @Test func `two endpoints may be asked about different types, one of them in Amity's form`() throws {
        var first = Endpoint.sample("e-1", .intercepting, ["*"])
        first.settings.format = .amity
        try [first].check(.sample("e-2", .intercepting, ["channel.created", "member.joined"]))
        #expect(throws: EndpointRefusal.self) { try [first].check(.sample("e-2", .intercepting, ["message.*"])) }
    }
}
