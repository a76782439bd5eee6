import CarillonCore
import Foundation
import Testing

extension Services.Neighbours {
    /// Networks whose deliveries get nowhere, or of which there are too many.
    @Suite struct SendingTests {
        private let scratch = Scratch()

        /// Hosts that take connections and never answer, and as many paths on the very host of the innocent network.
        @Test(arguments: [(hosts: 800, urls: 1), (hosts: 1, urls: 250)])
        func `webhooks that are never answered delay nobody else's`(hosts count: Int, urls: Int) async throws {
            try Descriptors.allow(4_000)
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch)
                let innocent = try await Innocent(on: service, hosts: hosts, port: port)
                let quiet = try await innocent.notice("quiet")
                let network = try await TestNetwork("silent", on: service)
                let devices = (0..<count).flatMap { host in
                    (0..<urls).map { number -> JSONValue in
                        let address = count == 1 ? "127.0.0.1" : "127.1.\(host / 250).\(1 + host % 250)"
                        return ["provider": "webhook", "url": .string("http://\(address):\(port)/silent/\(number)")]
                    }
                }
                try await network.importUser("mallory", devices: devices)
                let loaded = try await beside {
                    for number in 0... {
                        _ = try await network.post(TestEvents.messageSent("silent-\(number)"))
                        try await Task.sleep(for: .seconds(1))
                    }
                } _: {
                    try await Task.sleep(for: .seconds(1))
                    return try await innocent.notice("loaded", count: 50)
                }
                try expectUndisturbed(beside: "\(count) silent hosts with \(urls) URLs", loaded, quiet: quiet)
                service.program.kill()
            }
        }

        /// Lanes without a credential wait; what has to be claimed beside them is.
        @Test func `lanes that wait delay no other's second attempts`() async throws {
            let lanes = 8_000
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch)
                let innocent = try await Innocent(on: service, hosts: hosts, port: port, path: "second")
                let quiet = try await innocent.notice("quiet")
                let network = try await TestNetwork("apps", on: service)
                let devices = (0..<lanes).map { number -> JSONValue in
                    ["provider": "fcm", "appId": .string("app-\(number)"), "token": .string("token-\(number)")]
                }
                try await network.importUser("mallory", devices: devices)
                let event = try await network.accept(TestEvents.messageSent("apps"))
                try await eventually(within: .seconds(180), "groups that wait") {
                    try await network.count("pending", of: event) == lanes
                }
                let loaded = try await innocent.notice("loaded", count: 50)
                try expectUndisturbed(beside: "\(lanes) lanes that wait", loaded, quiet: quiet)
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `a flood of events delays others little`() async throws {
            try await WebhookHosts.whileListening { hosts, port in
                let service = try await RunningService.start(in: scratch)
                let innocent = try await Innocent(on: service, hosts: hosts, port: port)
                let quiet = try await innocent.notice("quiet")
                let network = try await TestNetwork("flood", on: service)
                try await network.addMembers((0..<20).map { "member-\($0)" })
                let load = Load()
                let loaded = try await load.run(on: network, connections: 32) {
                    try await eventually("load") { load.acknowledged.count > 100 }
                    return try await innocent.notice("loaded", count: 50)
                }
                try expectUndisturbed(beside: "a flood", loaded, quiet: quiet)
                service.program.kill()
            }
        }
    }
}
