import CarillonCore
import NIOHTTP1
import Postgres
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Crashes {
    /// A large network is deleted while another one is made under its id.
    @Suite struct NetworkDeletionTests {
        private static let users = 150_000

        private let scratch: Scratch
        private let server: DatabaseServer

        init() throws {
            scratch = Scratch()
            server = DatabaseServer(in: scratch)
        }

        @Test
        func `a network that is made again at two services, while the one that deletes it is killed, loses nothing`()
            async throws
        {
            try await server.start()
            do {
                try await server.migrate()
                try await play()
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        }

        private func play() async throws {
            let doomed = try await start()
            let others = [try await start(), try await start()]
            _ = try await TestNetwork(on: doomed)
            try await fill()
            let deletion = Task {
                _ = try? await doomed.call(.DELETE, "/v1/networks/acme")
            }
            try await eventually("a part of the purge") { try await former("members") < Self.users }
            #expect(try await former("users") > 0, "the purge was over before it could be interrupted")
            async let first = make(at: others[0])
            async let second = make(at: others[1])
            doomed.program.send(SIGKILL)
            await deletion.value
            let made = [try await first, try await second].compactMap(\.self)
            let network = try #require(made.first)
            #expect(made.count == 1)
            let load = Load()
            var late: RunningService?
            try await load.run(on: others.map(network.on)) {
                try await eventually("events of the successor") { load.acknowledged.count > 200 }
                // Begins with housekeeping.
                late = try await start()
                let before = load.acknowledged.count
                try await eventually("more events of the successor") { load.acknowledged.count > before + 200 }
            }
            for table in ["users", "members"] { #expect(try await former(table) == 0) }
            let acknowledged = load.acknowledged
            let kept = try await server.all(
                "SELECT event_id::text FROM event_keys WHERE network_id = 'acme'",
                as: String.self
            )
            #expect(acknowledged.subtracting(kept).isEmpty)
            let third = try #require(late)
            for id in acknowledged.prefix(20) { _ = try await network.on(third).done(id) }
            for service in others + [third] { #expect(try await service.stop() == 0) }
        }

        private func start() async throws -> RunningService {
            try await .start(in: scratch, environment: server.environment)
        }

        /// Asks for the network until there is one; `nil` where somebody else's request made it.
        private func make(at service: RunningService) async throws -> TestNetwork? {
            try await eventually("the successor") { () -> TestNetwork?? in
                let answer = try await service.call(.POST, "/v1/networks", ["id": "acme"])
                if answer.status == 201 { return try TestNetwork("acme", madeBy: answer, on: service) }
                #expect(answer.status == 409, "\(answer.text)")
                if answer.json["type"]?.text == "/problems/network-exists" { return .some(nil) }
                #expect(answer.json["type"]?.text == "/problems/being-deleted", "\(answer.text)")
                #expect(answer.headers.first(name: "retry-after") != nil)
                return nil
            }
        }

        private func fill() async throws {
            try await server.withSession { session in
                for columns in [
                    "users (network_id, user_id, facts_at) SELECT 'acme', 'former' || n, 'epoch'",
                    """
                    members (network_id, channel_id, user_id, is_member, since_event, facts_at)
                    SELECT 'acme', 'general', 'former' || n, true, gen_random_uuid(), now()
                    """,
                ] as [SQL] {
                    try session.execute("INSERT INTO " + columns + " FROM generate_series(1, \(Self.users)) n")
                }
            }
        }

        private func former(_ table: String) async throws -> Int {
            try await server.execute(
                "SELECT FROM \(identifier: table) WHERE network_id = 'acme' AND user_id LIKE 'former%'"
            )
        }
    }
}
