import CarillonTesting
import Testing

@testable import CarillonCore

/// What holds by what an endpoint answers.
@Suite struct VerdictTests {
    private func verdict(
        _ status: Int,
        _ body: String?,
        onFailure: EndpointRole.Interception.Failure = .deliver,
        notification: Notification = Notification(locale: "en", title: "Title", body: "Body"),
        content: PushContent? = nil
    ) -> Verdict {
        let reply = EndpointAnswer.Reply(status: status, body: body.map { Array($0.utf8) })
        let answer = EndpointAnswer(.success(reply), time: .milliseconds(12))
        return Verdict(answer, of: "e-1", onFailure: onFailure, notification: notification, content: content)
    }

    private func text(_ verdict: Verdict, _ locale: String = "en") -> Notification {
        verdict.changes.edited(Notification(locale: locale, title: "Title", body: "Body"))
    }

    @Test(arguments: [
        (204, ""), (204, "garbage"), (200, #"{"action":"deliver"}"#), (200, #"{"action":"deliver","x":[1]}"#),
    ])
    func `what is delivered as it is has no changes`(status: Int, body: String) {
        let verdict = verdict(status, body, onFailure: .drop)
        #expect(
            verdict.report
                == InterceptionReport(endpointID: "e-1", outcome: .answered, action: .deliver, milliseconds: 12)
        )
        #expect(verdict.changes.isEmpty && !verdict.withholds(from: "bob"))
    }

    @Test func `an edit holds for all languages that are not named`() {
        let verdict = verdict(
            200,
            """
            {"action":"deliver","notification":{"title":"T","body":"B"},
             "notifications":{"th":{"body":"ข"},"pt-br":{"title":"P"},"no tag at all":{"title":"?"}}}
            """
        )
        #expect(verdict.report.action == .edit && verdict.report.outcome == .answered)
        #expect(text(verdict) == Notification(locale: "en", title: "T", body: "B"))
        #expect(text(verdict, "th") == Notification(locale: "th", title: "Title", body: "ข"))
        #expect(text(verdict, "th-TH").body == "ข", "found as templates are")
        #expect(text(verdict, "pt-BR") == Notification(locale: "pt-BR", title: "P", body: "Body"))
        #expect(text(verdict, "pt").title == "T")
    }

    @Test func `half of an edit leaves the other half as it was`() {
        #expect(text(verdict(200, #"{"action":"deliver","notification":{"body":"B"}}"#)).title == "Title")
        #expect(text(verdict(200, #"{"action":"deliver","notification":{"title":null}}"#)).title == "Title")
    }

    @Test func `edited texts are cleaned and cut like all others`() {
        let body = #"{"action":"deliver","notification":{"title":"a\u0007b\nc\u202Ed","body":"x\u009By\nz"}}"#
        #expect(text(verdict(200, body)) == Notification(locale: "en", title: "ab cd", body: "xy\nz"))
        let long = String(repeating: "é", count: 100_000)
        let cut = text(verdict(200, #"{"action":"deliver","notification":{"title":"\#(long)","body":"\#(long)"}}"#))
        #expect(cut.title.count <= TemplatePart.title.maximumCharacters)
        #expect(cut.body.utf8.count <= TemplatePart.body.maximumBytes)
    }

    @Test func `data are merged into what the app gets`() {
        let verdict = verdict(200, #"{"action":"deliver","data":{"flag":"1","gone":null}}"#)
        #expect(verdict.changes.edited(nil) == PushContent(data: ["flag": "1"]))
        let own = PushContent(data: ["gone": "x", "kept": 2], badge: 3)
        #expect(verdict.changes.edited(own) == PushContent(data: ["kept": 2, "flag": "1"], badge: 3))
    }

    @Test func `those who are left out need not be known`() {
        let verdict = verdict(200, #"{"action":"deliver","excludeUserIds":["bob","","\u0007","nobody-knows"]}"#)
        #expect(verdict.report.action == .edit)
        #expect(verdict.withholds(from: "bob") && !verdict.withholds(from: "carol"))
        #expect(!verdict.withholds(from: .nobody), "devices that nobody owns cannot be named")
    }

    @Test func `10,000 users can be left out, and not one more`() {
        func answer(_ count: Int) -> String {
            let users = (0..<count).map { #""u-\#($0)""# }.joined(separator: ",")
            return #"{"action":"deliver","excludeUserIds":[\#(users)]}"#
        }
        #expect(verdict(200, answer(10_000)).changes.excluded.count == 10_000)
        #expect(verdict(200, answer(10_001)).report.outcome == .invalid)
    }

    @Test func `a drop keeps it from everybody, and says why`() {
        let verdict = verdict(200, #"{"action":"drop","reason":"spam\u0007\nand more","excludeUserIds":["bob"]}"#)
        #expect(verdict.report.action == .drop && verdict.report.reason == "spam and more")
        #expect(verdict.withholds(from: "anybody") && verdict.withholds(from: .nobody))
    }

    @Test(arguments: [
        "", "null", "[]", "5", #""deliver""#, "{}", #"{"action":"allow"}"#, #"{"action":1}"#, "{\"action\":\"deliver\"",
        #"{"action":"deliver","notification":"x"}"#, #"{"action":"deliver","notification":{"title":1}}"#,
        #"{"action":"deliver","notifications":[]}"#, #"{"action":"deliver","notifications":{"th":"x"}}"#,
        #"{"action":"deliver","notifications":{"th":{"body":{}}}}"#, #"{"action":"deliver","data":[]}"#,
        #"{"action":"deliver","data":{"aps":{}}}"#, #"{"action":"deliver","data":{"google.x":"1"}}"#,
        #"{"action":"deliver","excludeUserIds":"bob"}"#, #"{"action":"deliver","excludeUserIds":["bob",1]}"#,
        #"{"action":"deliver","notification":{"title":" ","body":"\u0007"}}"#,
        #"{"action":"deliver","notifications":{"th":{"title":"\u202e","body":""}}}"#,
        #"{"action":"drop","reason":1}"#, #"{"action":"drop","notification":1}"#, "\u{0}",
    ])
    func `what cannot be obeyed is invalid`(body: String) {
        let delivered = verdict(200, body)
        #expect(delivered.report.outcome == .invalid && delivered.report.action == .deliver)
        #expect(delivered.changes.isEmpty && delivered.report.reason != nil)
        let dropped = verdict(200, body, onFailure: .drop)
        #expect(dropped.report.action == .drop && dropped.withholds(from: "bob"))
    }

    @Test func `an edit leaves something to be seen, or is none that can be obeyed`() {
        let titleOnly = Notification(locale: "en", title: "Title", body: "")
        let emptied = verdict(200, #"{"action":"deliver","notification":{"title":"\u202e "}}"#, notification: titleOnly)
        #expect(emptied.report.outcome == .invalid)
        #expect(emptied.report.reason == "/notification leaves nothing that can be seen")
        let named = verdict(200, #"{"action":"deliver","notifications":{"TH":{"title":"","body":" "}}}"#)
        #expect(named.report.reason == "/notifications/th leaves nothing that can be seen")
        #expect(text(verdict(200, #"{"action":"deliver","notification":{"title":""}}"#)).body == "Body")
        #expect(verdict(200, #"{"action":"drop","notification":{"title":"","body":""}}"#).report.action == .drop)
    }

    @Test func `the key that is not allowed is named`() {
        let reason = verdict(200, #"{"action":"deliver","data":{"aps":"1"}}"#).report.reason
        #expect(reason == "/data/aps is kept by Apple or Google")
        let long = String(repeating: "x", count: 3_100)
        let size = verdict(200, #"{"action":"deliver","data":{"k":"\#(long)"}}"#).report.reason
        #expect(size?.hasPrefix("/data takes") == true)
    }

    @Test func `data have the limits of direct notifications`() {
        func answer(_ count: Int) -> String {
            #"{"action":"deliver","data":{"k":"\#(String(repeating: "x", count: count))"}}"#
        }
        #expect(verdict(200, answer(3_000)).report.outcome == .answered)
        #expect(verdict(200, answer(3_100)).report.outcome == .invalid)
        let part = PushContent(parts: [.apns: RawPart(payload: ["a": .string(String(repeating: "x", count: 1_000))])])
        #expect(verdict(200, answer(2_100), content: part).report.outcome == .invalid)
        let own = PushContent(data: ["own": .string(String(repeating: "x", count: 2_000))])
        #expect(verdict(200, answer(2_000), content: own).report.outcome == .invalid)
    }

    @Test(arguments: [201, 202, 301, 302, 307, 400, 404, 410, 429, 500, 503])
    func `any other status is an error`(status: Int) {
        let verdict = verdict(status, #"{"action":"drop"}"#)
        #expect(verdict.report.outcome == .error && verdict.report.action == .deliver)
        #expect(verdict.report.reason == "http \(status)")
    }

    @Test func `an answer that is too long is invalid`() {
        #expect(verdict(200, nil).report.outcome == .invalid)
        #expect(verdict(204, nil).report.outcome == .answered)
    }

    @Test(arguments: [(true, InterceptionReport.Ending.timeout), (false, .error)])
    func `no answer is what the endpoint's terms make of it`(isTimeout: Bool, outcome: InterceptionReport.Ending) {
        let failure = EndpointAnswer.Failure(reason: "why", isTimeout: isTimeout)
        for action in [EndpointRole.Interception.Failure.deliver, .drop] {
            let verdict = Verdict(
                EndpointAnswer(.failure(failure), time: .seconds(1)),
                of: "e-1",
                onFailure: action,
                notification: Notification(locale: "en", title: "Title", body: "Body"),
                content: nil
            )
            #expect(verdict.report.outcome == outcome && verdict.report.action == action.action)
            #expect(verdict.report.reason == "why" && verdict.report.milliseconds == 1_000)
        }
    }

    @Test func `a verdict is stored whole, and its first line says what is shown`() throws {
        let verdict = verdict(
            200,
            """
            {"action":"deliver","reason":"a\\nb","notification":{"title":"line\\nbreak"},"notifications":{"th":{"body":"ข"}},
             "data":{"a":[1.50,null]},"excludeUserIds":["b","a"]}
            """
        )
        let read = try #require(Verdict(stored: verdict.stored))
        #expect(read == verdict)
        let first = try #require(verdict.stored.split(separator: "\n").first)
        #expect(Verdict(stored: String(first)) == Verdict(verdict.report))
        #expect(first == verdict.report.stored)
        for text in ["", "{}", "x", "\n", verdict.report.stored + "\n{", verdict.report.stored + "\n[]"] {
            #expect(Verdict(stored: text) == nil)
        }
    }
}
