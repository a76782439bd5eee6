import CarillonCore
import CarillonTesting
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import Synchronization
import Testing

@testable import PushHTTP

@Suite(.timeLimit(.minutes(2))) struct HTTP2ClientTests {
    private let authority = TestAuthority()

    @Test func `shares one connection between requests`() async throws {
        try await withHTTP2Server({ _ in [.ok] }) { server, post in
            let result = try await statuses(of: 200, post)
            #expect(result == [200: 200])
            #expect(server.connectionCount == 1)
            #expect(server.requests.count == 200)
        }
    }

    @Test func `sends what it is told, and lets no table remember secrets`() async throws {
        let tls = try authority.serverConfiguration(for: .name("push.test"))
        try await HTTP2Server.answering(tls: tls, { _ in [.answer(404, ["x-a": "b"], body: "new")] }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority) { _ in [.v4(0x7F00_0001)] }
            let url = "https://push.test:\(port)/3/device/abc?d=%20e#f"
            let headers: HTTPHeaders = ["Authorization": "bearer secret", "apns-topic": "com.acme.chat"]
            let request = OutboundRequest(url: url, headers: headers, body: Array("hello".utf8))
            let response = try await client.execute(request, timeout: .seconds(30))
            #expect(response.status == 404)
            #expect(response.headers["x-a"] == ["b"])
            #expect(response.body == Array("new".utf8))

            let received = try #require(server.requests.first)
            #expect(received.body == Array("hello".utf8))
            let sent = received.headers.map { "\($0.name): \($0.value) \($0.indexable)" }
            #expect(
                sent == [
                    ":method: POST []", ":scheme: https []", ":authority: push.test:\(port) []",
                    ":path: /3/device/abc?d=%20e [neverIndexed]", "authorization: bearer secret [neverIndexed]",
                    "apns-topic: com.acme.chat []", "content-length: 5 [non-indexable]",
                ]
            )
        }
    }

    @Test func `an answer is read up to what is allowed`() async throws {
        let tls = try authority.serverConfiguration(for: .name("push.test"))
        let limit = 320 << 10
        let respond = { @Sendable (request: HTTP2Server.Request) -> [HTTP2Server.Action] in
            // What heads are counted as is left.
            [.answer(200, body: String(repeating: "x", count: request.path == "/long" ? limit + 1 : limit - 1_024))]
        }
        try await HTTP2Server.answering(tls: tls, respond) { server, port in
            var policy = ConnectionPolicy.brief
            policy.maximumAnswerBytes = limit
            let client = try OutboundHTTPClient.test(trusting: authority, policy: policy) { _ in [.v4(0x7F00_0001)] }
            func answer(_ path: String) async throws -> OutboundResponse {
                let url = "https://push.test:\(port)\(path)"
                let request = OutboundRequest(method: .get, url: url, headers: [:], body: [])
                return try await client.execute(request, timeout: .seconds(30))
            }
            // The connection's window is used up many times, and each answer finds a new one of its stream.
            for _ in 0..<3 {
                let (fitting, long) = (try await answer("/fits").body.count, try await answer("/long").body.count)
                #expect(fitting == limit - 1_024)
                #expect((fitting...limit).contains(long))
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `what has no body ends with its head`() async throws {
        let tls = try authority.serverConfiguration(for: .name("push.test"))
        try await HTTP2Server.answering(tls: tls, { _ in [.ok] }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority) { _ in [.v4(0x7F00_0001)] }
            for method in [OutboundRequest.Method.get, .post] {
                let url = "https://push.test:\(port)/\(method.rawValue)"
                let request = OutboundRequest(method: method, url: url, headers: [:], body: [])
                #expect(try await client.execute(request, timeout: .seconds(30)).status == 200)
            }
            #expect(server.requests.map(\.path) == ["/GET", "/POST"])
            // An empty frame of data is a body to some servers.
            #expect(server.requests.map(\.endsWithHead) == [true, true])
        }
    }

    @Test func `passes over informational answers and trailers`() async throws {
        try await withHTTP2Server({ _ in [.head([":status": "103", "link": "</a>"]), .answer(204)] }) { _, post in
            let response = try await post("/", .seconds(30))
            #expect(response.status == 204)
            #expect(response.headers.isEmpty)
        }
    }

    // MARK: Limits of the server

    @Test(arguments: [1, 10])
    func `never has more streams open than the server permits`(limit: Int) async throws {
        var policy = ConnectionPolicy.lasting
        policy.maximumConnections = 1
        try await withHTTP2Server(maximumStreams: limit, policy: policy, { _ in [.ok] }) { server, post in
            let result = try await statuses(of: 300, post)
            #expect(result == [200: 300])
            #expect(server.connectionCount == 1)
            #expect(server.peakStreams <= limit)
        }
    }

    @Test func `opens further connections when streams are what is missing, up to its limit`() async throws {
        try await withHTTP2Server(maximumStreams: 2, { _ in [.hold] }) { server, post in
            async let found = statuses(of: 20, post)
            await server.nextRequests(8)
            #expect(server.connectionCount == 4)
            #expect(server.requests.count == 8)
            #expect(server.peakStreams == 2)
            for _ in 0..<2 {
                server.answerHeld()
                await server.nextRequests(server.requests.count < 16 ? 8 : 4)
            }
            server.answerHeld()
            let result = try await found
            #expect(result == [200: 20])
            #expect(server.connectionCount == 4)
        }
    }

    @Test func `follows a limit that changes`() async throws {
        var policy = ConnectionPolicy.lasting
        policy.maximumConnections = 1
        try await withHTTP2Server(maximumStreams: 1, policy: policy, { _ in [.hold] }) { server, post in
            async let found = statuses(of: 6, post)
            await server.nextRequests(1)
            server.limit(to: 4)
            await server.nextRequests(3)
            #expect(server.peakStreams == 4)
            server.limit(to: 2)
            server.answerHeld()
            await server.nextRequests(2)
            server.answerHeld()
            let result = try await found
            #expect(result == [200: 6])
        }
    }

    @Test func `lets no more wait than it has been told`() async throws {
        var policy = ConnectionPolicy.lasting
        policy.maximumConnections = 1
        // One place in line is left for other networks.
        policy.maximumWaiting = 3
        try await withHTTP2Server(maximumStreams: 1, policy: policy, { _ in [.hold] }) { server, post in
            async let first = post("/first", .seconds(60))
            await server.nextRequests(1)
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<10 {
                    tasks.addTask {
                        do {
                            return try await post("/", .seconds(60)).status != 200
                        } catch OutboundError.busy {
                            return true
                        }
                    }
                }
                for _ in 0..<8 {
                    let isRefused = try await tasks.next()
                    #expect(isRefused == true)
                }
                server.answerHeld()
                for _ in 0..<2 {
                    await server.nextRequests(1)
                    server.answerHeld()
                    let isRefused = try await tasks.next()
                    #expect(isRefused == false)
                }
            }
            let status = try await first.status
            #expect(status == 200)
        }
    }

    @Test func `sends one request at a time until one was accepted`() async throws {
        var policy = ConnectionPolicy.lasting
        policy.provesCredentialFirst = true
        policy.proofPatience = .seconds(3_600)
        try await withHTTP2Server(policy: policy, { _ in [.hold] }) { server, post in
            async let found = statuses(of: 50, post)
            for _ in 0..<2 {
                await server.nextRequests(1)
                #expect(server.peakStreams == 1)
                server.answerHeld(403)
            }
            await server.nextRequests(1)
            server.answerHeld(400)
            await server.nextRequests(47)
            #expect(server.connectionCount == 1)
            server.answerHeld()
            let result = try await found
            #expect(result == [403: 2, 400: 1, 200: 47])
        }
    }

    // MARK: What is not wanted any more

    @Test func `sends nothing that is not wanted when its turn comes, and lets what was sent end`() async throws {
        let tls = try authority.serverConfiguration(for: .address([127, 0, 0, 1]))
        var policy = ConnectionPolicy.lasting
        policy.maximumConnections = 1
        try await HTTP2Server.answering(tls: tls, maximumStreams: 1, { _ in [.hold] }) { server, port in
            let client = try OutboundHTTPClient.test(trusting: authority, policy: policy)
            let isWanted = Mutex(true)
            let post: @Sendable () async throws -> Int = {
                let request = OutboundRequest(url: "https://127.0.0.1:\(port)/", headers: [:], body: []) {
                    isWanted.withLock { $0 }
                }
                return try await client.execute(request, timeout: .seconds(60)).status
            }
            let sent = Task { try await post() }
            await server.nextRequests(1)
            let waiting = (0..<2).map { _ in Task { try await post() } }
            isWanted.withLock { $0 = false }
            server.answerHeld()
            #expect(try await sent.value == 200)
            for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
            #expect(server.requests.count == 1)
            isWanted.withLock { $0 = true }
            let next = Task { try await post() }
            await server.nextRequests(1)
            server.answerHeld()
            #expect(try await next.value == 200, "the places of the others were given back")
        }
    }

    // MARK: What was not processed

    @Test func `loses nothing and repeats nothing when it is sent away among many requests`() async throws {
        let answered = Mutex<[String: Int]>([:])
        try await withHTTP2Server { request in
            // Each connection processes 40 requests and sends the client away; the rest goes unheard.
            let number = Int(request.streamID)
            guard number <= 79 else { return [] }
            answered.withLock { $0[request.path, default: 0] += 1 }
            return number == 79 ? [.goAway(79, details: #"{"reason":"Shutdown"}"#), .ok] : [.ok]
        } _: { server, post in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for worker in 0..<25 {
                    tasks.addTask {
                        for number in 0..<40 {
                            guard try await post("/\(worker)/\(number)", .seconds(60)).status == 200 else { return 0 }
                        }
                        return 40
                    }
                }
                return try await tasks.reduce(0, +)
            }
            #expect(statuses == 1_000)
            #expect(answered.withLock { $0.count } == 1_000)
            #expect(answered.withLock { $0.values.allSatisfy { $0 == 1 } })
            #expect(server.connectionCount >= 25)
        }
    }

    @Test func `ends what is on its way when it is sent away kindly`() async throws {
        try await withHTTP2Server({ request in request.path == "/late" ? [.ok] : [.hold] }) { server, post in
            async let early = statuses(of: 10, post)
            await server.nextRequests(10)
            server.goAway(.maxID)
            await server.waitUntilRead()
            async let late = post("/late", .seconds(60))
            await server.nextRequests(1)
            server.goAway(19)
            server.answerHeld()
            let (earlyStatuses, lateStatus) = try await (early, late.status)
            #expect(earlyStatuses == [200: 10])
            #expect(lateStatus == 200)
            #expect(server.requests.count == 11)
        }
    }

    @Test func `sends again at once what was refused unread`() async throws {
        let seen = Mutex<Set<String>>([])
        try await withHTTP2Server { request in
            seen.withLock { $0.insert(request.path).inserted } ? [.reset(.refusedStream)] : [.ok]
        } _: { server, post in
            let result = try await statuses(of: 500, post)
            #expect(result == [200: 500])
            #expect(server.requests.count == 1_000)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `says of each try that it was surely not processed`() async throws {
        let tls = try authority.serverConfiguration(for: .name("push.test"))
        let tries = Mutex(0)
        let respond = { @Sendable (request: HTTP2Server.Request) -> [HTTP2Server.Action] in
            let number = tries.withLock {
                $0 += 1
                return $0
            }
            return number < 3 ? [.reset(.refusedStream)] : [.ok]
        }
        try await HTTP2Server.answering(tls: tls, respond) { _, port in
            let client = try OutboundHTTPClient.test(trusting: authority) { _ in [.v4(0x7F00_0001)] }
            let said = Mutex<[String]>([])
            let request = OutboundRequest(
                url: "https://push.test:\(port)/",
                headers: [:],
                body: [],
                isStillWanted: {
                    said.withLock { $0.append("asked") }
                    return true
                },
                whenNotProcessed: { said.withLock { $0.append("not processed") } }
            )
            #expect(try await client.execute(request, timeout: .seconds(30)).status == 200)
            #expect(said.withLock(\.self) == ["asked", "not processed", "asked", "not processed", "asked"])
        }
    }

    @Test func `a server that is no push service has as many requests at a time as connections of HTTP/1.1`()
        async throws
    {
        let tls = try authority.serverConfiguration(for: .name("push.test"))
        try await HTTP2Server.answering(tls: tls, { _ in [.hold] }) { server, port in
            let policy = ConnectionPolicy.brief.limited(to: 40)
            let client = try OutboundHTTPClient.test(trusting: authority, policy: policy) { _ in [.v4(0x7F00_0001)] }
            func statuses(_ count: Int, of lane: Lane) async throws -> [Int] {
                try await withThrowingTaskGroup(of: Int.self) { tasks in
                    for _ in 0..<count {
                        let url = "https://push.test:\(port)/"
                        let request = OutboundRequest(url: url, headers: [:], body: [], lane: lane)
                        tasks.addTask { try await client.execute(request, timeout: .seconds(60)).status }
                    }
                    return try await tasks.reduce(into: []) { $0.append($1) }
                }
            }
            let webhooks = Lane(networkID: "acme", provider: .webhook, appID: "push.test")
            async let answers = statuses(12, of: webhooks)
            for waiting in [7, 2, 0] {
                await server.nextRequests(min(5, waiting == 0 ? 2 : 5))
                try await eventually("the others waiting") { client.waiting == waiting }
                server.answerHeld()
            }
            #expect(try await answers == Array(repeating: 200, count: 12))
            #expect(server.peakStreams == 5 && server.connectionCount == 1)
            // Who finds all places taken by others has not been left without an answer.
            let another = Lane(networkID: "acme", provider: .relay, appID: "other")
            async let taken = statuses(5, of: webhooks)
            await server.nextRequests(5)
            let request = OutboundRequest(url: "https://push.test:\(port)/", headers: [:], body: [], lane: another)
            await #expect(throws: OutboundError.busy) { try await client.execute(request, timeout: .milliseconds(100)) }
            let own = OutboundRequest(url: "https://push.test:\(port)/", headers: [:], body: [], lane: webhooks)
            await #expect(throws: OutboundError.timedOut) { try await client.execute(own, timeout: .milliseconds(100)) }
            server.answerHeld()
            #expect(try await taken == Array(repeating: 200, count: 5))
            // Browsers at the same host are not held up by that.
            let browsers = Lane(networkID: "acme", provider: .webpush, appID: "push.test")
            async let others = statuses(12, of: browsers)
            await server.nextRequests(12)
            server.answerHeld()
            #expect(try await others == Array(repeating: 200, count: 12))
        }
    }

    @Test func `gives up when everything is refused`() async throws {
        try await withHTTP2Server({ _ in [.reset(.refusedStream)] }) { server, post in
            await #expect(throws: OutboundError.refused) { try await post("/", .seconds(60)) }
            #expect(server.requests.count == 8)
        }
    }
}
