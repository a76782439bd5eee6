import CarillonCore
import Postgres
import Testing

extension Services {
    /// What an endpoint is told whose circuit opens again and again, in cycles: a pause, a message that finds out that it
    /// works, and others until ten in a row fail.
    @Suite struct RelayProgressTests {
        /// Posted one by one, so that each has a row of its own, and many at a time.
        private static let (single, bundles, perBundle) = (600, 8, 50)
        /// A circuit opens after so many failures.
        private static let mostFailures = 10

        @Test func `an endpoint that fails all once gets it all, within so many cycles`() async throws {
            let scratch = Scratch()
            let server = try await DatabaseServer.migrated(in: scratch)
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch, environment: server.environment)
                let network = try await TestNetwork(on: service)
                _ = try await network.addEndpoint("http://127.0.0.1:\(port)/second")
                try await server.beginEndpoints()
                try await eventually("the endpoint's beginning") {
                    _ = try await network.accept(TestEvents.messageSent("probe-\(UInt64.random(in: .min ... .max))"))
                    return hosts.tries.first > 0
                }
                try await eventually("what it was told until then") { hosts.tries.first == hosts.tries.second }

                let before = hosts.tries
                for number in 0..<Self.single {
                    _ = try await network.accept(TestEvents.messageSent("single-\(number)"))
                }
                for bundle in 0..<Self.bundles {
                    _ = try await network.accept(
                        (0..<Self.perBundle).map { TestEvents.messageSent("bundled-\(bundle)-\($0)") }
                    )
                }
                let messages = Self.single + Self.bundles * Self.perBundle
                var (cycles, last) = (0, before)
                while hosts.tries.second < before.second + messages {
                    try await eventually("the end of cycle \(cycles)") {
                        if hosts.tries.second == before.second + messages { return true }
                        return try await server.isAllPutOff()
                    }
                    let tries = hosts.tries
                    // What was on its way when the circuit opened may come in the next cycle.
                    #expect(cycles == 0 || tries.second > last.second, "cycle \(cycles): \(last) → \(tries)")
                    guard cycles == 0 || tries.second > last.second else { break }
                    (cycles, last) = (cycles + 1, tries)
                    try await server.endPauses(in: network.id)
                }
                print("\(messages) messages, each failed once: \(cycles) cycles")
                #expect(hosts.tries.second == before.second + messages)
                #expect(hosts.tries.first == before.first + messages)
                #expect(hosts.tries.all == before.all + 2 * messages, "each was tried twice")
                #expect(cycles <= messages / Self.mostFailures + 1)
                #expect(try await service.stop() == 0)
            }
            await server.stop()
        }
    }
}

extension DatabaseServer {
    /// Whether a lane is paused, and all that is left waits for the end of that.
    fileprivate func isAllPutOff() async throws -> Bool {
        try await first(
            """
            SELECT EXISTS (SELECT FROM lanes WHERE paused_until > now())
                AND NOT EXISTS (SELECT FROM deliveries d JOIN lanes l ON l.app_id = d.app_id
                                WHERE d.leased OR d.run_at < l.paused_until)
                AND NOT EXISTS (SELECT FROM inbox)
            """,
            as: Bool.self
        ) ?? false
    }

    /// Lets the time pass until a lane's pause is over.
    fileprivate func endPauses(in network: String) async throws {
        try await withSession { session in
            try session.script(
                """
                BEGIN;
                UPDATE deliveries d SET run_at = d.run_at - (l.paused_until - now()) FROM lanes l WHERE l.app_id = d.app_id;
                UPDATE lanes SET paused_until = now();
                COMMIT
                """
            )
            try session.announce("lanes", in: network)
        }
    }
}
