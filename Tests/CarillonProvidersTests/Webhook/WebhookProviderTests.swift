import CarillonCore
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct WebhookProviderTests {
    private static let key = Data(0..<32)
    private static let oldKey = Data(32..<64)

    private func secret(_ key: Data) throws -> WebhookSecret {
        try #require(WebhookSecret("whsec_" + key.base64EncodedString()))
    }

    private func provider(
        secrets keys: [Data] = [key],
        clock: WallClock = .system,
        deadline: Duration = .seconds(15),
        concurrency: Int = 64
    ) throws -> WebhookProvider {
        let secrets = try keys.map(secret)
        return WebhookProvider(
            client: try .test(),
            secrets: RememberedCredentials { network, _ in network == NetworkID(trusted: "acme") ? secrets : [] },
            version: "1.2.3",
            clock: clock,
            deadline: deadline,
            concurrency: concurrency
        )
    }

    /// By hand, as the specification says, without our own signer.
    private func signature(of request: ScriptedServer.Request, key: Data) throws -> String {
        let headers = request.head.headers
        let id = try #require(headers.first(name: "webhook-id"))
        let timestamp = try #require(headers.first(name: "webhook-timestamp"))
        let signed = Data("\(id).\(timestamp).".utf8) + request.body
        let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key))
        return "v1," + Data(code).base64EncodedString()
    }

    @Test(arguments: [
        (ScriptedServer.Answer.status("410 Gone"), Outcome.unregister(at: nil, reason: "http 410")),
        (.status("301 Moved", headers: "location: http://127.0.0.1/\r\n"), .retry(after: nil, reason: "http 301")),
        (.status("307 Moved", headers: "location: http://127.0.0.1/\r\n"), .retry(after: nil, reason: "http 307")),
        (.status("400 Bad Request"), .retry(after: nil, reason: "http 400")),
        (.status("404 Not Found"), .retry(after: nil, reason: "http 404")),
        (.status("429 Too Many", headers: "retry-after: 120\r\n"), .retry(after: .seconds(120), reason: "http 429")),
        (
            .status("503 No", headers: "Retry-After: 1000000000000\r\n"),
            .retry(after: .seconds(86_400), reason: "http 503")
        ),
        (.status("503 No", headers: "Retry-After: -5\r\n"), .retry(after: nil, reason: "http 503")),
        (
            .status("503 No", headers: "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
            .retry(after: .zero, reason: "http 503")
        ),
        (.status("500 Oops"), .retry(after: nil, reason: "http 500")),
        (.text("garbage\r\n\r\n"), .retry(after: nil, reason: "malformed answer")),
        (.close, .retry(after: nil, reason: "connection closed")),
        (.status("200 OK"), .delivered(id: nil)),
        (.text("HTTP/1.1 204 No Content\r\n\r\n"), .delivered(id: nil)),
        (.status("299 Fine"), .delivered(id: nil)),
    ])
    func `turns each answer into an outcome`(answer: ScriptedServer.Answer, expected: Outcome) async throws {
        try await ScriptedServer.answering({ _ in answer }) { server, port in
            let group = DeliveryGroup.example(to: [.webhook(url: "http://127.0.0.1:\(port)/")])
            let outcomes = try await provider().outcomes(of: group)
            #expect(outcomes == [expected])
            #expect(server.requests.count == 1)
        }
    }

    @Test func `goes on in the trace of the event, each attempt as a step of its own`() async throws {
        try await ScriptedServer.answering({ _ in .status("200 OK") }) { server, port in
            var group = DeliveryGroup.example(to: [.webhook(url: "http://127.0.0.1:\(port)/")])
            _ = try await provider().outcomes(of: group)
            let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
            group.cause.trace = trace
            for _ in 0..<2 { _ = try await provider().outcomes(of: group) }
            let headers = server.requests.map { $0.head.headers["traceparent"] }
            #expect(headers.first == [] && headers.count == 3)
            let sent = headers.flatMap(\.self)
            #expect(sent.count == 2 && Set(sent + [trace.header]).count == 3)
            for header in sent {
                #expect(header.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") && header.hasSuffix("-01"))
                #expect(TraceContext(header)?.header == header)
            }
        }
    }

    @Test func `gives up on a receiver that never answers`() async throws {
        try await ScriptedServer.answering({ _ in .nothing }) { _, port in
            let group = DeliveryGroup.example(to: [.webhook(url: "http://127.0.0.1:\(port)/")])
            let outcomes = try await provider(deadline: .milliseconds(50)).outcomes(of: group)
            // It may be over before a slow machine has sent anything.
            #expect([true, false].contains { outcomes == [.timedOut(reason: "timeout", wasSent: $0)] })
        }
    }

    @Test func `tells what did not get as far as a receiver from what it did not answer`() async throws {
        var port = 0
        try await ScriptedServer.answering({ _ in .ok }) { port = $1 }
        let gone = DeliveryGroup.example(to: [.webhook(url: "http://127.0.0.1:\(port)/")])
        let refused = Outcome.retry(after: nil, reason: "connection refused", wasSent: false)
        #expect(try await provider().outcomes(of: gone) == [refused])
        let unknown = DeliveryGroup.example(to: [.webhook(url: "http://receiver.test/")])
        let notFound = Outcome.retry(after: nil, reason: "name not found", wasSent: false)
        #expect(try await provider().outcomes(of: unknown) == [notFound])
    }

    @Test(arguments: [
        ("http://10.0.0.1/", "blocked address"), ("http://[::1]/", "blocked address"),
        ("http://127.0.0.1:22/", "blocked port"), ("ftp://127.0.0.1/", "blocked scheme"),
        ("http://0x7f000001/", "invalid url"), ("http://user@127.0.0.1/", "invalid url"), ("", "invalid url"),
    ])
    func `gives up for good on a URL that is forbidden`(url: String, reason: String) async throws {
        let expected = Outcome.unsendable(reason: reason, isOfDevice: true)
        #expect(try await provider().outcomes(of: .example(to: [.webhook(url: url)])) == [expected])
    }

    @Test func `leaves the lane alone when there is no secret`() async throws {
        let group = DeliveryGroup.example(to: [
            .webhook(url: "http://127.0.0.1:1/"), .webhook(url: "http://127.0.0.1:1/"),
        ])
        let expected = Outcome.deferLane(after: nil, reason: "no signing secret")
        #expect(try await provider(secrets: []).outcomes(of: group) == [expected, expected])
    }

    @Test func `leaves the lane alone for a moment when the secret cannot be read`() async throws {
        let unreadable = RememberedCredentials<[WebhookSecret]> { _, _ in throw OutboundError.timedOut }
        let provider = WebhookProvider(client: try .test(), secrets: unreadable, version: "1")
        let group = DeliveryGroup.example(to: [.webhook(url: "http://127.0.0.1:1/")])
        let expected = Outcome.deferLane(after: .seconds(5), reason: "credential not readable", isOurs: true)
        #expect(await provider.outcomes(of: group) == [expected])
    }

    @Test func `does not send to the address of another provider`() async throws {
        let expected = Outcome.unsendable(reason: "not a webhook", isOfDevice: true)
        #expect(try await provider().outcomes(of: .example(to: [.log])) == [expected])
    }

    @Test func `signs with every secret, and anew on each attempt, under the same id with the same body`() async throws
    {
        let time = Mutex(Timestamp(milliseconds: 1_763_632_800_999))
        try await ScriptedServer.answering {
            $0.connection == 0 ? .status("503 No", headers: "connection: close\r\n") : .ok
        } during: { server, port in
            let provider = try provider(secrets: [Self.key, Self.oldKey], clock: WallClock { time.withLock { $0 } })
            let group = DeliveryGroup.example(to: [.webhook(url: "http://127.0.0.1:\(port)/hook")])
            #expect(await provider.outcomes(of: group) == [.retry(after: nil, reason: "http 503")])
            time.withLock { $0 = $0 + .seconds(5) }
            #expect(await provider.outcomes(of: group) == [.delivered(id: nil)])

            let (first, second) = (server.requests[0], server.requests[1])
            for request in [first, second] {
                let expected = [
                    try signature(of: request, key: Self.key), try signature(of: request, key: Self.oldKey),
                ]
                #expect(request.head.headers["webhook-signature"] == [expected.joined(separator: " ")])
            }
            let id = NotificationID(event: .example, device: DeviceID(trusted: "d-0")).description
            #expect(first.head.headers["webhook-id"] == [id])
            #expect(second.head.headers["webhook-id"] == [id])
            #expect(first.head.headers["webhook-timestamp"] == ["1763632800"])
            #expect(second.head.headers["webhook-timestamp"] == ["1763632805"])
            #expect(first.body == second.body)
        }
    }

    @Test func `names itself and the type of the body`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            _ = try await provider().outcomes(of: .example(to: [.webhook(url: "http://127.0.0.1:\(port)/")]))
            let headers = try #require(server.requests.first).head.headers
            #expect(headers["content-type"] == ["application/json"])
            #expect(headers["user-agent"] == ["Carillon/1.2.3"])
        }
    }

    @Test func `sends to no more devices at a time than it may, over as many connections`() async throws {
        try await ScriptedServer.answering({ _ in .ok }) { server, port in
            let addresses = Array(repeating: DeviceAddress.webhook(url: "http://127.0.0.1:\(port)/"), count: 500)
            let outcomes = try await provider(concurrency: 4).outcomes(of: .example(to: addresses))
            #expect(outcomes == Array(repeating: .delivered(id: nil), count: 500))
            #expect(server.connectionCount <= 4)
            #expect(Set(server.requests.compactMap { $0.head.headers.first(name: "webhook-id") }).count == 500)
        }
    }

    @Test func `reports the quick before the slow`() async throws {
        try await ScriptedServer.answering({ $0.head.uri == "/slow" ? .nothing : .ok }) { server, port in
            let urls = ["slow", "quick"].map { DeviceAddress.webhook(url: "http://127.0.0.1:\(port)/\($0)") }
            let group = DeliveryGroup.example(to: urls)
            let provider = try provider(deadline: .seconds(3_600))
            let (reports, continuation) = AsyncStream.makeStream(of: DeviceID.self)
            let task = Task { await provider.send(group) { target, _ in continuation.yield(target.deviceID) } }
            #expect(await reports.first { _ in true } == DeviceID(trusted: "d-1"))
            for _ in 0..<2 { _ = await server.nextRequest() }
            await server.closeConnections()
            await task.value
        }
    }

    @Test func `begins nothing more when it is cancelled, and waits for what has been sent`() async throws {
        let start = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        try await ScriptedServer.answering { _ in
            .textAfter(start.futureResult, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        } during: { server, port in
            let group = DeliveryGroup.example(
                to: Array(repeating: .webhook(url: "http://127.0.0.1:\(port)/"), count: 10)
            )
            let provider = try provider(deadline: .seconds(3_600), concurrency: 2)
            let task = Task { await provider.outcomes(of: group) }
            for _ in 0..<2 { _ = await server.nextRequest() }
            task.cancel()
            start.succeed()
            let outcomes = await task.value
            #expect(outcomes.compactMap(\.self) == [.delivered(id: nil), .delivered(id: nil)])
            #expect(server.requests.count == 2)
        }
    }

    @Test func `sends nothing more once the secrets have changed, and leaves the rest for the new ones`() async throws {
        let secrets = try [Self.key, Self.oldKey].map(secret)
        let current = Mutex(secrets[0])
        let remembered = RememberedCredentials<[WebhookSecret]>(lifetime: .zero) { _, _ in [current.withLock { $0 }] }
        let provider = WebhookProvider(client: try .test(), secrets: remembered, version: "1", concurrency: 1)
        let count = Mutex(0)
        try await ScriptedServer.answering { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 3 {
                current.withLock { $0 = secrets[1] }
                remembered.forget(in: NetworkID(trusted: "acme"))
            }
            return .ok
        } during: { server, port in
            let group = DeliveryGroup.example(
                to: Array(repeating: .webhook(url: "http://127.0.0.1:\(port)/"), count: 10)
            )
            #expect(await provider.outcomes(of: group).compactMap(\.self).count == 3)
            #expect(server.requests.count == 3)
            #expect(await provider.outcomes(of: group).compactMap(\.self).count == 10)
            let request = try #require(server.requests.last)
            let expected = try signature(of: request, key: Self.oldKey)
            #expect(request.head.headers["webhook-signature"] == [expected])
        }
    }
}
