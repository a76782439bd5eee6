import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    /// Two services on one database: what is changed at one is true at the other.
    @Suite struct ReplicaTests {
        private func withReplicas(_ body: (RunningService, RunningService) async throws -> Void)
            async throws
        {
            let scratch = Scratch()
            let server = try await DatabaseServer.migrated(in: scratch)
            let one = try await RunningService.start(in: scratch, environment: server.environment)
            let two = try await RunningService.start(in: scratch, environment: server.environment)
            do {
                try await body(one, two)
            } catch {
                await server.stop()
                throw error
            }
            #expect(try await one.stop() == 0)
            #expect(try await two.stop() == 0)
            await server.stop()
        }

        @Test
        func
            `a key or a name made at one works at the other at once, and does not when it is taken back`()
            async throws
        {
            try await withReplicas { one, two in
                let network = try await TestNetwork(on: one)
                try await expectKeys(of: network, at: two)
                try await expectNames(of: network, madeAt: one, at: two)
            }
        }

        @Test
        func `what one answered lately the other shows within two seconds, and what has become of it`() async throws {
            try await withReplicas { one, two in
                let network = try await TestNetwork(on: one)
                try await network.send(.PUT, "/dialects/amity", ["secrets": ["s"]])
                let body: JSONValue = [
                    "event": "message.didCreate",
                    "data": [
                        "messages": [
                            [
                                "messageId": "m-1", "channelId": "nowhere", "userId": "alice", "type": "text",
                                "data": ["text": "Hello"],
                            ]
                        ]
                    ],
                ]
                try await network.send(.POST, "/events/amity", body)
                let event = try await eventually("the event") {
                    try await network.send(.GET, "/events")["items"]?.elements.first?["id"]?.text
                }
                #expect(try await network.on(two).done(event)["why"]?.text == "the channel is unknown")
                let path = "/v1/networks/\(network.id)/events/amity"
                let refused = try await one.open.send(.POST, path, body: body.serialized)
                #expect(refused.status == 401)
                try await eventually(within: .seconds(2), "both entries") {
                    let recent = try await network.on(two).send(.GET, "/dialects/amity/recent")
                    return recent["items"]?.elements.compactMap { $0["verdict"]?.text } == ["refused", "accepted"]
                }
                for service in [one, two] {
                    let recent = try await network.on(service).send(.GET, "/dialects/amity/recent")
                    let accepted = try #require(recent["items"]?.elements.last)
                    #expect(accepted["eventId"]?.text == event && accepted["reason"]?.text == "no members are known")
                }
            }
        }

        private func expectKeys(of network: TestNetwork, at two: RunningService) async throws {
            var delays: [Duration] = []
            // The other one knows the network's keys by now, without the new ones.
            for _ in 0..<5 {
                try await network.on(two).send(.GET, "/api-keys")
                let made = try await network.send(.POST, "/api-keys", ["role": "admin"])
                let key = try #require(made["apiKey"]?.text)
                let answer = try await two.open.send(.GET, "/v1/networks/acme/users/bob", token: key)
                #expect(answer.status == 404)
                let id = try #require(made["id"]?.text)
                try await network.send(.DELETE, "/api-keys/\(id)")
                let revoked = ContinuousClock.now
                try await eventually("the refusal") {
                    try await two.open.send(.GET, "/v1/networks/acme/users/bob", token: key).status == 401
                }
                delays.append(ContinuousClock.now - revoked)
            }
            // Without an announcement each takes the two seconds that credentials are remembered.
            let quickest = try #require(delays.min())
            #expect(quickest < .seconds(1), "\(delays)")
        }

        /// What a homeserver sends for an app that was bound at the one is taken by the other.
        private func expectNames(
            of network: TestNetwork,
            madeAt one: RunningService,
            at two: RunningService
        ) async throws {
            var delays: [Duration] = []
            for number in 0..<3 {
                let app = "com.example.app\(number)"
                let path = "/v1/networks/\(network.id)/faces/matrix/\(app)"
                let notification: JSONValue = [
                    "notification": ["event_id": "$1", "devices": [["app_id": .string(app), "pushkey": "k"]]]
                ]
                func status() async throws -> UInt {
                    let body = notification.serialized
                    return try await two.open.send(.POST, "/_matrix/push/v1/notify", body: body).status
                }
                #expect(try await status() == 404)
                for (method, body, expected) in [
                    (.PUT, ["provider": "fcm"], 200), (.DELETE, nil, 404),
                ] as [(HTTPMethod, JSONValue?, UInt)] {
                    let answer = try await one.call(method, path, body)
                    try #require([201, 204].contains(answer.status), "\(answer.text)")
                    let changed = ContinuousClock.now
                    try await eventually("\(expected)") { try await status() == expected }
                    delays.append(ContinuousClock.now - changed)
                }
            }
            let quickest = try #require(delays.min())
            #expect(quickest < .seconds(1), "\(delays)")
        }
    }
}
