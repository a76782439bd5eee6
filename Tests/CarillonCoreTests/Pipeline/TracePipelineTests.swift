import CarillonTesting
import Logging
import Synchronization
import Testing

@testable import CarillonCore

/// Traces, through the whole pipeline.
@Suite(.timeLimit(.minutes(1))) struct TracePipelineTests {
    private static func trace(_ parent: UInt64 = 1) throws -> TraceContext {
        try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")).next(parent)
    }

    private static func parsed(_ id: String) throws -> ParsedEvent {
        let body = #"{"id":"\#(id)","type":"channel.deleted","data":{"channel":{"id":"c"}}}"#
        let read = try EventParser(clock: .system).parse(body: Array(body.utf8), fallbackSourceID: nil)
        guard case .single(let event) = read else { throw StoreAway() }
        return event
    }

    @Test func `what a traced request posts is of its trace, from acceptance to each attempt`() async throws {
        let trace = try Self.trace()
        let provider = TraceRecorder()
        try await PipelineScene.run(members: 2, providers: [provider], settleInterval: .milliseconds(20)) { scene in
            let traced = try await TraceContext.$current.withValue(trace) { try await scene.post() }
            let other = try await scene.post()
            #expect(try await scene.finished(traced).trace == trace)
            #expect(try await scene.finished(other).trace == nil)
            #expect(provider.traces(of: traced) == [trace, trace], "the first attempt fails, and is made again")
            #expect(provider.traces(of: other) == [nil, nil])
        }
    }

    @Test func `what an event says of its trace goes before what its request says`() async throws {
        let (own, outer) = (try Self.trace(7), try Self.trace(8))
        try await PipelineScene.run { scene in
            var event = try Self.parsed("own")
            guard case .known(var known) = event.content else { throw StoreAway() }
            known.trace = own
            event.content = .known(known)
            let posted = [event, try Self.parsed("other")]
            let incoming = try await TraceContext.$current.withValue(outer) {
                try await scene.ingestor.incoming(posted, for: scene.network)
            }
            #expect(incoming.map(\.event.trace) == [own, outer])
            let alone = try await scene.ingestor.incoming(posted, for: scene.network)
            #expect(alone.map(\.event.trace) == [own, nil])
        }
    }

    @Test(.stores)
    func `the log says of traced events when they are expanded and settled, and of others nothing`() async throws {
        let log = CollectedLog()
        let trace = try Self.trace()
        let scene = try PipelineScene(store: .here, settleInterval: .milliseconds(20), logger: log.logger(from: .debug))
        try await scene.populate(members: 2)
        try await scene.whileRunning {
            _ = try await scene.finished(try await scene.post())
            let traced = try await TraceContext.$current.withValue(trace) { try await scene.post() }
            _ = try await scene.finished(traced)
            let lines = try await eventually {
                let lines = log.lines("Deliveries were settled")
                return lines.isEmpty ? nil : lines
            }
            for line in log.lines("A page of an event was expanded") + lines {
                #expect(line["trace.id"] == trace.traceID && line["event"] == traced.description)
                #expect(line["network"] == "acme")
            }
            #expect(log.lines("A page of an event was expanded").count == 1)
            #expect(lines.compactMap { $0["devices.delivered"].flatMap { Int($0) } }.reduce(0, +) == 2)
        }
    }

    @Test(.stores) func `the log says of which trace an event is that cannot be expanded`() async throws {
        let log = CollectedLog()
        let recipients = FailingRecipients(StoreScene.here.recipients)
        let scene = try PipelineScene(store: .here, recipients: recipients, logger: log.logger(from: .debug))
        try await scene.populate(members: 1)
        let trace = try Self.trace()
        try await scene.whileRunning {
            let traced = try await TraceContext.$current.withValue(trace) { try await scene.post() }
            let line = try await eventually { log.lines("Expanding events again").first }
            #expect(line["trace.id"] == trace.traceID && line["event"] == traced.description)
            #expect(line["error"] == "StoreAway()")
            recipients.recover()
            _ = try await scene.finished(traced)
        }
    }
}

/// Fails the first time, and remembers of which traces groups were.
private final class TraceRecorder: Provider {
    let name = ProviderName.log
    let deadline = Duration.seconds(5)
    private let taken = Mutex<[(event: EventID, trace: TraceContext?)]>([])

    func traces(of event: EventID) -> [TraceContext?] {
        taken.withLock { taken in taken.filter { $0.event == event }.map(\.trace) }
    }

    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        taken.withLock { $0.append((group.cause.eventID, group.cause.trace)) }
        for target in group.targets {
            report(target, group.attempt == 0 ? .retry(after: nil, reason: "http 503") : .delivered(id: nil))
        }
    }
}
