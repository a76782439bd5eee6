import CarillonCore
import CarillonTesting
import CarillonWebhooks
import Metrics
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

/// Sources over real connections.
@Suite(.stores, .timeLimit(.minutes(1))) struct PollerWireTests {
    /// Has no room for anything.
    private struct NoEntrance: Entrance {
        func reserve(_ items: [PendingEvent]) -> [Bool] { items.map { _ in false } }
        func cancel(_ items: [PendingEvent]) {}
        func submit(_ items: [PendingEvent]) async {}
    }

    private let store = StoreScene.here

    private func poller() throws -> Poller {
        let metrics = NOOPMetricsHandler.instance
        let transport = try OutboundHTTPClient.test(policy: EndpointClient.policy(connections: 4))
        var limits = Poller.Limits()
        limits.interval = .milliseconds(10)
        return Poller(
            queue: store.polls,
            caller: EndpointClient(transport: transport, version: "1"),
            ingestor: Ingestor(
                inbox: store.inbox,
                fanout: NoEntrance(),
                ids: UUIDv7Generator(),
                clock: .system,
                metrics: PipelineMetrics(factory: metrics)
            ),
            network: { [store] network in try await store.accounts.network(network) },
            limits: limits,
            ids: UUIDv7Generator(),
            clock: .system,
            egress: .unrestricted,
            metrics: PollMetrics(factory: metrics),
            watch: QueueWatch(factory: metrics, logger: TestDatabase.logger),
            logger: TestDatabase.logger
        )
    }

    private static func page(_ id: String, cursor: String) -> String {
        let body = #"{"items":[{"id":"\#(id)","to":{"userIds":["u"]},"body":"x"}],"cursor":"\#(cursor)","more":true}"#
        return "HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test
    func `at the end what is being asked is still heard and stored, and no further page is asked for`() async throws {
        let answered = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let secret = WebhookSecret.generate()
        try await ScriptedServer.answering { request in
            request.head.uri == "/feed?x=1"
                ? .text(Self.page("first", cursor: "a b"))
                : .textAfter(answered.futureResult, Self.page("second", cursor: "c"))
        } during: { server, port in
            let settings = SourceSettings(url: "http://127.0.0.1:\(port)/feed?x=1", interval: 3)
            _ = try await store.sources.putSource("crm", settings, secret: secret, of: "acme")
            let group = ServiceGroup(
                services: [Ending(service: try poller()) { answered.succeed() }],
                logger: TestDatabase.logger
            )
            async let running: Void = group.run()
            _ = await server.nextRequest()
            _ = await server.nextRequest()
            await group.triggerGracefulShutdown()
            try await running
            #expect(server.requests.map(\.head.uri) == ["/feed?x=1", "/feed?x=1&cursor=a%20b"])
            for request in server.requests {
                let headers = request.head.headers
                #expect(request.head.method == .GET && request.body.isEmpty)
                #expect(!headers.contains(name: "content-type") && headers.first(name: "accept") == "application/json")
                try Webhook(secret.signing).verify(
                    [UInt8](),
                    id: headers.first(name: "webhook-id"),
                    timestamp: headers.first(name: "webhook-timestamp"),
                    signature: headers.first(name: "webhook-signature")
                )
            }
            let source = try #require(try await store.sources.sources(of: "acme").first)
            #expect(source.cursor == "c" && source.failures == 0 && source.lastError == nil)
            let events = try await store.inbox.claimEvents(limit: 9, excluding: [])
            #expect(events.map(\.event.sourceID).sorted() == ["first", "second"])
        }
    }
}

/// Says that a service has been told to end, which a group does some time after it was asked to.
private struct Ending: Service {
    let service: any Service
    let isTold: @Sendable () -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await service.run()
        } onGracefulShutdown: {
            isTold()
        }
    }
}
