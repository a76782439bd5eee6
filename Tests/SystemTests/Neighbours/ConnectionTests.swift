import Testing

extension Services.Neighbours {
    /// Strangers who take connections.
    @Suite struct ConnectionTests {
        private static let connections = 400

        /// Many more connections than there are descriptors: those there are places for are answered, and the service lives.
        @Test(arguments: Strangers.Manner.allCases)
        func `connections of strangers do not keep others out`(manner: Strangers.Manner) async throws {
            let scratch = try Scratch()
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch, prelude: "ulimit -n 256")
                let innocent = try await Innocent(on: service, hosts: hosts, port: port, keepsConnections: false)
                let quiet = try await innocent.notice("quiet")
                let strangers = Strangers(Self.connections, manner, port: service.publicPort)
                let loaded = try await beside {
                    try await strangers.run()
                } _: {
                    try await eventually("connections") { strangers.tried >= Self.connections }
                    return try await innocent.notice("loaded", count: 50)
                }
                try expectUndisturbed(beside: "\(manner) connections", loaded, quiet: quiet)
                #expect(try await service.stop() == 0)
            }
        }
    }
}
