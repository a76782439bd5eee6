import CarillonCore
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Crashes {
    @Suite struct CrashTests {
        private static let members = ["bob", "carol", "dave"]

        /// Promises P1, P2, P3 and P6: what a killed process had leased is claimed when its leases run out.
        @Test func `nothing acknowledged is lost when service and PostgreSQL are killed`() async throws {
            let scratch = try Scratch()
            let first = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: first)
            try await network.addMembers(Self.members)
            let load = Load()
            try await load.run(on: network) {
                try await eventually("load") { load.acknowledged.count > 300 }
                let server = try #require(PostmasterFile(dataDirectory: scratch.path("data")))
                first.program.send(SIGKILL)
                server.killAll()
            }
            let acknowledged = load.acknowledged
            #expect(try await first.program.exitStatus() == -SIGKILL)
            let deliveredBefore = Set(first.logLines).count

            let second = try await RunningService.start(in: scratch)
            try await expectDelivery(of: acknowledged, to: Self.members, from: [first, second], within: .seconds(100))
            let count = duplicates(from: [first, second])
            print(
                """
                kill -9 of service and PostgreSQL: \(acknowledged.count) events acknowledged, \
                \(acknowledged.count * Self.members.count) notifications delivered (\(deliveredBefore) lines before), \
                0 lost, \(count) duplicated
                """
            )
            // At most what was written in the last quarter of a second before the end.
            #expect(count <= deliveredBefore)
            for id in acknowledged.prefix(5) {
                let state = try await network.on(second).done(id)
                #expect(state["deliveries"]?["delivered"]?.integer == Self.members.count)
            }
            #expect(try await second.stop() == 0)
        }
    }
}
