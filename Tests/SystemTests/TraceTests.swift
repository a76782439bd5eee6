import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    /// Traces of senders (W3C Trace Context), with a real receiver and a restart.
    @Suite struct TraceTests {
        private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"

        @Test func `what webhooks and endpoints get is of the sender's trace, over retries and a restart`() async throws
        {
            let scratch = Scratch()
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let debug = ["CARILLON_LOG_LEVEL": "debug"]
                let first = try await RunningService.start(in: scratch, environment: debug)
                var network = try await TestNetwork(on: first)
                _ = try await network.addEndpoint(url)
                try await scratch.ownServer.beginEndpoints()
                try await network.begin(receiver)
                #expect(receiver.requests.allSatisfy { $0.traceparent.isEmpty }, "those events were of no trace")
                let device: JSONValue = ["userId": "bob", "provider": "webhook", "url": .string(url)]
                try await network.send(.PUT, "/devices/bob-server", device)
                receiver.answers(Array(repeating: 503, count: 1_000))
                let posted = try await network.client.send(
                    .POST,
                    "/v1/networks/acme/events",
                    token: network.adminKey,
                    headers: ["traceparent": "00-\(Self.id)-00f067aa0ba902b7-01"],
                    body: TestEvents.channelCreated("first", members: ["bob"]).serialized
                )
                let event = try #require(posted.json["id"]?.text)
                func traced() -> [WebhookReceiver.Received] { receiver.requests.filter { !$0.traceparent.isEmpty } }
                try await eventually("an attempt of each") { Set(traced().map(\.id)).count == 2 }
                #expect(try await first.stop() == 0)
                #expect(first.program.errorText.contains("trace.id=\(Self.id)"))

                receiver.answers([])
                let second = try await RunningService.start(in: scratch, environment: debug)
                network = network.on(second)
                let state = try await network.done(event)
                #expect(state["traceId"]?.text == Self.id && state["deliveries"]?["delivered"]?.integer == 1)
                try await eventually("another attempt of each") {
                    Dictionary(grouping: traced(), by: \.id).values.allSatisfy { $0.count > 1 }
                }
                let headers = traced().map(\.traceparent)
                for header in headers { #expect(header.hasPrefix("00-\(Self.id)-") && header.hasSuffix("-01")) }
                #expect(Set(headers).count == headers.count && headers.allSatisfy { TraceContext($0) != nil })
                #expect(try await second.stop() == 0)
            }
        }
    }
}
