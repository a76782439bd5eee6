import CarillonTesting
import CarillonCore
import NIOHTTP1
import Testing

@testable import PushHTTP

/// What one network does to its hosts does not hold up another one.
@Suite(.timeLimit(.minutes(1))) struct NeighbourTests {
    private let authority = TestAuthority()

    /// Sends so many silent requests for one network, sees that another one is answered meanwhile, and ends the silence.
    private func expectAnswer(
        beside count: Int,
        _ client: OutboundHTTPClient,
        silent: @escaping @Sendable (Int) -> String,
        healthy: String,
        until isFull: () -> Bool,
        end: () async -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<count {
                tasks.addTask {
                    _ = try? await client.post(to: silent(number), of: "silent", timeout: .seconds(600))
                }
            }
            try await waitUntil { isFull() }
            // Far less than what the silent ones have.
            for _ in 0..<3 {
                let answer = try await client.post(to: healthy, of: "healthy", timeout: .seconds(30))
                #expect(answer.status == 200)
            }
            tasks.cancelAll()
            await end()
        }
    }

    @Test func `silent hosts of one network leave connections to another`() async throws {
        var policy = ConnectionPolicy.brief
        policy.maximumOpenConnections = 100
        let client = try OutboundHTTPClient.test(policy: policy) { _ in [.v4(0x7F00_0001)] }
        try await ScriptedServer.answering({ $0.head.uri == "/silent" ? .nothing : .ok }) { server, port in
            try await expectAnswer(
                beside: 1_200,
                client,
                silent: { "http://h\($0).test:\(port)/silent" },
                healthy: "http://healthy.test:\(port)/",
                until: { server.requests.count == 80 && client.connections.waiting == 1_120 },
                end: { await server.closeConnections() }
            )
        }
    }

    @Test func `silent URLs of one network leave the same host to another`() async throws {
        let client = try OutboundHTTPClient.test(policy: .brief)
        try await ScriptedServer.answering({ $0.head.uri == "/silent" ? .nothing : .ok }) { server, port in
            try await expectAnswer(
                beside: 400,
                client,
                silent: { _ in "http://127.0.0.1:\(port)/silent" },
                healthy: "http://127.0.0.1:\(port)/",
                until: { server.requests.count == 64 && client.connections.waiting == 336 },
                end: { await server.closeConnections() }
            )
        }
    }

    @Test func `silent URLs of one network leave the same host to another over HTTP/2`() async throws {
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        try await HTTP2Server.answering(tls: tls, maximumStreams: 10) {
            $0.path == "/silent" ? [.hold] : [.ok]
        } during: { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority, policy: .brief)
            try await expectAnswer(
                beside: 400,
                client,
                silent: { _ in "https://127.0.0.1:\(port)/silent" },
                healthy: "https://127.0.0.1:\(port)/",
                until: { server.requests.count == 40 },
                end: { server.answerHeld() }
            )
        }
    }

    @Test func `waiting requests of one network take turns with another's where they share connections`() async throws {
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        var policy = ConnectionPolicy.shared
        policy.maximumConnections = 1
        try await HTTP2Server.answering(tls: tls, maximumStreams: 1, { _ in [.hold] }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority, policy: policy)
            let post: @Sendable (String) async throws -> Int = { network in
                try await client.post(to: "https://127.0.0.1:\(port)/\(network)", of: network).status
            }
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<50 { tasks.addTask { try await post("many") } }
                await server.nextRequests(1)
                try await waitUntil { client.waiting >= 49 }
                tasks.addTask { try await post("few") }
                try await waitUntil { client.waiting >= 50 }
                for _ in 0..<50 {
                    server.answerHeld()
                    await server.nextRequests(1)
                }
                server.answerHeld()
                let statuses = try await tasks.reduce(into: [:]) { $0[$1, default: 0] += 1 }
                #expect(statuses == [200: 51])
                #expect(server.connectionCount == 1)
                let turn = try #require(server.requests.firstIndex { $0.path == "/few" })
                #expect(turn <= 2)
            }
        }
    }

    @Test func `looks the names of one network up beside those of another that are never found`() async throws {
        let client = try OutboundHTTPClient.test(policy: .brief) { name in
            if name.hasPrefix("silent") { try await Task.sleep(for: .seconds(3_600)) }
            return [.v4(0x7F00_0001)]
        }
        try await ScriptedServer.answering({ _ in .ok }) { _, port in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<600 {
                    tasks.addTask {
                        _ = try? await client.post(to: "http://silent\(number).test:\(port)/", of: "silent")
                    }
                }
                try await waitUntil { client.connections.waiting >= 100 }
                let answer = try await client.post(to: "http://healthy.test:\(port)/", of: "healthy")
                #expect(answer.status == 200)
                tasks.cancelAll()
            }
        }
    }
}
