import CarillonCore
import NIOCore
import NIOHTTP1
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(1))) struct ConnectionReuseTests {
    @Test func `uses a connection again for the same host`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let client = try OutboundHTTPClient.test()
            for _ in 0..<5 { _ = try await client.post(to: "http://127.0.0.1:\(port)/") }
            #expect(server.requests.map(\.connection) == [0, 0, 0, 0, 0])
        }
    }

    @Test(arguments: [
        (first: Duration.seconds(600), second: Duration.milliseconds(200)), (.milliseconds(500), .seconds(2)),
    ])
    func `each request over it has a deadline of its own`(first: Duration, second: Duration) async throws {
        try await ScriptedServer.answering({ $0.head.uri == "/ok" ? .ok : .nothing }) { server, port in
            let client = try OutboundHTTPClient.test()
            _ = try await client.post(to: "http://127.0.0.1:\(port)/ok", timeout: first)
            let start = ContinuousClock.now
            await #expect(throws: OutboundError.timedOut) {
                try await client.post(to: "http://127.0.0.1:\(port)/hangs", timeout: second)
            }
            #expect(.now - start >= second)
            #expect(server.requests.map(\.connection) == [0, 0])
        }
    }

    @Test func `does not use it for another host at the same address`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let client = try OutboundHTTPClient.test { _ in [.v4(0x7F00_0001)] }
            for host in ["a.test", "b.test", "127.0.0.1", "a.test"] {
                _ = try await client.post(to: "http://\(host):\(port)/")
            }
            #expect(server.requests.map(\.connection) == [0, 1, 2, 0])
            #expect(
                server.requests.map { $0.head.headers["host"] }
                    == ["a.test", "b.test", "127.0.0.1", "a.test"].map { ["\($0):\(port)"] }
            )
        }
    }

    @Test(arguments: [
        ScriptedServer.Answer.status("200 OK", headers: "connection: close\r\n"),
        .text("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"),
        .text("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n" + String(repeating: "x", count: 100_000)),
    ])
    func `does not use it when the answer forbids it or was not read to its end`(answer: ScriptedServer.Answer)
        async throws
    {
        try await ScriptedServer.answering({ _ in answer }) { server, port in
            let client = try OutboundHTTPClient.test()
            for _ in 0..<2 { _ = try await client.post(to: "http://127.0.0.1:\(port)/") }
            #expect(server.requests.map(\.connection) == [0, 1])
        }
    }

    @Test func `opens another one when the server has closed it meanwhile`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let client = try OutboundHTTPClient.test()
            let url = "http://127.0.0.1:\(port)/"
            _ = try await client.post(to: url)
            let connection = try #require(client.idle.take(Origin(OutboundURL(url))))
            await server.closeConnections()
            try await connection.channel.closeFuture.get()
            client.idle.keep(connection)
            #expect(try await client.post(to: url).status == 200)
            #expect(server.requests.map(\.connection) == [0, 1])
        }
    }

    @Test func `has the system ask whether the other side is still there`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { _, port in
            let client = try OutboundHTTPClient.test()
            let url = "http://127.0.0.1:\(port)/"
            _ = try await client.post(to: url)
            let channel = try #require(client.idle.take(Origin(OutboundURL(url)))).channel
            #expect(try await channel.getOption(.socketOption(.so_keepalive)).get() != 0)
            var values: [SocketOptionValue] = []
            for (option, _) in TCPKeepAlive.limits {
                values.append(try await channel.getOption(.tcpOption(option)).get())
            }
            #expect(values == [60, 15, 3])
        }
    }

    @Test func `knows that nothing was sent over a connection that has ended`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let client = try OutboundHTTPClient.test()
            let url = "http://127.0.0.1:\(port)/"
            _ = try await client.post(to: url)
            let connection = try #require(client.idle.take(Origin(OutboundURL(url))))
            await server.closeConnections()
            try await connection.channel.closeFuture.get()
            let request = OutboundRequest(url: url, headers: [:], body: [])
            await #expect(throws: NotProcessed.self) {
                try await connection.send(request, to: OutboundURL(url), until: .now() + .seconds(5)).get()
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `does not send twice what a server took without an answer`() async throws {
        try await ScriptedServer.answering({ $0.head.uri == "/ok" ? .ok : .close }) { server, port in
            let client = try OutboundHTTPClient.test()
            _ = try await client.post(to: "http://127.0.0.1:\(port)/ok")
            await #expect(throws: OutboundError.connectionClosed) {
                try await client.post(to: "http://127.0.0.1:\(port)/close")
            }
            #expect(server.requests.map(\.head.uri) == ["/ok", "/close"])
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `closes a connection on which the server speaks unasked`() async throws {
        let twice = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"
        try await ScriptedServer.answering({ $0.connection == 0 ? .text(twice) : .ok }) { server, port in
            let client = try OutboundHTTPClient.test()
            let url = "http://127.0.0.1:\(port)/"
            #expect(try await client.post(to: url).status == 200)
            #expect(try await client.post(to: url).status == 200)
            #expect(server.requests.map(\.connection) == [0, 1])
        }
    }

    @Test func `sends nothing that is not wanted any more`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let client = try OutboundHTTPClient.test()
            let url = "http://127.0.0.1:\(port)/"
            let unwanted = OutboundRequest(url: url, headers: [:], body: []) { false }
            await #expect(throws: CancellationError.self) { try await client.execute(unwanted, timeout: .seconds(30)) }
            #expect(try await client.post(to: url).status == 200)
            #expect(server.requests.count == 1)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `keeps no more connections than a group uses at a time`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { _, port in
            var policy = ConnectionPolicy.lasting
            policy.maximumOpenConnectionsPerHost = 65
            let client = try OutboundHTTPClient.test(policy: policy)
            let url = "http://127.0.0.1:\(port)/"
            let origin = Origin(try OutboundURL(url))
            var connections: [HTTPConnection] = []
            for _ in 0..<65 {
                _ = try await client.post(to: url)
                connections.append(try #require(client.idle.take(origin)))
            }
            for connection in connections { client.idle.keep(connection) }
            var kept = 0
            while client.idle.take(origin) != nil { kept += 1 }
            #expect(kept == 64)
            try await #require(connections.last).channel.closeFuture.get()
        }
    }
}
