import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    /// What callers are told while the database's server is there and does nothing (API section 1).
    @Suite struct FrozenDatabaseTests {
        /// The deadline of 5 s with room for a slow machine, and less than the 15 s that a statement may take.
        private static let patience = Duration.seconds(14)

        private let scratch = Scratch()

        @Test func `a write ends at the deadline and says what is known of it, and repeating it shows the truth`()
            async throws
        {
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            try await network.send(.PUT, "/templates/message.sent/en", ["title": "%2s", "body": "%1s"])
            try await network.send(.PUT, "/notifications", ["enabled": true])
            let server = try #require(PostmasterFile(dataDirectory: scratch.path("data")))

            defer { server.thawAll() }
            var (removal, took) = ("", Self.patience)
            // On a busy machine once more. Who calls is asked of the database again two seconds later: where the freeze came
            // after that, nothing was sent. And what always takes too long does not end at the deadline.
            for _ in 0..<5 where removal != "unknown" || took >= Self.patience {
                _ = try await answered { try await call(.GET, "/notifications", in: network) }
                (removal, took) = try await callFrozen(server, network)
                server.thawAll()
            }
            #expect(removal == "unknown")
            #expect(took < Self.patience)

            let first = try await answered {
                try await call(.POST, "/api-keys", ["role": "events"], key: "k", in: network)
            }
            let second = try await answered {
                try await call(.POST, "/api-keys", ["role": "events"], key: "k", in: network)
            }
            #expect(first.status == 201)
            #expect(second.text == first.text)
            let keys = try await network.send(.GET, "/api-keys")["items"]?.elements ?? []
            #expect(keys.count { $0["role"]?.text == "events" } == 1)
            #expect(try await network.send(.GET, "/notifications")["enabled"] == true)
            try await network.send(.DELETE, "/templates/message.sent/en", expecting: [204, 404])
            let template = try await network.send(.GET, "/templates/message.sent/en")
            #expect(template["origin"] == "builtIn")
            #expect(try await service.stop() == 0)
        }

        @Test func `who asks whether it is ready is told that it is not, within the deadline of any request`()
            async throws
        {
            let service = try await RunningService.start(in: scratch)
            let server = try #require(PostmasterFile(dataDirectory: scratch.path("data")))
            defer { server.thawAll() }
            try await eventually("it is ready") { try await health(service).status == 200 }
            var took = Self.patience
            for _ in 0..<5 where took >= Self.patience {
                server.freezeAll()
                let start = ContinuousClock.now
                let answer = try await health(service)
                took = ContinuousClock.now - start
                #expect(answer.status == 503, "\(answer.text)")
                server.thawAll()
            }
            #expect(took < Self.patience)
            try await eventually("it is ready again") { try await health(service).status == 200 }
            #expect(try await service.stop() == 0)
        }

        private func health(_ service: RunningService) async throws -> TestClient.Answer {
            try await service.management.send(.GET, "/health/ready")
        }

        /// Changes things while the server is frozen; answers what is known of a statement that is no transaction, and how long
        /// all took.
        private func callFrozen(
            _ server: PostmasterFile,
            _ network: TestNetwork
        ) async throws -> (outcome: String, took: Duration) {
            server.freezeAll()
            let start = ContinuousClock.now
            // A statement of its own, and a transaction that is never committed.
            async let removal = call(.DELETE, "/templates/message.sent/en", in: network)
            async let change = call(.PUT, "/notifications", ["enabled": false], in: network)
            async let creation = call(.POST, "/api-keys", ["role": "events"], key: "k", in: network)
            let (removed, changed, created) = try await (removal, change, creation)
            let took = ContinuousClock.now - start
            for answer in [removed, changed, created] {
                #expect(answer.status == 503, "\(answer.text)")
                #expect(answer.headers.first(name: "retry-after") != nil)
            }
            #expect(changed.json["outcome"]?.text == "nothing changed")
            #expect(created.json["outcome"]?.text == "nothing changed")
            return (removed.json["outcome"]?.text ?? "none", took)
        }

        private func call(
            _ method: HTTPMethod,
            _ path: String,
            _ body: JSONValue? = nil,
            key: String? = nil,
            in network: TestNetwork
        ) async throws -> TestClient.Answer {
            try await network.client.send(
                method,
                "/v1/networks/\(network.id)\(path)",
                token: network.adminKey,
                headers: key.map { ["idempotency-key": $0] } ?? [:],
                body: body?.serialized
            )
        }

        /// The first answer that the database had a part in.
        private func answered(_ call: () async throws -> TestClient.Answer) async throws -> TestClient.Answer {
            try await eventually("an answer of the thawed server") {
                let answer = try await call()
                return answer.status == 503 ? nil : answer
            }
        }
    }
}
