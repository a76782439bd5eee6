import CarillonTesting
import Foundation
import Logging
import Metrics
import Testing

@testable import CarillonCore

@Suite struct InterceptorTests {
    private struct Unreadable: Error {}

    private func verdict(
        secrets: @escaping @Sendable (EndpointID, NetworkID) async throws -> [WebhookSecret],
        caller: ScriptedCaller
    ) async throws -> Verdict? {
        let terms = EndpointRole.Interception(onFailure: .drop)
        let interceptor = Interceptor(
            caller: caller,
            secrets: secrets,
            inbox: MemoryStore(),
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
        let verdict = try await verdict(secrets: { _, _ in throw Unreadable() }, caller: caller)
        #expect(verdict?.report.outcome == .error)
        #expect(verdict?.report.action == .drop)
        #expect(caller.calls.isEmpty)
    }

    @Test func `an endpoint that has just been removed has no say`() async throws {
        let caller = ScriptedCaller(answering: #"{"action":"drop"}"#)
        let verdict = try await verdict(secrets: { _, _ in [] }, caller: caller)
        #expect(verdict?.report.action == .deliver)
        #expect(caller.calls.isEmpty)
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
