import CarillonTesting
import CarillonCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(1))) struct ConnectionLimitTests {
    private let authority = TestAuthority()

    /// Of four places, one network can have three: there is always one for another.
    private func policy(maximum: Int) -> ConnectionPolicy {
        var policy = ConnectionPolicy.lasting
        policy.maximumOpenConnections = maximum
        return policy
    }

    @Test func `many hosts that speak HTTP/2 are served over few connections`() async throws {
        let tls = try authority.serverConfiguration(for: .name("*.push.test"))
        let isHolding = Mutex(true)
        try await HTTP2Server.answering(tls: tls) { _ in
            isHolding.withLock { $0 } ? [.hold] : [.ok]
        } during: { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority, policy: policy(maximum: 4)) { _ in
                [.v4(0x7F00_0001)]
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<40 {
                    tasks.addTask { try await client.post(to: "https://h\(number).push.test:\(port)/").status }
                }
                await server.nextRequests(3)
                try await waitUntil { client.connections.waiting >= 37 }
                #expect(server.connectionCount == 3)
                isHolding.withLock { $0 = false }
                server.answerHeld()
                return try await tasks.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 40])
            #expect(server.connectionCount == 40)
            #expect(client.connections.count <= 3)
        }
    }

    @Test func `many hosts that speak HTTP/1.1 are served over few connections`() async throws {
        let client = try OutboundHTTPClient.test(policy: policy(maximum: 4)) { _ in [.v4(0x7F00_0001)] }
        let most = Mutex(0)
        try await ScriptedServer.answering { _ in
            most.withLock { $0 = max($0, client.connections.count) }
            return .ok
        } during: { server, port in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<40 {
                    tasks.addTask { try await client.post(to: "http://h\(number).test:\(port)/").status }
                }
                return try await tasks.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 40])
            #expect(server.connectionCount == 40)
            #expect(most.withLock { $0 } == 3)
        }
    }

    @Test func `waits until its deadline when all connections are in use, and cuts none of them off`() async throws {
        let tls = try authority.serverConfiguration(for: .name("*.push.test"))
        try await HTTP2Server.answering(tls: tls, { _ in [.hold] }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority, policy: policy(maximum: 1)) { _ in
                [.v4(0x7F00_0001)]
            }
            async let held = client.post(to: "https://a.push.test:\(port)/", timeout: .seconds(60))
            await server.nextRequests(1)
            await #expect(throws: OutboundError.busy) {
                try await client.post(to: "https://b.push.test:\(port)/", timeout: .milliseconds(100))
            }
            async let patient = client.post(to: "https://c.push.test:\(port)/", timeout: .seconds(60))
            try await waitUntil { client.connections.waiting != 0 }
            server.answerHeld()
            let status = try await held.status
            #expect(status == 200)
            await server.nextRequests(1)
            server.answerHeld()
            let patientStatus = try await patient.status
            #expect(patientStatus == 200)
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `who still has time waits on when the connection that all wait for has had no place`() async throws {
        let tls = try authority.serverConfiguration(for: .name("*.push.test"))
        try await HTTP2Server.answering(tls: tls, { _ in [.hold] }) { server, port in
            var policy = policy(maximum: 1)
            policy.maximumOpeningTime = .seconds(5)
            let client = try OutboundHTTPClient.test(trusting: authority, policy: policy) { _ in [.v4(0x7F00_0001)] }
            async let held = client.post(to: "https://a.push.test:\(port)/", timeout: .seconds(60))
            await server.nextRequests(1)
            async let patient = client.post(to: "https://b.push.test:\(port)/", timeout: .seconds(60))
            try await waitUntil { client.connections.waiting != 0 }
            // By then the opening that was in line first has given up.
            await #expect(throws: OutboundError.busy) {
                try await client.post(to: "https://b.push.test:\(port)/", timeout: .milliseconds(5_500))
            }
            server.answerHeld()
            let status = try await held.status
            #expect(status == 200)
            await server.nextRequests(1)
            server.answerHeld()
            let patientStatus = try await patient.status
            #expect(patientStatus == 200)
        }
    }

    @Test func `a host that cannot be reached takes no place`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { _, port in
            let client = try OutboundHTTPClient.test(policy: policy(maximum: 1))
            for _ in 0..<3 {
                await #expect(throws: OutboundError.connectionRefused) {
                    try await client.post(to: "http://127.0.0.1:1/")
                }
                await #expect(throws: EgressRefusal.self) { try await client.post(to: "http://10.0.0.1/") }
                await #expect(throws: OutboundError.self) { try await client.post(to: "https://127.0.0.1:\(port)/") }
            }
            #expect(try await client.post(to: "http://127.0.0.1:\(port)/").status == 200)
        }
    }

    @Test func `a host that takes everything and never answers holds up no other one`() async throws {
        let client = try OutboundHTTPClient.test(policy: policy(maximum: 100)) { _ in [.v4(0x7F00_0001)] }
        try await ScriptedServer.answering { request in
            request.head.uri == "/silent" ? .nothing : .ok
        } during: { server, port in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<600 {
                    tasks.addTask {
                        _ = try await client.post(to: "http://silent.test:\(port)/silent", timeout: .seconds(600))
                    }
                }
                try await waitUntil { client.connections.waiting >= 500 }
                // Far less than what the silent ones have.
                let answer = try await client.post(to: "http://other.test:\(port)/", timeout: .seconds(10))
                #expect(answer.status == 200)
                try await waitUntil { client.connections.waiting >= 600 - 64 }
                try await waitUntil { server.connectionCount >= 65 }
                #expect(server.connectionCount == 65)
                tasks.cancelAll()
                // What has been sent is waited for.
                await server.closeConnections()
            }
        }
    }

    @Test func `requests beyond what a host may have use the connections that become free`() async throws {
        var policy = ConnectionPolicy.lasting
        policy.maximumOpenConnectionsPerHost = 2
        let client = try OutboundHTTPClient.test(policy: policy)
        let start = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        try await ScriptedServer.answering { _ in
            .textAfter(start.futureResult, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        } during: { server, port in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<20 {
                    tasks.addTask { try await client.post(to: "http://127.0.0.1:\(port)/").status }
                }
                try await waitUntil { client.connections.waiting >= 18 }
                start.succeed()
                return try await tasks.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 20])
            #expect(server.requests.map(\.connection).max() == 1)
            #expect(server.connectionCount == 2)
        }
    }
}
