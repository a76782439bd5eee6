import CarillonCore
import Testing

extension Services.Neighbours {
    /// Endpoints that hang.
    @Suite struct EndpointTests {
        @Test func `endpoints that never answer delay nobody else's notifications`() async throws {
            let scratch = Scratch()
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch)
                let innocent = try await Innocent(on: service, hosts: hosts, port: port)
                let quiet = try await innocent.notice("quiet")
                let network = try await TestNetwork("silent", on: service)
                var endpoints: [TestEndpoint] = []
                for number in 0..<16 {
                    endpoints.append(try await network.addEndpoint("http://127.0.0.1:\(port)/silent/\(number)"))
                }
                let loaded = try await beside {
                    for number in 0... {
                        let events = (0..<20).map { TestEvents.messageSent("silent-\(number)-\($0)") }
                        _ = try await network.accept(events)
                        try await Task.sleep(for: .milliseconds(200))
                    }
                } _: {
                    for endpoint in endpoints {
                        try await eventually("messages that wait") {
                            try await !network.told(endpoint, "?state=pending&limit=1").isEmpty
                        }
                    }
                    return try await innocent.notice("loaded", count: 50)
                }
                try expectUndisturbed(beside: "16 endpoints that never answer", loaded, quiet: quiet)
                service.program.kill()
            }
        }
    }
}

extension Services.Neighbours {
    /// Strangers who take connections.
    @Suite struct ConnectionTests {
        private static let connections = 400

        /// Many more connections than there are descriptors: those there are places for are answered, and the service lives.
        @Test(arguments: Strangers.Manner.allCases)
        func `connections of strangers do not keep others out`(manner: Strangers.Manner) async throws {
            let scratch = Scratch()
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch, prelude: "ulimit -n 256")
                let innocent = try await Innocent(on: service, hosts: hosts, port: port, keepsConnections: false)
                let quiet = try await innocent.notice("quiet")
                let strangers = Strangers(Self.connections, manner, port: service.publicPort)
                let loaded = try await beside({ try await strangers.run() }) {
                    try await eventually("connections") { strangers.tried >= Self.connections }
                    return try await innocent.notice("loaded", count: 50)
                }
                try expectUndisturbed(beside: "\(manner) connections", loaded, quiet: quiet)
                #expect(try await service.stop() == 0)
            }
        }
    }
}
