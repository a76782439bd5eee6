import CarillonCore
import Foundation
import NIOHTTP1
import Testing

extension Crashes {
    @Suite struct CrashTests {
        private static let members = ["bob", "carol", "dave"]

        private let scratch = Scratch()
        private let load = Load()

        /// Promises P1, P2, P3 and P6: what a killed process had leased is claimed when its leases run out.
        @Test func `nothing acknowledged is lost when service and PostgreSQL are killed`() async throws {
            let first = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: first)
            try await network.addMembers(Self.members)
            let server = try #require(PostmasterFile(dataDirectory: scratch.path("data")))
            let burst = try await load.run(on: network) {
                try await eventually("load") { load.acknowledged.count > 100 }
                let events = (0..<500).map { TestEvents.messageSent("burst-\($0)") }
                let burst = try await network.accept(events)
                first.program.send(SIGKILL)
                server.killAll()
                return burst
            }
            let acknowledged = load.acknowledged.union(burst)
            #expect(try await first.program.exitStatus() == -SIGKILL)
            let deliveredBefore = Set(first.logLines).count

            let second = try await RunningService.start(in: scratch)
            let both = [first, second]
            try await expectDelivery(of: acknowledged, to: Self.members, from: both, within: Crashes.patience)
            let count = duplicates(from: both)
            print(
                """
                kill -9 of service and PostgreSQL: \(acknowledged.count) events acknowledged, \
                \(acknowledged.count * Self.members.count) notifications delivered (\(deliveredBefore) lines before), \
                0 lost, \(count) duplicated
                """
            )
            // Only what had been written but not settled yet can be written again.
            #expect(count <= deliveredBefore)
            for id in acknowledged {
                let state = try await network.on(second).done(id, within: Crashes.patience)
                #expect(state["deliveries"]?["delivered"]?.integer == Self.members.count)
            }
            #expect(try await second.stop() == 0)
        }

        @Test(arguments: [SIGINT, SIGQUIT])
        func `a restart of PostgreSQL under load is survived without one of Carillon`(signal: Int32) async throws {
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            try await network.addMembers(Self.members)
            try await load.run(on: network) {
                try await eventually("load") { load.acknowledged.count > 100 }
                let server = try #require(PostmasterFile(dataDirectory: scratch.path("data")))
                server.send(signal)
                try await eventually("another server") {
                    let current = PostmasterFile(dataDirectory: scratch.path("data"))
                    return current != nil && current != server
                }
                let before = load.acknowledged.count
                try await eventually("load after the restart") { load.acknowledged.count > before + 100 }
            }
            #expect(service.program.isRunning)
            let ready = try await service.management.send(.GET, "/health/ready")
            #expect(ready.status == 200)
            try await expectDelivery(of: load.acknowledged, to: Self.members, from: [service], within: Crashes.patience)
            for id in load.acknowledged { _ = try await network.done(id, within: Crashes.patience) }
            #expect(try await service.stop() == 0)
        }
    }
}
