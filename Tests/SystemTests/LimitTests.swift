import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    /// A network at all of its limits and rates, beside one that does its work.
    @Suite struct LimitTests {
        private static let attempts = 200

        @Test func `what one network is refused leaves another as it was`() async throws {
            let scratch = Scratch()
            let service = try await RunningService.start(in: scratch)
            let greedy = try await TestNetwork("greedy", on: service)
            let calm = try await TestNetwork("calm", on: service)
            let settings: JSONValue = [
                "deviceRegistration": "appKey",
                "limits": ["devicesPerUser": 3, "eventsPerSecond": 2, "requestsPerSecond": ["app": 4]],
            ]
            let changed = try await service.call(.PATCH, "/v1/networks/greedy", settings)
            try #require(changed.status == 200, "\(changed.text)")
            let key = try #require(try await greedy.send(.POST, "/api-keys", ["role": "device"])["apiKey"]?.text)
            try await calm.addLogDevice("phone", of: "bob")
            _ = try await calm.done(try await calm.accept(TestEvents.channelCreated("created", members: ["bob"])))

            async let registrations = register(with: key, at: greedy)
            async let events = post(to: greedy)
            for number in 0..<50 {
                let state = try await calm.done(try await calm.accept(TestEvents.messageSent("sent-\(number)")))
                #expect(state["deliveries"]?["delivered"]?.integer == 1)
            }

            let registered = try await registrations
            #expect(registered.count { $0.status == 201 } == 3)
            #expect(Set(registered.map(\.status)) == [201, 409, 429])
            #expect(registered.allSatisfy { $0.status != 409 || $0.json["detail"]?.text == "devicesPerUser is 3" })
            let posted = try await events
            #expect(Set(posted.map(\.status)) == [202, 429])
            for refused in registered + posted where refused.status == 429 {
                #expect((refused.headers.first(name: "retry-after").flatMap(Int.init) ?? 0) > 0)
            }
            #expect(try await service.stop() == 0)
        }

        /// Registers far more phones than the user may have, faster than the app may.
        private func register(with key: String, at network: TestNetwork) async throws -> [TestClient.Answer] {
            var answers: [TestClient.Answer] = []
            for number in 0..<Self.attempts {
                let device: JSONValue = [
                    "userId": "eve", "provider": "fcm", "appId": "app", "token": .string("token-\(number)"),
                ]
                answers.append(
                    try await network.client.send(
                        .PUT,
                        "/v1/networks/\(network.id)/devices/d-\(number)",
                        token: key,
                        body: device.serialized
                    )
                )
            }
            return answers
        }

        /// Posts events faster than the network may.
        private func post(to network: TestNetwork) async throws -> [TestClient.Answer] {
            var answers: [TestClient.Answer] = []
            for number in 0..<Self.attempts {
                answers.append(try await network.post(TestEvents.messageSent("flood-\(number)")))
            }
            return answers
        }
    }
}
