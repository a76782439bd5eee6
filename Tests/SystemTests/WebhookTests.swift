import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    @Suite struct WebhookTests {
        private let scratch = Scratch()

        @Test
        func `a receiver that is busy gets it again, the same and signed; one that is gone does not`() async throws {
            let receiver = WebhookReceiver(answering: [503, 200, 410])
            try await receiver.whileRunning { url in
                let service = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: service)
                let secret = try await network.send(.POST, "/providers/webhook/secret")["secret"]?.text
                let device: JSONValue = ["userId": "bob", "provider": "webhook", "url": .string(url)]
                try await network.send(.PUT, "/devices/bob-server", device)

                let first = try await network.accept(TestEvents.channelCreated("first", members: ["bob"]))
                let state = try await network.done(first)
                #expect(state["deliveries"]?["delivered"]?.integer == 1)
                let attempts = receiver.requests
                try #require(attempts.count == 2)
                #expect(attempts[0].id == attempts[1].id)
                #expect(attempts[0].body == attempts[1].body)
                for attempt in attempts { #expect(attempt.isSigned(with: try #require(secret))) }
                #expect(attempts[1].at - attempts[0].at >= .milliseconds(800), "back-off is about 1 s, less 20 %")
                let deliveries = try await network.send(.GET, "/events/\(first)/deliveries")["items"]?.elements ?? []
                #expect(deliveries.map { $0["attempts"]?.integer } == [2])

                let second = try await network.accept(TestEvents.messageSent("second"))
                #expect(try await network.done(second)["deliveries"]?["unregistered"]?.integer == 1)
                let shown = try await network.send(.GET, "/devices/bob-server")
                #expect(shown["state"]?.text == "unregistered")

                let third = try await network.accept(TestEvents.messageSent("third"))
                #expect(try await network.done(third)["recipients"]?["noDevice"]?.integer == 1)
                #expect(receiver.requests.count == 3)
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `a private address gets nothing unless it is allowed`() async throws {
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let allowed = ["CARILLON_EGRESS_ALLOW": "10.0.0.0/8"]
                let service = try await RunningService.start(in: scratch, environment: allowed)
                let network = try await TestNetwork(on: service)
                let device: JSONValue = ["userId": "bob", "provider": "webhook", "url": .string(url)]
                try await network.send(.PUT, "/devices/bob-server", device, expecting: [400])
                let event = try await network.accept(TestEvents.channelCreated("first", members: ["bob"]))
                #expect(try await network.done(event)["recipients"]?["noDevice"]?.integer == 1)
                #expect(receiver.requests.isEmpty)
            }
        }
    }
}
