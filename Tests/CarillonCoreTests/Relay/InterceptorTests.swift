import CarillonTesting
import Foundation
import Metrics
import Synchronization
import Testing

@testable import CarillonCore

@Suite struct InterceptorTests {
    private struct Unreadable: Error {}

    private struct Source: QuestionSource {
        let secrets: @Sendable () throws -> [WebhookSecret]

        func questionMaterial(_ key: RelayKey) async throws -> QuestionMaterial {
            QuestionMaterial(secrets: try secrets(), body: nil)
        }
    }

    private let circuits = StubCircuits()

    private func interceptor(
        secrets: @escaping @Sendable () throws -> [WebhookSecret] = { [.generate()] },
        circuits: any EndpointCircuits = StubCircuits(),
        slots: Int = Interceptor.slots,
        caller: ScriptedCaller
    ) -> Interceptor {
        Interceptor(
            caller: caller,
            source: Source(secrets: secrets),
            circuits: circuits,
            slots: slots,
            metrics: PipelineMetrics(factory: NOOPMetricsHandler.instance),
            logger: TestDatabase.logger
        )
    }

    private func question() -> InterceptionQuestion {
        let terms = EndpointRole.Interception(onFailure: .drop)
        let event = PendingEvent(Event(sourceID: "e", type: .messageSent, timestamp: .seconds(0)))
        return InterceptionQuestion(
            event: event,
            endpoint: .sample("e-1", .intercept(terms), ["*"]),
            terms: terms,
            notification: Notification(locale: "en", title: "Title", body: "Body"),
            recipients: ["bob"],
            hasMoreRecipients: false
        )
    }

    private func verdict(
        secrets: @escaping @Sendable () throws -> [WebhookSecret],
        caller: ScriptedCaller
    ) async throws -> Verdict? {
        try await interceptor(secrets: secrets, caller: caller).verdict(on: question())
    }

    @Test func `an endpoint whose secret cannot be read is as good as one that does not answer`() async throws {
        let caller = ScriptedCaller(answering: #"{"action":"deliver"}"#)
        let verdict = try await verdict(secrets: { throw Unreadable() }, caller: caller)
        #expect(verdict?.report.outcome == .error)
        #expect(verdict?.report.action == .drop)
        #expect(caller.calls.isEmpty)
    }

    @Test func `an endpoint that has just been removed has no say`() async throws {
        let caller = ScriptedCaller(answering: #"{"action":"drop"}"#)
        let verdict = try await verdict(secrets: { [] }, caller: caller)
        #expect(verdict?.report.action == .deliver)
        #expect(caller.calls.isEmpty)
    }

    @Test func `ten failures in a row open the circuit, and what is open is not asked`() async throws {
        let fails = Flag(true)
        let caller = ScriptedCaller { _ in fails.isSet ? .failure("refused") : .words(#"{"action":"deliver"}"#) }
        let interceptor = interceptor(circuits: circuits, caller: caller)
        func outcomes(_ count: Int) async throws -> [InterceptionReport.Ending?] {
            var outcomes: [InterceptionReport.Ending?] = []
            for _ in 0..<count { outcomes.append(try await interceptor.verdict(on: question())?.report.outcome) }
            return outcomes
        }
        #expect(try await outcomes(9) == Array(repeating: .error, count: 9))
        fails.clear()
        #expect(try await outcomes(1) == [.answered], "the failures are not in a row any more")
        fails.set()
        #expect(try await outcomes(9) == Array(repeating: .error, count: 9))
        #expect(circuits.changes.isEmpty)
        #expect(try await outcomes(3) == [.error, .circuit, .circuit])
        #expect(circuits.changes == ["acme/relay/e-1 opened: refused"] && caller.calls.count == 20)
        circuits.circuit = .closed
        #expect(try await outcomes(9) == Array(repeating: .error, count: 9), "it begins to count anew")
        #expect(circuits.changes.count == 1)
    }

    @Test func `one question tries a circuit whose time is over, if no other replica does`() async throws {
        let caller = ScriptedCaller(isOpen: false, answering: #"{"action":"deliver"}"#)
        let interceptor = interceptor(circuits: circuits, caller: caller)
        circuits.circuit = .due
        circuits.mayTry(false)
        #expect(try await interceptor.verdict(on: question())?.report.outcome == .circuit)
        #expect(caller.calls.isEmpty)
        circuits.circuit = .due
        circuits.mayTry(true)
        async let trial = interceptor.verdict(on: question())
        try await eventually { caller.waiting == 1 }
        circuits.circuit = .due
        #expect(try await interceptor.verdict(on: question())?.report.outcome == .circuit, "one at a time")
        caller.open()
        #expect(try await trial?.report.outcome == .answered)
        let tried = "acme/relay/e-1 tried"
        #expect(circuits.changes == [tried, tried, "acme/relay/e-1 closed"] && caller.calls.count == 1)
        #expect(try await interceptor.verdict(on: question())?.report.outcome == .answered)
    }

    @Test(arguments: [true, false])
    func `a question that told nothing costs the endpoint no other pause`(isAway: Bool) async throws {
        let isHindered = Flag(true)
        let caller = ScriptedCaller { _ in
            guard isHindered.isSet else { return .words(#"{"action":"deliver"}"#) }
            return EndpointAnswer(.failure(.init(reason: "busy", isBusy: true)), time: .zero)
        }
        let interceptor = interceptor(
            secrets: {
                if isAway, isHindered.isSet { throw StoreAway() }
                return [.generate()]
            },
            circuits: circuits,
            caller: caller
        )
        circuits.circuit = .due
        if isAway {
            await #expect(throws: StoreAway.self) { try await interceptor.verdict(on: question()) }
        } else {
            #expect(try await interceptor.verdict(on: question())?.report.outcome == .busy)
        }
        isHindered.clear()
        #expect(try await interceptor.verdict(on: question())?.report.outcome == .answered)
        let tried = "acme/relay/e-1 tried"
        #expect(circuits.changes == [tried, "acme/relay/e-1 tried in vain", tried, "acme/relay/e-1 closed"])
    }

    @Test
    func `what was on its way when somebody opened the circuit changes nothing, and who waits is refused`() async throws
    {
        let caller = ScriptedCaller(isOpen: false) { _ in .failure("refused") }
        let interceptor = interceptor(circuits: circuits, slots: 12, caller: caller)
        var outcomes: [InterceptionReport.Ending?] = []
        try await withThrowingTaskGroup(of: InterceptionReport.Ending?.self) { group in
            for _ in 0..<13 {
                group.addTask { try await interceptor.verdict(on: question())?.report.outcome }
            }
            try await eventually { caller.waiting == 12 && interceptor.slots.waiting == 1 }
            circuits.circuit = .open
            caller.open()
            for try await outcome in group { outcomes.append(outcome) }
        }
        #expect(outcomes.count { $0 == .error } == 12 && outcomes.count { $0 == .circuit } == 1)
        #expect(circuits.changes.isEmpty)
    }

    @Test(.stores)
    func `what came of a second's questions is written together, and what was not asked not at all`() async throws {
        let store = StoreScene.here.endpoints
        try await store.addEndpoint(.sample("e-1", .intercepting), to: "acme")
        let recorder = EndpointOutcomeRecorder(log: StoreScene.here.endpointLog, logger: TestDatabase.logger)
        func shown(after endings: InterceptionReport.Ending...) async throws -> Endpoint? {
            for ending in endings {
                let report = InterceptionReport(endpointID: "e-1", outcome: ending, action: .deliver)
                recorder.note(report, in: "acme")
            }
            await recorder.write()
            return try await store.endpoints(of: "acme").first
        }
        #expect(try await shown(after: .busy, .circuit)?.lastError == nil)
        let first = try await shown(after: .answered, .timeout)
        #expect(first?.lastError == "timeout" && first?.lastSuccessAt != nil)
        let second = try await shown(after: .error, .answered)
        #expect(second?.lastError == nil && second?.lastSuccessAt != nil)
    }

    @Test(.stores) func `what came of a question is written soon, as what comes of later ones is`() async throws {
        let store = StoreScene.here.endpoints
        try await store.addEndpoint(.sample("e-1", .intercepting), to: "acme")
        let recorder = EndpointOutcomeRecorder(log: StoreScene.here.endpointLog, logger: TestDatabase.logger)
        let running = Task { try await recorder.run() }
        defer { running.cancel() }
        for ending in [InterceptionReport.Ending.timeout, .error] {
            recorder.note(InterceptionReport(endpointID: "e-1", outcome: ending, action: .deliver), in: "acme")
            try await eventually("it is written") {
                try await store.endpoints(of: "acme").first?.lastError == ending.rawValue
            }
        }
    }

    private typealias Line = FairQueue<NetworkID, String, Int>

    private func line(longest: (count: Int, bytes: Int), mostWaiting: Int = 300) -> Line {
        Line(limits: Interceptor.limits(slots: 1, longestLine: longest, mostWaiting: mostWaiting))
    }

    @Test func `who waits in line is bounded in number and in bytes, of one endpoint and of all`() throws {
        var line = line(longest: (count: 3, bytes: 100))
        func enter(_ endpoint: String, _ size: Int) -> [Line.Grant]? {
            line.admit(size, weight: size, of: "acme", in: endpoint, at: .now)
        }
        func waits(_ endpoint: String, _ size: Int) -> Bool { enter(endpoint, size)?.isEmpty ?? false }
        let first = try #require(enter("e-1", 1_000)?.first)
        #expect(enter("e-2", 1_000)?.isEmpty == false, "the first one has the slot")
        #expect(waits("e-1", 60) && !waits("e-1", 50) && waits("e-1", 20) && waits("e-1", 20))
        #expect(!waits("e-1", 0), "three wait")
        #expect(waits("e-2", 90) && !waits("e-2", 10), "half of what there is, and the last one beyond")
        #expect(line.handOn(first, at: .now).map(\.item) == [60])
        #expect(waits("e-2", 10), "one of 60 has the slot now")
        #expect(enter("e-3", 1_000)?.isEmpty == false, "who has a slot at once needs no room")
    }

    @Test func `no network has more room in line than half of what others leave`() {
        var line = line(longest: (count: 100, bytes: 100))
        func enter(_ endpoint: Int, _ network: NetworkID) -> [Line.Grant]? {
            line.admit(0, weight: 10, of: network, in: "e-\(endpoint)", at: .now)
        }
        func begin(_ network: NetworkID) -> Bool { (0..<5).allSatisfy { enter($0, network)?.isEmpty == false } }
        func fill(_ network: NetworkID) -> Int {
            (0..<5).reduce(0) { count, endpoint in
                count + (0..<20).count { _ in enter(endpoint, network)?.isEmpty ?? false }
            }
        }
        for (network, count) in [("greedy", 15), ("other", 8), ("third", 4)] as [(NetworkID, Int)] {
            #expect(begin(network), "a slot is there, however much others wait for")
            #expect(fill(network) == count)
        }
        for endpoint in 0..<5 { line.remove(of: "greedy", in: "e-\(endpoint)") { _ in true } }
        #expect(fill("other") > 0, "what nobody waits in any more is room for others")
        #expect(!line.shutDown().isEmpty)
    }

    @Test func `that others had all connections is no fault of the endpoint`() {
        let failure = EndpointAnswer.Failure(reason: "too many requests waiting", isBusy: true)
        let answer = EndpointAnswer(.failure(failure), time: .zero)
        let notification = Notification(locale: "en", title: "Title", body: "Body")
        let verdict = Verdict(answer, of: "e-1", onFailure: .drop, notification: notification, content: nil)
        #expect(verdict.report.outcome == .busy)
        #expect(verdict.report.action == .drop)
        #expect(verdict.report.outcome.isFailure == nil)
    }
}

/// Circuits that are as a test says, and change by themselves only when they are opened and closed.
final class StubCircuits: EndpointCircuits {
    private let state = Mutex<(circuit: EndpointCircuit, isOurs: Bool, changes: [String])>((.closed, true, []))

    /// What the circuit is now.
    var circuit: EndpointCircuit {
        get { state.withLock(\.circuit) }
        set { state.withLock { $0.circuit = newValue } }
    }

    /// Whether it is this replica that tries.
    func mayTry(_ isOurs: Bool) { state.withLock { $0.isOurs = isOurs } }

    /// What was done to it.
    var changes: [String] { state.withLock(\.changes) }

    func circuit(of lane: Lane, at moment: Timestamp) -> EndpointCircuit { circuit }

    func open(_ lane: Lane, because reason: String, at moment: Timestamp) {
        state.withLock { state in
            state.circuit = .open
            state.changes.append("\(lane) opened: \(reason)")
        }
    }

    func takeTrial(of lane: Lane) async -> Bool {
        state.withLock { state in
            state.circuit = .open
            state.changes.append("\(lane) tried")
            return state.isOurs
        }
    }

    func tryAgain(_ lane: Lane, at moment: Timestamp) {
        state.withLock { state in
            state.circuit = .due
            state.changes.append("\(lane) tried in vain")
        }
    }

    func close(_ lane: Lane, at moment: Timestamp) {
        state.withLock { state in
            state.circuit = .closed
            state.changes.append("\(lane) closed")
        }
    }
}
