import CarillonTesting
import Testing

@testable import CarillonCore

/// Endpoints that are asked before anybody is notified, through the whole pipeline.
@Suite(.timeLimit(.minutes(2))) struct InterceptionPipelineTests {
    private let recorder = PushRecorder()

    /// A scene whose network has had an endpoint for an hour.
    private func run(
        _ caller: ScriptedCaller,
        members: Int = 3,
        terms: EndpointRole.Interception = .init(timeout: 5_000),
        events: [String] = ["*"],
        recorder: PushRecorder = PushRecorder(),
        _ body: @Sendable @escaping (PipelineScene) async throws -> Void
    ) async throws {
        try await PipelineScene.run(
            members: members,
            providers: [recorder],
            settleInterval: .milliseconds(20),
            isRelaying: true,
            asking: caller
        ) { scene in
            try await scene.addInterceptor(to: scene.network, terms, events)
            try await body(scene)
        }
    }

    @Test func `an endpoint is asked once, under the event's id, and told what it needs`() async throws {
        let caller = ScriptedCaller(answering: #"{"action":"deliver"}"#)
        try await run(caller) { scene in
            let id = try await scene.post()
            let status = try await scene.finished(id)
            #expect(status.deliveries[.delivered] == 3 && status.recipients.intercepted == 0)
            #expect(status.interception?.outcome == .answered && status.interception?.action == .deliver)
            let call = try #require(caller.calls.first)
            #expect(caller.calls.count == 1 && call.messageID == id.description && call.secrets.count == 1)
            #expect(call.url == "https://bot.acme.example/e-1" && call.timeout == .milliseconds(5_000))
            let body = try JSONValue(parsing: call.body)
            #expect(body["type"] == "notification.intercept" && body["timestamp"] != nil)
            let data = try #require(body["data"])
            #expect(data["event"]?["id"] == "evt-1" && data["event"]?["type"] == "message.sent")
            let message: JSONValue = ["type": "text", "text": "Hello"]
            #expect(data["event"]?["data"]?["message"] == message)
            #expect(data["event"]?["carillon"]?["eventId"] == .string(id.description))
            let text: JSONValue = ["locale": "en", "title": "sender (general)", "body": "Hello", "kind": "alert"]
            let people: JSONValue = ["userIds": ["user-0", "user-1", "user-2"], "more": false]
            #expect(data["notification"] == text && data["recipients"] == people)
            #expect(data["timeoutMs"] == .number(JSONNumber(5_000)))
        }
    }

    @Test func `an endpoint is asked in the trace of the event`() async throws {
        let caller = ScriptedCaller(answering: #"{"action":"deliver"}"#)
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        try await run(caller) { scene in
            _ = try await scene.finished(try await scene.post())
            _ = try await scene.finished(try await TraceContext.$current.withValue(trace) { try await scene.post() })
            #expect(caller.calls.map(\.trace) == [nil, trace])
        }
    }

    @Test func `recipients are not named where nobody wants to know them`() async throws {
        let caller = ScriptedCaller(answering: #"{"action":"deliver"}"#)
        try await run(caller, terms: .init(includesRecipients: false)) { scene in
            _ = try await scene.finished(try await scene.post())
            let data = try JSONValue(parsing: try #require(caller.calls.first).body)["data"]
            #expect(data?["event"] != nil && data?["recipients"] == nil)
        }
    }

    @Test func `texts are edited, data merged, and people left out`() async throws {
        let caller = ScriptedCaller(
            answering: """
                {"action":"deliver","notification":{"body":"H***o"},"data":{"flag":"1"},"reason":"words",
                 "excludeUserIds":["user-1","stranger"]}
                """
        )
        try await run(caller, recorder: recorder) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.recipients.resolved == 3 && status.recipients.notified == 2)
            #expect(status.recipients.intercepted == 1 && status.deliveries[.delivered] == 2)
            #expect(status.interception?.action == .edit && status.interception?.reason == "words")
            #expect(recorder.devices.count == 2 && !recorder.devices.contains("device of user-1"))
            let push = try #require(recorder.pushes(to: "device of user-0").first)
            #expect(push.notification == Notification(locale: "en", title: "sender (general)", body: "H***o"))
            #expect(push.content == PushContent(data: ["flag": "1"]))
        }
    }

    @Test func `everybody may be left out, and a drop ends the event`() async throws {
        for answer in [
            #"{"action":"deliver","excludeUserIds":["user-0","user-1","user-2"]}"#,
            #"{"action":"drop","reason":"spam"}"#,
        ] {
            let recorder = PushRecorder()
            try await run(ScriptedCaller(answering: answer), recorder: recorder) { scene in
                let status = try await scene.finished(try await scene.post())
                #expect(status.recipients.resolved == 3 && status.recipients.notified == 0)
                #expect(status.recipients.intercepted == 3 && recorder.devices.isEmpty)
            }
        }
    }

    @Test func `further pages go by the same answer, and nobody is asked again`() async throws {
        let caller = ScriptedCaller(
            answering: #"{"action":"deliver","notification":{"title":"T"},"excludeUserIds":["user-0","user-999"]}"#
        )
        try await run(caller, members: 1_500, recorder: recorder) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.recipients.resolved == 1_500 && status.recipients.intercepted == 2)
            #expect(status.deliveries[.delivered] == 1_498 && caller.calls.count == 1)
            let recipients = try JSONValue(parsing: try #require(caller.calls.first).body)["data"]?["recipients"]
            #expect(recipients?["more"] == true)
            #expect(recorder.pushes(to: "device of user-998").map(\.notification.title) == ["T"])
        }
    }

    @Test(arguments: [EndpointRole.Interception.Failure.deliver, .drop])
    func `without a good answer the endpoint's terms hold`(onFailure: EndpointRole.Interception.Failure) async throws {
        let caller = ScriptedCaller { call in
            call.body.count % 2 == 0 ? .words("[]") : .failure("timeout", isTimeout: true)
        }
        try await run(caller, terms: .init(onFailure: onFailure)) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.recipients.notified == (onFailure == .deliver ? 3 : 0))
            #expect(status.recipients.intercepted == (onFailure == .deliver ? 0 : 3))
            #expect(status.interception?.outcome.isFailure == true && status.interception?.action == onFailure.action)
        }
    }

    @Test func `nobody is asked about what notifies nobody, or is of another type`() async throws {
        let caller = ScriptedCaller(answering: #"{"action":"drop"}"#)
        try await run(caller, members: 0) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.interception == nil)
        }
        try await run(caller, events: ["member.*", "notification.direct"]) { scene in
            let status = try await scene.finished(try await scene.post())
            #expect(status.interception == nil && status.deliveries[.delivered] == 3)
        }
        #expect(caller.calls.isEmpty)
    }

    @Test func `while one network's endpoint hangs, the others' events go out`() async throws {
        let caller = ScriptedCaller(isOpen: false, answering: #"{"action":"deliver"}"#)
        try await run(caller, recorder: recorder) { scene in
            let other = NetworkID(trusted: "other")
            try await scene.populate(other, members: 2)
            var held: [EventID] = []
            for _ in 0..<200 { held.append(try await scene.post()) }
            try await eventually { caller.waiting == Interceptor.slots }
            for _ in 0..<20 {
                let status = try await scene.finished(try await scene.post(in: other), in: other)
                #expect(status.deliveries[.delivered] == 2 && status.interception == nil)
            }
            #expect(caller.waiting == Interceptor.slots && recorder.devices.count == 40)
            caller.open()
            for id in held { _ = try await scene.finished(id) }
            #expect(recorder.devices.count == 640)
        }
    }

    @Test func `whoever is in line too long is not asked, which is no failure of the endpoint`() async throws {
        let caller = ScriptedCaller(isOpen: false, answering: #"{"action":"drop"}"#)
        try await run(caller, terms: .init(timeout: 300)) { scene in
            var ids: [EventID] = []
            for _ in 0..<Interceptor.slots + 30 { ids.append(try await scene.post()) }
            try await eventually { caller.waiting == Interceptor.slots }
            var outcomes: [InterceptionReport.Ending] = []
            while outcomes.count < 30 {
                outcomes = []
                for id in ids {
                    if let report = try await scene.store.history.event(id, in: scene.network)?.interception {
                        outcomes.append(report.outcome)
                    }
                }
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(outcomes.allSatisfy { $0 == .busy } && caller.calls.count == Interceptor.slots)
            caller.open()
            let status = try await scene.finished(try await scene.post())
            #expect(status.interception?.outcome == .answered)
        }
    }

    @Test func `a dead endpoint is asked ten times, and then not any more`() async throws {
        let caller = ScriptedCaller { _ in .failure("connection refused") }
        try await run(caller) { scene in
            for number in 0..<40 {
                let status = try await scene.finished(try await scene.post())
                #expect(status.interception?.outcome == (number < 10 ? .error : .circuit))
                #expect(status.deliveries[.delivered] == 3)
            }
            #expect(caller.calls.count == 10)
        }
    }

    @Test func `an event that somebody else claims meanwhile is asked about under the same id, and goes out once`()
        async throws
    {
        let caller = ScriptedCaller(isOpen: false, answering: #"{"action":"deliver"}"#)
        try await run(caller, recorder: recorder) { scene in
            let id = try await scene.post()
            try await eventually { caller.waiting == 1 }
            try await scene.store.passTime()
            try await eventually { caller.waiting == 2 }
            #expect(Set(caller.calls.map(\.messageID)) == [id.description])
            caller.open()
            #expect(try await scene.finished(id).deliveries[.delivered] == 3)
            let next = try await scene.post()
            _ = try await scene.finished(next)
            #expect(recorder.devices.count == 6)
        }
    }

    @Test func `at shutdown whoever was asked is waited for, and those in line are given back`() async throws {
        let caller = ScriptedCaller(isOpen: false, answering: #"{"action":"deliver"}"#)
        try await run(caller) { scene in
            var ids: [EventID] = []
            for _ in 0..<Interceptor.slots + 10 { ids.append(try await scene.post()) }
            try await eventually { caller.waiting == Interceptor.slots }
            scene.beginShutdown()
            let claimable = try await eventually { () -> Int? in
                let count = try await scene.store.inbox.claimEvents(limit: 1_000, excluding: []).count
                return count > 0 ? count : nil
            }
            #expect(claimable <= 10 && caller.calls.count == Interceptor.slots)
            caller.open()
            let reports = try await eventually { () -> Int? in
                var count = 0
                for id in ids where try await scene.store.history.event(id, in: scene.network)?.interception != nil {
                    count += 1
                }
                return count == Interceptor.slots ? count : nil
            }
            #expect(reports == Interceptor.slots)
        }
    }
}

extension PipelineScene {
    /// Adds an endpoint that has been there for an hour.
    fileprivate func addInterceptor(
        to network: NetworkID,
        _ terms: EndpointRole.Interception,
        _ events: [String]
    ) async throws {
        let settings = Endpoint.sample("e-1", .intercept(terms), events).settings
        let endpoint = Endpoint(id: "e-1", settings: settings, createdAt: WallClock.system.now() - .seconds(3_600))
        try await store.endpoints.addEndpoint(endpoint, to: network)
    }
}
