import CarillonCore
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Crashes {
    /// Two services on one PostgreSQL.
    @Suite struct ReplicaCrashTests {
        private static let members = ["bob", "carol", "dave"]

        private let scratch: Scratch
        private let server: DatabaseServer

        init() throws {
            scratch = try Scratch()
            server = DatabaseServer(in: scratch)
        }

        /// Promises P1, P2 and P6: what the killed one had leased the other claims when the leases run out.
        @Test func `nothing acknowledged is lost when one of two services is killed`() async throws {
            try await withReplicas { first, second, network in
                let load = Load()
                let burst = try await load.run(on: [network, network.on(second)]) {
                    try await eventually("load") { load.acknowledged.count > 200 }
                    let events = (0..<500).map { TestEvents.messageSent("burst-\($0)") }
                    let burst = try await network.accept(events)
                    first.program.send(SIGKILL)
                    let before = load.acknowledged.count
                    try await eventually("load on the other") { load.acknowledged.count > before + 100 }
                    return burst
                }
                #expect(try await first.program.exitStatus() == -SIGKILL)
                let acknowledged = load.acknowledged.union(burst)
                try await expectTerminalStates(of: acknowledged, from: [first, second], on: network.on(second))
                print(
                    """
                    kill -9 of one of two services: \(acknowledged.count) events acknowledged, 0 lost, \
                    \(duplicates(from: [first, second])) duplicated
                    """
                )
                #expect(try await second.stop() == 0)
            }
        }

        /// Promises P1, P2 and P6: both go on by themselves.
        @Test func `nothing acknowledged is lost when the PostgreSQL of two services is killed`() async throws {
            try await withReplicas { first, second, network in
                let load = Load()
                try await load.run(on: [network, network.on(second)]) {
                    try await eventually("load") { load.acknowledged.count > 200 }
                    try await server.kill()
                    try await server.start()
                    let before = load.acknowledged.count
                    try await eventually("load after the restart") { load.acknowledged.count > before + 100 }
                }
                #expect(first.program.isRunning)
                #expect(second.program.isRunning)
                try await expectTerminalStates(of: load.acknowledged, from: [first, second], on: network)
                print(
                    """
                    kill -9 of the PostgreSQL of two services: \(load.acknowledged.count) events acknowledged, 0 lost, \
                    \(duplicates(from: [first, second])) duplicated
                    """
                )
                #expect(try await first.stop() == 0)
                #expect(try await second.stop() == 0)
            }
        }

        /// Waits until everything was delivered to everybody, and is known to be.
        private func expectTerminalStates(
            of events: Set<String>,
            from services: [RunningService],
            on network: TestNetwork
        ) async throws {
            try await expectDelivery(of: events, to: Self.members, from: services, within: Crashes.patience)
            for id in events {
                let state = try await network.done(id, within: Crashes.patience)
                #expect(state["deliveries"]?["delivered"]?.integer == Self.members.count)
            }
        }

        private func withReplicas(
            _ body: (RunningService, RunningService, TestNetwork) async throws -> Void
        ) async throws {
            do {
                try await server.start()
                try await server.migrate()
                let first = try await RunningService.start(in: scratch, environment: server.environment)
                let second = try await RunningService.start(in: scratch, environment: server.environment)
                let network = try await TestNetwork(on: first)
                try await network.addMembers(Self.members)
                try await body(first, second, network)
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        }
    }
}
