import CarillonTesting
import CarillonCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(1))) struct OutboundHTTPClientTests {
    @Test(arguments: [
        (ScriptedServer.Answer.close, OutboundError.connectionClosed),
        (.textThenClose("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"), .malformedAnswer),
        (.textThenClose("HTTP/1.1 200"), .malformedAnswer),
        (.text("SSH-2.0-OpenSSH_9.6\r\n"), .malformedAnswer),
        (.text("\u{0}\u{1}\u{2}garbage"), .malformedAnswer),
        (.text("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"), .malformedAnswer),
        (.endless("HTTP/1.1 200 OK\r\n", "x-filler: 0123456789\r\n"), .malformedAnswer),
        (.endless("HTTP/1.1 200 OK\r\nx-filler: ", "0123456789"), .answerTooLong),
        (.endless("", "HTTP/1.1 100 Continue\r\n\r\n"), .answerTooLong),
        (.nothing, .timedOut),
        (.text("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"), .timedOut),
        (.drip("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", 0x61), .timedOut),
        (.drip("HTTP/1.1 200 OK\r\nx-slow: ", 0x61), .timedOut),
    ])
    func `ends a request that gets no proper answer`(answer: ScriptedServer.Answer, expected: OutboundError)
        async throws
    {
        try await ScriptedServer.answering({ _ in answer }) { server, port in
            let client = try OutboundHTTPClient.test()
            let timeout = expected == .timedOut ? Duration.milliseconds(100) : .seconds(30)
            await #expect(throws: expected) { try await client.post(to: "http://127.0.0.1:\(port)/", timeout: timeout) }
            #expect(server.requests.count == 1 || expected == .timedOut)
        }
    }

    @Test func `tells that nothing listens`() async throws {
        let closedPort = Mutex(0)
        try await ScriptedServer.answering({ _ in .ok }) { _, port in
            closedPort.withLock { $0 = port }
        }
        let client = try OutboundHTTPClient.test()
        await #expect(throws: OutboundError.connectionRefused) {
            try await client.post(to: "http://127.0.0.1:\(closedPort.withLock { $0 })/")
        }
    }

    @Test(arguments: [true, false])
    func `reads 64 KiB of an endless answer and takes its status`(throughTLS: Bool) async throws {
        let authority = TestAuthority()
        let tls = throughTLS ? try authority.serverConfiguration(for: .address([127, 0, 0, 1])) : nil
        let chunk = String(repeating: "x", count: 10_000)
        let answer = ScriptedServer.Answer.endless("HTTP/1.1 202 Accepted\r\ncontent-length: 100000000\r\n\r\n", chunk)
        try await ScriptedServer.answering(tls: tls, { _ in answer }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority)
            let response = try await client.post(to: "\(throughTLS ? "https" : "http")://127.0.0.1:\(port)/")
            #expect(response.status == 202)
            #expect((60_000...65_536).contains(response.body.count))
            await server.closeConnections()
            #expect(server.bytesSent < 20_000_000)
        }
    }

    @Test func `sends what it is told, with the host and the length`() async throws {
        try await ScriptedServer.answering { _ in
            .text("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nX-A: b\r\n\r\nnew")
        } during: { server, port in
            let response = try await OutboundHTTPClient.test().post(to: "http://127.0.0.1:\(port)/a/../b?c=%20d#e")
            #expect(response.status == 404)
            #expect(response.headers["x-a"] == ["b"])
            #expect(response.body == Array("new".utf8))
            let request = try #require(server.requests.first)
            #expect(request.head.method == .POST)
            #expect(request.head.uri == "/a/../b?c=%20d")
            #expect(request.head.headers["host"] == ["127.0.0.1:\(port)"])
            #expect(request.head.headers["content-length"] == ["5"])
            #expect(request.head.headers["content-type"] == ["text/plain"])
            #expect(request.body == Array("hello".utf8))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `does not follow redirects`(status: Int) async throws {
        let headers = "location: http://127.0.0.1/latest/meta-data/\r\n"
        try await ScriptedServer.answering({ _ in .status("\(status) Moved", headers: headers) }) { server, port in
            let response = try await OutboundHTTPClient.test().post(to: "http://127.0.0.1:\(port)/")
            #expect(response.status == status)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `passes over informational answers`() async throws {
        let answer = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
        try await ScriptedServer.answering({ _ in .text(answer) }) { _, port in
            let response = try await OutboundHTTPClient.test().post(to: "http://127.0.0.1:\(port)/")
            #expect(response.status == 204)
        }
    }

    @Test func `takes an answer that ends with the connection`() async throws {
        try await ScriptedServer.answering({ _ in .textThenClose("HTTP/1.0 200 OK\r\n\r\nbye") }) { _, port in
            let response = try await OutboundHTTPClient.test().post(to: "http://127.0.0.1:\(port)/")
            #expect(response.body == Array("bye".utf8))
        }
    }

    @Test func `waits for the answer to what has been sent although its task is cancelled`() async throws {
        let start = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        try await ScriptedServer.answering { _ in
            .textAfter(start.futureResult, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        } during: { server, port in
            var policy = ConnectionPolicy.lasting
            policy.maximumOpenConnectionsPerHost = 1
            let client = try OutboundHTTPClient.test(policy: policy)
            let url = "http://127.0.0.1:\(port)/"
            let sent = Task { try await client.post(to: url, timeout: .seconds(3_600)).status }
            _ = await server.nextRequest()
            let waiting = Task { try await client.post(to: url, timeout: .seconds(3_600)).status }
            try await waitUntil { client.connections.waiting != 0 }
            sent.cancel()
            waiting.cancel()
            await #expect(throws: CancellationError.self, "it has not been sent") { try await waiting.value }
            start.succeed()
            #expect(try await sent.value == 200)
            #expect(try await client.post(to: url).status == 200)
            #expect(server.requests.count == 2)
            #expect(client.connections.count == 0)
        }
    }
}
