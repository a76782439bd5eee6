import CarillonCore
import EmbeddedPostgres
import Foundation
import Logging
import NIOHTTP1
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Services {
    /// What was acknowledged survives orderly and disorderly endings, of the service and of PostgreSQL.
    @Suite struct DurabilityTests {
        private static let members = ["bob", "carol", "dave"]

        private let scratch: Scratch

        init() throws {
            scratch = try Scratch()
        }

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
            try await expectAll(load.acknowledged, of: network.on(second), from: [first, second], within: .seconds(30))
            #expect(duplicates(from: [first, second]) == 0)
            #expect(try await second.stop() == 0)
        }

        @Test(arguments: [SIGINT, SIGQUIT])
        func `a restart of PostgreSQL under load is survived without one of Carillon`(signal: Int32) async throws {
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            try await network.addMembers(Self.members)
            let load = Load()
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
            // What was in flight may have to wait until its lease runs out.
            try await expectAll(load.acknowledged, of: network, from: [service], within: .seconds(95))
            #expect(try await service.stop() == 0)
        }

        private func expectAll(
            _ events: Set<String>,
            of network: TestNetwork,
            from services: [RunningService],
            within limit: Duration
        ) async throws {
            try await expectDelivery(of: events, to: Self.members, from: services, within: limit)
            for id in events.prefix(3) { _ = try await network.done(id) }
        }
    }
}

extension TestNetwork {
    /// Makes a channel with these members, each with a device of the `log` provider.
    func addMembers(_ members: [String]) async throws {
        for member in members { try await addLogDevice("\(member)-device", of: member) }
        _ = try await done(try await accept(TestEvents.channelCreated("channel", members: members)))
    }
}

/// Waits until every event was written for every member, by whichever of the processes.
func expectDelivery(
    of events: Set<String>,
    to members: [String],
    from services: [RunningService],
    within limit: Duration
) async throws {
    let expected = Set(events.flatMap { event in members.map { "\(event) \($0)-device" } })
    try await eventually(within: limit, "delivery of all \(events.count) acknowledged events") {
        let delivered = Set(services.flatMap(\.logLines).map { "\($0.eventID) \($0.deviceID)" })
        return expected.isSubset(of: delivered)
    }
}

/// How many lines were written more than once.
func duplicates(from services: [RunningService]) -> Int {
    let lines = services.flatMap(\.logLines)
    return lines.count - Set(lines).count
}
