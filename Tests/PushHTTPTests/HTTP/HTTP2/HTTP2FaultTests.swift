import CarillonCore
import CarillonTesting
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(2))) struct HTTP2FaultTests {
    private let authority = TestAuthority()

    // MARK: What is unknown

    @Test(arguments: [
        ([HTTP2Server.Action.reset(.internalError)], OutboundError.reset), ([.reset(.cancel)], .reset),
        ([.reset(.noError)], .reset), ([.head([":status": "200"]), .reset(.cancel)], .reset),
        ([.close], .connectionClosed), ([.head([":status": "200"]), .close], .connectionClosed),
        ([.head([":status": "x"])], .malformedAnswer),
        ([.answer(200, ["content-length": "9"], body: "x")], .malformedAnswer),
        ([], .timedOut), ([.head([":status": "200"])], .timedOut),
        ([.head([":status": "103"])], .timedOut), ([.fallSilent], .timedOut),
    ])
    func `does not send again what may have been processed`(actions: [HTTP2Server.Action], expected: OutboundError)
        async throws
    {
        try await withHTTP2Server({ _ in actions }) { server, post in
            let timeout = expected == .timedOut ? Duration.milliseconds(200) : .seconds(60)
            await #expect(throws: expected) { try await post("/", timeout) }
            #expect(server.requests.count <= 1)
        }
    }

    @Test func `fields that HTTP/2 forbids mean nothing, however often they come`() async throws {
        let headers: HPACKHeaders = ["upgrade": "h2,h2c", "connection": "Upgrade", "keep-alive": "timeout=5"]
        try await withHTTP2Server({ _ in [.answer(200, headers, body: "x")] }) { server, post in
            let result = try await statuses(of: 500, post)
            #expect(result == [200: 500])
            #expect(server.connectionCount == 1 && server.requests.count == 500)
        }
    }

    @Test func `an answer with as many fields as over HTTP/1.1 is read, and holds up nobody`() async throws {
        // Alike, so that a table makes them one frame.
        let fields = HPACKHeaders((0..<30).map { _ in ("set-cookie", String(repeating: "x", count: 1_000)) })
        try await withHTTP2Server({ $0.path == "/held" ? [.hold] : [.answer(200, fields)] }) { server, post in
            let held = Task { try await post("/held", .seconds(60)).status }
            await server.nextRequests(1)
            let answer = try await post("/", .seconds(60))
            #expect(answer.status == 200 && answer.headers["set-cookie"].count == 30)
            server.answerHeld()
            #expect(try await held.value == 200)
        }
    }

    @Test func `does not send what has got its stream too late`() async throws {
        try await withHTTP2Server({ _ in [.ok] }) { server, post in
            _ = try await post("/first", .seconds(60))
            await #expect(throws: OutboundError.timedOut) { try await post("/late", .zero) }
            _ = try await post("/after", .seconds(60))
            #expect(server.requests.map(\.path) == ["/first", "/after"])
        }
    }

    @Test func `one request that hangs does not hold up the others`() async throws {
        try await withHTTP2Server({ $0.path == "/hang" ? [] : [.ok] }) { server, post in
            _ = try await post("/first", .seconds(60))
            let hanging = Task { try await post("/hang", .milliseconds(300)) }
            let result = try await statuses(of: 100, post)
            #expect(result == [200: 100])
            await #expect(throws: OutboundError.timedOut) { try await hanging.value }
            await server.wait(for: .reset)
            #expect(try await post("/after", .seconds(60)).status == 200)
        }
    }

    @Test func `does not use a connection again on which nothing came back`() async throws {
        try await withHTTP2Server {
            $0.connection == 0 && $0.path == "/hang" ? [.fallSilent] : [.ok]
        } _: { server, post in
            _ = try await post("/first", .seconds(60))
            await #expect(throws: OutboundError.timedOut) { try await post("/hang", .milliseconds(200)) }
            _ = try await post("/after", .seconds(60))
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `waits for the answer to what has been sent although its task is cancelled`() async throws {
        var policy = ConnectionPolicy.lasting
        policy.maximumConnections = 1
        try await withHTTP2Server(maximumStreams: 1, policy: policy, { _ in [.hold] }) { server, post in
            let sent = Task { try await post("/sent", .seconds(3_600)).status }
            await server.nextRequests(1)
            let waiting = Task { try await post("/waiting", .seconds(3_600)).status }
            sent.cancel()
            waiting.cancel()
            await #expect(throws: CancellationError.self, "it has not been sent") { try await waiting.value }
            server.answerHeld()
            let status = try await sent.value
            #expect(status == 200)
            #expect(server.requests.map(\.path) == ["/sent"])
            #expect(server.resets == 0)
        }
    }

    // MARK: Hostile servers

    @Test func `reads 64 KiB of an endless answer and takes its status`() async throws {
        try await withHTTP2Server({ _ in [.endlessBody] }) { server, post in
            let response = try await post("/", .seconds(60))
            #expect(response.status == 200)
            #expect((60_000...65_536).contains(response.body.count))
            await server.wait(for: .reset)
            #expect(server.bytesSent < 1_000_000)
        }
    }

    @Test func `refuses ten thousand headers`() async throws {
        try await withHTTP2Server({ _ in [.manyHeaders(10_000)] }) { server, post in
            await #expect(throws: OutboundError.answerTooLong) { try await post("/", .seconds(60)) }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `does not wait for ever for a server that does not begin`() async throws {
        try await withHTTP2Server(sendsSettings: false, { _ in [.ok] }) { server, post in
            await #expect(throws: OutboundError.timedOut) { try await post("/", .milliseconds(200)) }
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Idle connections

    @Test func `asks an idle connection whether it is still there`() async throws {
        var policy = ConnectionPolicy.lasting
        policy.pingInterval = .milliseconds(20)
        try await withHTTP2Server(policy: policy, { _ in [.ok] }) { server, post in
            _ = try await post("/", .seconds(60))
            await server.wait(for: .ping)
            #expect(try await post("/", .seconds(60)).status == 200)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `does not begin requests on an old connection, but ends them`() async throws {
        var policy = ConnectionPolicy.lasting
        policy.maximumAge = .seconds(3)
        try await withHTTP2Server(policy: policy, { $0.path == "/early" ? [.hold] : [.ok] }) { server, post in
            async let early = post("/early", .seconds(60))
            await server.nextRequests(1)
            while server.connectionCount == 1 { _ = try await post("/", .seconds(60)) }
            server.answerHeld()
            let status = try await early.status
            #expect(status == 200)
            await server.wait(for: .closed(0))
        }
    }

    @Test func `closes its connections when it is not needed any more`() async throws {
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        try await HTTP2Server.answering(tls: tls, { _ in [.ok] }) { server, port in
            try await postOnce(port)
            await server.wait(for: .closed(0))
        }
    }

    @Test(arguments: [(Logger.Level.info, 0), (.debug, 1)])
    func `that a receiver sent a connection away is told to those alone who look for faults`(
        level: Logger.Level,
        lines: Int
    ) async throws {
        let log = CollectedLog()
        var logger = log.logger
        logger.logLevel = level
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        try await HTTP2Server.answering(tls: tls, { _ in [.goAway(1), .ok] }) { _, port in
            let client = try OutboundHTTPClient.test(trusting: authority, logger: logger)
            #expect(try await client.post(to: "https://127.0.0.1:\(port)/").status == 200)
        }
        #expect(log.lines("Server sent the connection away").count == lines)
    }

    private func postOnce(_ port: Int) async throws {
        _ = try await OutboundHTTPClient.test(trusting: authority).post(to: "https://127.0.0.1:\(port)/")
    }
}
