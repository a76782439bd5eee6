import CarillonCore
import CarillonSimulator
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

        /// Promises P1, P2 and P6, also for what came through other systems' APIs: what the killed one had leased the other claims
        /// when the leases run out.
        @Test func `nothing acknowledged is lost when one of two services is killed`() async throws {
            try await withReplicas { first, second, network, simulator in
                let load = Load()
                let faces = try await FaceLoad(
                    on: [network, network.on(second)],
                    operatorToken: first.operatorToken,
                    simulator
                )
                let burst = try await load.run(on: [network, network.on(second)]) {
                    try await faces.run {
                        try await eventually("load") { load.acknowledged.count > 200 && faces.taken > 5 }
                        let events = (0..<500).map { TestEvents.messageSent("burst-\($0)") }
                        let burst = try await network.accept(events)
                        first.program.send(SIGKILL)
                        let (before, taken) = (load.acknowledged.count, faces.taken)
                        try await eventually("load on the other") {
                            load.acknowledged.count > before + 100 && faces.taken > taken + 5
                        }
                        return burst
                    }
                }
                #expect(try await first.program.exitStatus() == -SIGKILL)
                expectWordsOfFaces(faces)
                let acknowledged = load.acknowledged.union(burst)
                try await expectTerminalStates(
                    of: acknowledged,
                    from: [first, second],
                    on: network.on(second)
                )
                try await faces.expectDelivery(by: simulator, within: Crashes.patience)
                print(
                    """
                    kill -9 of one of two services: \(acknowledged.count) events acknowledged, 0 lost, \
                    \(duplicates(from: [first, second])) duplicated
                    """
                )
                #expect(try await second.stop() == 0)
            }
        }

        /// Promises P1, P2 and P6, also for what came through other systems' APIs: both go on by themselves.
        @Test func `nothing acknowledged is lost when the PostgreSQL of two services is killed`()
            async throws
        {
            try await withReplicas { first, second, network, simulator in
                let load = Load()
                let faces = try await FaceLoad(
                    on: [network, network.on(second)],
                    operatorToken: first.operatorToken,
                    simulator
                )
                try await load.run(on: [network, network.on(second)]) {
                    try await faces.run {
                        try await eventually("load") { load.acknowledged.count > 200 && faces.taken > 5 }
                        try await server.kill()
                        try await eventually("refusals of both") {
                            Set(faces.refusals.map(\.face)) == ["matrix", "imfpush"]
                        }
                        try await server.start()
                        let (before, taken) = (load.acknowledged.count, faces.taken)
                        try await eventually("load after the restart") {
                            load.acknowledged.count > before + 100 && faces.taken > taken + 5
                        }
                    }
                }
                expectWordsOfFaces(faces)
                #expect(first.program.isRunning)
                #expect(second.program.isRunning)
                try await expectTerminalStates(of: load.acknowledged, from: [first, second], on: network)
                try await faces.expectDelivery(by: simulator, within: Crashes.patience)
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

        /// Whatever was not taken was answered as its sender expects it, and in a way that has it sent again.
        private func expectWordsOfFaces(_ faces: FaceLoad) {
            let codes = ["matrix": ["M_UNKNOWN"], "imfpush": ["FPWSE0010E", "FPWSE0025E"]]
            for refusal in faces.refusals {
                #expect(refusal.status >= 500, "\(refusal)")
                #expect(codes[refusal.face]?.contains(refusal.code ?? "") == true, "\(refusal)")
            }
        }

        /// Waits until everything was delivered to everybody, and is known to be.
        private func expectTerminalStates(
            of events: Set<String>,
            from services: [RunningService],
            on network: TestNetwork
        ) async throws {
            try await expectDelivery(
                of: events,
                to: Self.members,
                from: services,
                within: Crashes.patience
            )
            for id in events {
                let state = try await network.done(id, within: Crashes.patience)
                #expect(state["deliveries"]?["delivered"]?.integer == Self.members.count)
            }
        }

        private func withReplicas(
            _ body: (RunningService, RunningService, TestNetwork, Simulator) async throws -> Void
        ) async throws {
            do {
                try await server.start()
                try await server.migrate()
                try await withSimulator { simulator in
                    let environment = server.environment.merging(simulator.environment) { own, _ in own }
                    let first = try await RunningService.start(in: scratch, environment: environment)
                    let second = try await RunningService.start(in: scratch, environment: environment)
                    let network = try await TestNetwork(on: first)
                    try await network.addMembers(Self.members)
                    try await body(first, second, network, simulator)
                }
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        }
    }
}
