import CarillonCore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

extension Services {
    /// Endpoints that are asked before anybody is notified (FACES section C3), with a real receiver.
    @Suite struct InterceptionTests {
        private let scratch = Scratch()
        private let moderator = Moderator()

        @Test func `an endpoint edits, leaves people out and stops, and what came of it is seen`() async throws {
            try await moderator.whileRunning { url in
                let service = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: service)
                try await network.addMembers(["bob", "carol"])
                let endpoint = try await network.addInterceptor(url, timeout: 5_000)
                try await scratch.ownServer.beginEndpoints()
                try await network.begin(moderator)
                let edited = try await network.accept(TestEvents.messageSent("edited", text: "darn"))
                let state = try await network.done(edited)
                let question = try #require(moderator.questions.first { $0.id == edited })
                #expect(question.isSigned(with: endpoint.secret))
                #expect(state["interception"]?["action"]?.text == "edit")
                #expect(state["interception"]?["outcome"]?.text == "answered")
                #expect(state["interception"]?["endpointId"]?.text == endpoint.id)
                #expect(state["recipients"]?["suppressed"]?["endpoint"]?.integer == 1)
                #expect(state["recipients"]?["notified"]?.integer == 1)
                try await eventually("the edited line") {
                    service.logLines.contains { $0.eventID == edited && $0.body == "d***" }
                }
                #expect(!service.logLines.contains { $0.eventID == edited && $0.deviceID == "carol-device" })
                let spam = try await network.accept(TestEvents.messageSent("spam", text: "spam"))
                let dropped = try await network.done(spam)
                #expect(dropped["interception"]?["action"]?.text == "drop")
                #expect(dropped["interception"]?["reason"]?.text == "spam")
                #expect(dropped["recipients"]?["suppressed"]?["endpoint"]?.integer == 2)
                let body: JSONValue = ["userId": "bob", "event": TestEvents.messageSent("explained")]
                let asked = moderator.questions.count
                let explained = try await network.send(.POST, "/explain", body)
                #expect(explained["interception"]?["endpointId"]?.text == endpoint.id)
                #expect(moderator.questions.count == asked)
                let metrics = try await service.management.send(.GET, "/metrics").text
                #expect(metrics.contains(#"carillon_interceptions_total{outcome="answered",action="drop"} 1"#))
                #expect(metrics.contains("carillon_interception_seconds"))
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `an endpoint that hangs or is gone costs its timeout ten times, and its terms hold`() async throws {
            try await moderator.whileRunning { url in
                let service = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: service)
                try await network.addMembers(["bob"])
                let endpoint = try await network.addInterceptor(url, timeout: 5_000)
                try await scratch.ownServer.beginEndpoints()
                try await network.begin(moderator)
                try await network.send(.PATCH, "/endpoints/\(endpoint.id)", ["timeoutMs": 200])
                let late = try await network.done(try await network.accept(TestEvents.messageSent("l", text: "hang")))
                #expect(late["interception"]?["outcome"]?.text == "timeout")
                #expect(late["deliveries"]?["delivered"]?.integer == 1)
                try await network.send(.PATCH, "/endpoints/\(endpoint.id)", ["onFailure": "drop"])
                let dropped = try await network.done(
                    try await network.accept(TestEvents.messageSent("d", text: "hang"))
                )
                #expect(dropped["interception"]?["action"]?.text == "drop")
                #expect(dropped["recipients"]?["suppressed"]?["endpoint"]?.integer == 1)
                for number in 0..<8 {
                    _ = try await network.done(
                        try await network.accept(TestEvents.messageSent("h-\(number)", text: "hang"))
                    )
                }
                let asked = moderator.questions.count
                for number in 0..<5 {
                    let id = try await network.accept(TestEvents.messageSent("c-\(number)", text: "fine"))
                    #expect(try await network.done(id)["interception"]?["outcome"]?.text == "circuit")
                }
                #expect(moderator.questions.count == asked)
                let shown = try await network.send(.GET, "/endpoints/\(endpoint.id)")
                #expect(shown["circuit"]?.text == "open")
                try await eventually("the last error") {
                    let shown = try await network.send(.GET, "/endpoints/\(endpoint.id)")
                    return shown["lastError"]?.text != nil && shown["lastSuccessAt"]?.text != nil
                }
                #expect(service.program.errorText.contains("An endpoint is not asked for a while"))
                #expect(try await service.stop() == 0)
            }
        }
    }
}

extension Services {
    /// Two services on one database, and one endpoint that is asked.
    @Suite struct InterceptionReplicaTests {
        private let moderator = Moderator()
        private let scratch = Scratch()

        @Test func `what one replica found out about a dead endpoint holds for the others, and after a restart`()
            async throws
        {
            let server = try await DatabaseServer.migrated(in: scratch)
            try await moderator.whileRunning { url in
                let one = try await RunningService.start(in: scratch, environment: server.environment)
                let two = try await RunningService.start(in: scratch, environment: server.environment)
                let network = try await TestNetwork(on: one)
                try await network.addMembers(["bob"])
                let endpoint = try await network.addInterceptor(url, timeout: 5_000)
                try await server.beginEndpoints()
                for service in [one, two] { try await network.on(service).begin(moderator) }
                try await network.send(.PATCH, "/endpoints/\(endpoint.id)", ["timeoutMs": 200])
                func outcome(at service: RunningService, _ id: String, _ text: String) async throws -> String? {
                    let here = network.on(service)
                    let state = try await here.done(try await here.accept(TestEvents.messageSent(id, text: text)))
                    return state["interception"]?["outcome"]?.text
                }
                func circuit(at service: RunningService) async throws -> String? {
                    try await network.on(service).send(.GET, "/endpoints/\(endpoint.id)")["circuit"]?.text
                }
                for number in 0..<10 { #expect(try await outcome(at: one, "h-\(number)", "hang") == "timeout") }
                try await eventually(within: .seconds(2), "the other one's circuit") {
                    try await circuit(at: two) == "open"
                }
                #expect(try await circuit(at: one) == "open")
                let asked = moderator.questions.count
                for (number, service) in [one, two].enumerated() {
                    #expect(try await outcome(at: service, "c-\(number)", "fine") == "circuit")
                }
                #expect(try await two.stop() == 0)
                let three = try await RunningService.start(in: scratch, environment: server.environment)
                try await eventually("the new one's circuit") { try await circuit(at: three) == "open" }
                #expect(try await outcome(at: three, "c-three", "fine") == "circuit")
                #expect(moderator.questions.count == asked)
                try await network.on(three).send(.PATCH, "/endpoints/\(endpoint.id)", ["timeoutMs": 5_000])
                try await eventually(within: .seconds(2), "the first one's circuit") {
                    try await circuit(at: one) == "closed"
                }
                for (number, service) in [one, three].enumerated() {
                    #expect(try await outcome(at: service, "a-\(number)", "fine") == "answered")
                    #expect(try await service.stop() == 0)
                }
            }
            await server.stop()
        }

        @Test
        func `two replicas ask about each event once, and again only when the one that asked has died`() async throws {
            let server = try await DatabaseServer.migrated(in: scratch)
            try await moderator.whileRunning { url in
                let one = try await RunningService.start(in: scratch, environment: server.environment)
                let two = try await RunningService.start(in: scratch, environment: server.environment)
                let network = try await TestNetwork(on: one)
                try await network.addMembers(["bob", "carol"])
                _ = try await network.addInterceptor(url, timeout: 5_000)
                try await server.beginEndpoints()
                for service in [one, two] { try await network.on(service).begin(moderator) }
                // What is said of the text, and to how many it goes then.
                let kinds = [("fine", "deliver", 2), ("darn", "edit", 1), ("spam", "drop", 0)]
                var events: [(id: String, action: String, notified: Int)] = []
                for number in 0..<24 {
                    let (text, action, notified) = kinds[number % kinds.count]
                    let event = TestEvents.messageSent("e-\(number)", text: text)
                    let id = try await network.on(number.isMultiple(of: 2) ? one : two).accept(event)
                    events.append((id, action, notified))
                }
                for event in events {
                    let shown = try await network.done(event.id)
                    let other = try await network.on(two).done(event.id)
                    #expect(shown["interception"]?["action"]?.text == event.action)
                    #expect(shown["interception"] == other["interception"])
                    #expect(moderator.questions.count { $0.id == event.id } == 1)
                }
                let lost = try await network.on(two).accept(TestEvents.messageSent("lost", text: "once late"))
                try await eventually("the question") { moderator.questions.contains { $0.id == lost } }
                two.program.send(SIGKILL)
                _ = try await two.program.exitStatus()
                try await server.endLeases()
                let state = try await network.done(lost)
                #expect(state["interception"]?["outcome"]?.text == "answered")
                #expect(moderator.questions.count { $0.id == lost } == 2)
                for event in events + [(lost, "deliver", 2)] {
                    func lines() -> [LogLine] { (one.logLines + two.logLines).filter { $0.eventID == event.id } }
                    try await eventually("the lines") { lines().count >= event.notified }
                    #expect(lines().count == event.notified && Set(lines().map(\.deviceID)).count == event.notified)
                }
                #expect(try await one.stop() == 0)
            }
            await server.stop()
        }
    }
}

extension Crashes {
    @Suite struct InterceptionCrashTests {
        /// Nothing is committed before the answer is there: whoever claims the event asks again, under the same id.
        @Test
        func `an event whose answer was lost with the process is asked about again, and goes out once`() async throws {
            let scratch = Scratch()
            let moderator = Moderator()
            try await moderator.whileRunning { url in
                let first = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: first)
                try await network.addMembers(["bob", "carol"])
                _ = try await network.addInterceptor(url, timeout: 5_000)
                try await scratch.ownServer.beginEndpoints()
                try await network.begin(moderator)
                let server = try #require(PostmasterFile(dataDirectory: scratch.path("data")))
                // The first answer takes until after the end of who asked.
                let id = try await network.accept(TestEvents.messageSent("lost", text: "once late"))
                try await eventually("the question") { moderator.questions.contains { $0.id == id } }
                first.program.send(SIGKILL)
                server.killAll()
                _ = try await first.program.exitStatus()
                let second = try await RunningService.start(in: scratch)
                try await scratch.ownServer.endLeases()
                let state = try await network.on(second).done(id, within: Crashes.patience)
                #expect(state["interception"]?["outcome"]?.text == "answered")
                #expect(state["deliveries"]?["delivered"]?.integer == 2)
                #expect(moderator.questions.count { $0.id == id } == 2)
                #expect((first.logLines + second.logLines).count { $0.eventID == id } == 2)
                #expect(try await second.stop() == 0)
            }
        }
    }
}

/// A receiver that masks "darn" and keeps it from Carol, drops "spam", and does not answer what has "hang" in it in time; what
/// has "once late" in it only the first time.
private final class Moderator: Sendable {
    private let state = Mutex<[WebhookReceiver.Received]>([])

    var questions: [WebhookReceiver.Received] { state.withLock(\.self) }

    /// Listens while `body` runs, which gets the URL.
    func whileRunning(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        try await whileListening({ try await self.answer($0) }, body)
    }

    private func answer(_ request: Request) async throws -> Response {
        let received = try await WebhookReceiver.Received(request)
        let isFirst = state.withLock { questions in
            defer { questions.append(received) }
            return !questions.contains { $0.id == received.id }
        }
        let text = try JSONValue(parsing: received.body)["data"]?["notification"]?["body"]?.text ?? ""
        if text.contains("hang") || text.contains("once late") && isFirst { try await Task.sleep(for: .seconds(4)) }
        let answer: JSONValue =
            text.contains("darn")
            ? ["action": "deliver", "notification": ["body": "d***"], "excludeUserIds": ["carol"]]
            : text.contains("spam") ? ["action": "drop", "reason": "spam"] : ["action": "deliver"]
        return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(bytes: answer.serialized)))
    }
}

extension TestNetwork {
    /// Makes an endpoint that is asked about messages.
    fileprivate func addInterceptor(_ url: String, timeout: Int) async throws -> TestEndpoint {
        let body: JSONValue = [
            "url": .string(url), "mode": "intercept", "events": ["message.sent"],
            "timeoutMs": .number(JSONNumber(timeout)),
        ]
        let made = try await send(.POST, "/endpoints", body, expecting: [201])
        return TestEndpoint(id: try #require(made["endpoint"]?["id"]?.text), secret: try #require(made["secret"]?.text))
    }

    /// Posts messages until the endpoint is asked about one.
    fileprivate func begin(_ moderator: Moderator) async throws {
        try await eventually("the endpoint's beginning") {
            let id = try await accept(TestEvents.messageSent("probe-\(UInt64.random(in: .min ... .max))"))
            _ = try await done(id)
            return moderator.questions.contains { $0.id == id }
        }
    }
}
