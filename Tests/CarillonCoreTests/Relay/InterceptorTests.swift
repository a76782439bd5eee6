import CarillonTesting
import Foundation
import Logging
import Metrics
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

    private func verdict(
        secrets: @escaping @Sendable () throws -> [WebhookSecret],
        caller: ScriptedCaller
    ) async throws -> Verdict? {
        let terms = EndpointRole.Interception(onFailure: .drop)
        let interceptor = Interceptor(
            caller: caller,
            source: Source(secrets: secrets),
            metrics: PipelineMetrics(factory: NOOPMetricsHandler.instance),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let event = PendingEvent(
            networkID: "acme",
            id: EventID(UUID()),
            receivedAt: Timestamp(milliseconds: 0),
            event: Event(sourceID: "e", type: .messageSent, timestamp: Timestamp(milliseconds: 0)),
            leaseToken: 1
        )
        return try await interceptor.verdict(
            on: InterceptionQuestion(
                event: event,
                endpoint: .sample("e-1", .intercept(terms), ["*"]),
                terms: terms,
                notification: Notification(locale: "en", title: "Title", body: "Body"),
                recipients: ["bob"],
                hasMoreRecipients: false
            )
        )
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

    @Test func `what came of a second's questions is written together, and what was not asked not at all`() async throws
    {
        let store = MemoryStore()
        let network = Network(id: "acme", createdAt: Timestamp(milliseconds: 0))
        _ = try await store.createNetwork(
            NetworkCredentials(network: network, webhookSecrets: [], userTokenKeys: [], apiKeys: [])
        )
        _ = try await store.addEndpoint(.sample("e-1", .intercepting), secret: .generate(), of: "acme", answering: nil)
        let notes = EndpointNotes(store: store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        func shown(after endings: InterceptionReport.Ending...) async throws -> Endpoint? {
            for ending in endings {
                let report = InterceptionReport(endpointID: "e-1", outcome: ending, action: .deliver)
                notes.note(report, in: "acme")
            }
            await notes.write()
            return try await store.endpoints(of: "acme").first
        }
        #expect(try await shown(after: .busy, .circuit)?.lastError == nil)
        let first = try await shown(after: .answered, .timeout)
        #expect(first?.lastError == "timeout" && first?.lastSuccessAt != nil)
        let second = try await shown(after: .error, .answered)
        #expect(second?.lastError == nil && second?.lastSuccessAt != nil)
    }

    @Test func `who waits in line is bounded in number and in bytes, of one endpoint and of all`() {
        let now = ContinuousClock.now
        var lines = InterceptionLines(places: 1, longest: (count: 3, bytes: 100), mostWaiting: 150)
        let keys = ["e-1", "e-2"].map { InterceptionKey(.sample(EndpointID(trusted: $0)), in: "acme") }
        func waits(_ key: InterceptionKey, _ size: Int) -> Bool {
            if case .inLine = lines.enter(key, size: size, at: now) { true } else { false }
        }
        for key in keys { #expect(!waits(key, 1_000), "the first one has the place") }
        #expect(waits(keys[0], 60) && !waits(keys[0], 50) && waits(keys[0], 20) && waits(keys[0], 20))
        #expect(!waits(keys[0], 0), "three wait")
        #expect(!waits(keys[1], 60) && waits(keys[1], 50), "150 in all")
        _ = lines.leave(keys[0], isProbe: false, isFailure: false, at: now)
        #expect(waits(keys[1], 40), "one of 60 has the place now")
    }

    @Test func `that others had all connections is no fault of the endpoint`() {
        let failure = EndpointAnswer.Failure(reason: "too many requests waiting", isBusy: true)
        let answer = EndpointAnswer(.failure(failure), time: .zero)
        let verdict = Verdict(answer, of: "e-1", onFailure: .drop, content: nil)
        #expect(verdict.report.outcome == .busy)
        #expect(verdict.report.action == .drop)
        #expect(verdict.report.outcome.isFailure == nil)
    }
}
