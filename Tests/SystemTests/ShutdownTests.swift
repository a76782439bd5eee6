import CarillonCore
import Foundation
import Testing

extension Services {
    @Suite struct ShutdownTests {
        private static let members = ["bob", "carol", "dave"]

        private let scratch = Scratch()

        @Test func `SIGTERM under load ends with 0 and loses nothing`() async throws {
            let first = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: first)
            try await network.addMembers(Self.members)
            let load = Load()
            let status = try await load.run(on: network) {
                try await eventually("load") { load.acknowledged.count > 200 }
                return try await first.stop()
            }
            #expect(status == 0, "\(first.program.errorText)")

            let second = try await RunningService.start(in: scratch)
            try await expectDelivery(of: load.acknowledged, to: Self.members, from: [first, second])
            for id in load.acknowledged { _ = try await network.on(second).done(id) }
            #expect(duplicates(from: [first, second]) == 0)
            #expect(try await second.stop() == 0)
        }
    }
}
