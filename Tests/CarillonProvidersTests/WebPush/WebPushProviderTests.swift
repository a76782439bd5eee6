import CarillonTesting
import CarillonCore
import NIOHTTP1
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct WebPushProviderTests {
    private let time = ManualTime(.example)
    private let credential = Result { try WebPushCredential.example() }

    private func provider(
        _ transport: RecordingTransport,
        credentials: RememberedCredentials<WebPushCredential>.Read? = nil,
        concurrency: Int = 100
    ) throws -> WebPushProvider {
        let credential = try credential.get()
        return WebPushProvider(
            transport: transport,
            credentials: RememberedCredentials(
                read: credentials ?? { network, _ in network == NetworkID(trusted: "acme") ? credential : nil }
            ),
            version: "1.2.3",
            clock: time.clock,
            concurrency: concurrency
        )
    }

    private func answering(_ status: Int, _ body: String = "", headers: HTTPHeaders = [:]) -> RecordingTransport {
        RecordingTransport { _ in .answer(status, body, headers: headers) }
    }

    private func group(_ browsers: [TestBrowser], body: String = "Bob has joined General") -> DeliveryGroup {
        .example(to: browsers.map(\.address), body: body)
    }

    @Test func `sends what the RFCs ask for`() async throws {
        let browser = TestBrowser(endpoint: "https://Push.Example:8443/send/abc?x=1")
        let transport = answering(201, headers: ["location": "https://push.example/m/1"])
        let group = group([browser])
        time.advance(by: .seconds(60))
        #expect(try await provider(transport).outcomes(of: group) == [.delivered(id: nil)])
        let request = try #require(transport.requests.first)
        #expect(request.url == browser.endpoint)
        #expect(request.headers["content-encoding"] == ["aes128gcm"])
        #expect(request.headers["content-type"] == ["application/octet-stream"])
        #expect(request.headers["ttl"] == ["86340"])
        #expect(request.headers["urgency"] == ["high"])
        #expect(request.headers["user-agent"] == ["Carillon/1.2.3"])
        let id = NotificationID(event: .example, device: "d-0")
        #expect(request.headers["topic"] == [WebPushMessage.topic(for: id)])
        let vapid = try #require(VAPIDHeader(request.headers.first(name: "authorization") ?? ""))
        #expect(vapid.claims["aud"] == "https://push.example:8443")
        #expect(Base64URL.encode(vapid.publicKey) == (try credential.get().publicKey))
        #expect(try browser.read(request.body) == WebPushMessage(group).plaintext(for: id))
    }

    @Test(arguments: [
        ("web.push.apple.com", "orders-update", false), ("web.push.apple.com", "orders-updates", true),
        ("push.example", "orders-update", true), ("notpush.apple.com", "orders-update", true),
    ])
    func `Apple gets no topic that is no base64url of whole bytes`(host: String, topic: String, isKept: Bool)
        async throws
    {
        let transport = answering(201)
        var group = group([TestBrowser(endpoint: "https://\(host)/send/1")])
        group.sent.push.content = PushContent(parts: [.webpush: RawPart(headers: ["topic": topic])])
        #expect(try await provider(transport).outcomes(of: group) == [.delivered(id: nil)])
        let sent = try #require(transport.requests.first?.headers.first(name: "topic"))
        #expect((sent == topic) == isKept && sent.utf8.count % 4 != (isKept ? 4 : 1) && sent.utf8.count <= 32)
    }

    @Test(arguments: [
        ("db5p.notify.windows.com", 0, true), ("db5p.notify.windows.com", 60, false), ("push.example", 0, false),
    ])
    func `Windows keeps nothing that is for now only`(host: String, timeToLive: Int, forbidsKeeping: Bool) async throws
    {
        let transport = answering(201)
        var group = group([TestBrowser(endpoint: "https://\(host)/send/1")])
        group.sent.push.content = PushContent(parts: [.webpush: RawPart(headers: ["ttl": "\(timeToLive)"])])
        #expect(try await provider(transport).outcomes(of: group) == [.delivered(id: nil)])
        let headers = try #require(transport.requests.first?.headers)
        #expect(headers["ttl"] == ["\(timeToLive)"])
        #expect(headers["x-wns-cache-policy"] == (forbidsKeeping ? ["no-cache"] : []))
    }

    @Test func `each browser can read its own message and only that`() async throws {
        let browsers = (0..<200).map { TestBrowser(endpoint: "https://push.example/\($0)") }
        let transport = answering(201)
        let group = group(browsers)
        #expect(try await provider(transport).outcomes(of: group) == Array(repeating: .delivered(id: nil), count: 200))
        #expect(transport.requests.count == 200)
        for request in transport.requests {
            let index = try #require(browsers.firstIndex { $0.endpoint == request.url })
            let id = NotificationID(event: .example, device: group.targets[index].deviceID)
            #expect(try browsers[index].read(request.body) == WebPushMessage(group).plaintext(for: id))
            #expect(throws: (any Error).self) { try browsers[(index + 1) % 200].read(request.body) }
        }
        #expect(Set(transport.requests.compactMap { $0.headers.first(name: "authorization") }).count == 1)
    }

    @Test
    func `the same notification has the same topic and text on every attempt, but not the same bytes`() async throws {
        let browser = TestBrowser()
        let transport = answering(503)
        let provider = try provider(transport)
        var group = group([browser])
        _ = await provider.outcomes(of: group)
        group.attempt += 1
        _ = await provider.outcomes(of: group)
        let (first, second) = (transport.requests[0], transport.requests[1])
        #expect(first.headers["topic"] == second.headers["topic"])
        #expect(first.body != second.body)
        #expect(try browser.read(first.body) == browser.read(second.body))
    }

    @Test(arguments: ["http://127.0.0.1:9/a", "http://localhost/a", "http://[::1]:9/a"])
    func `does without TLS on the machine itself`(endpoint: String) async throws {
        let transport = answering(201)
        let outcomes = try await provider(transport).outcomes(of: group([TestBrowser(endpoint: endpoint)]))
        #expect(outcomes == [.delivered(id: nil)])
        #expect(transport.requests.map(\.url) == [endpoint])
    }

    @Test(arguments: [
        ("http://127.0.0.1.example/1", "blocked scheme"), ("http://128.0.0.1/1", "blocked scheme"),
        ("http://push.example/1", "blocked scheme"), ("ftp://push.example/", "blocked scheme"), ("", "invalid url"),
        ("https://user@push.example/", "invalid url"), ("https://push.example:22/", "blocked port"),
        ("https://0x7f000001/", "invalid url"),
    ])
    func `gives up for good on an endpoint that is forbidden`(endpoint: String, reason: String) async throws {
        let transport = answering(201)
        let outcomes = try await provider(transport).outcomes(of: group([TestBrowser(endpoint: endpoint)]))
        #expect(outcomes == [.unsendable(reason: reason, isOfDevice: true)])
        #expect(transport.requests.isEmpty)
    }

    @Test func `gives up for good where the guard refuses the address`() async throws {
        let transport = RecordingTransport { _ in throw EgressRefusal.address }
        let expected = Outcome.unsendable(reason: "blocked address", isOfDevice: true)
        #expect(try await provider(transport).outcomes(of: group([TestBrowser()])) == [expected])
    }

    @Test func `gives up for good on keys that are no keys, and on other providers' devices`() async throws {
        let transport = answering(201)
        let addresses: [DeviceAddress] = [
            .webpush(endpoint: "https://push.example/", p256dh: "AAAA", auth: TestBrowser().auth),
            .webpush(endpoint: "https://push.example/", p256dh: TestBrowser().p256dh, auth: "AAAA"),
            .log,
        ]
        #expect(
            try await provider(transport).outcomes(of: .example(to: addresses)) == [
                .unsendable(reason: "invalid subscription keys", isOfDevice: true),
                .unsendable(reason: "invalid subscription keys", isOfDevice: true),
                .unsendable(reason: "not a Web Push subscription", isOfDevice: true),
            ]
        )
        #expect(transport.requests.isEmpty)
    }

    @Test func `sends a shorter text at once to a service that finds it too long`() async throws {
        let browser = TestBrowser()
        let transport = RecordingTransport { .answer($0.body.count > 2_744 ? 413 : 201) }
        let group = group([browser], body: String(repeating: "word ", count: 2_000))
        #expect(try await provider(transport).outcomes(of: group) == [.delivered(id: nil)])
        #expect(transport.requests.map(\.body.count).map { $0 > 2_744 } == [true, false])
        #expect(transport.requests[0].body.count <= 4_096)
        let text = String(decoding: try browser.read(transport.requests[1].body), as: UTF8.self)
        #expect(text.contains("…"))
        #expect(transport.requests[0].headers["topic"] == transport.requests[1].headers["topic"])
    }

    @Test(arguments: [("short", 1), (String(repeating: "long ", count: 2_000), 2)])
    func `does not send again what cannot be shorter`(text: String, requests: Int) async throws {
        let transport = answering(413)
        let outcomes = try await provider(transport).outcomes(of: group([TestBrowser()], body: text))
        #expect(outcomes == [.bug(reason: "http 413")])
        #expect(transport.requests.count == requests)
    }

    @Test func `one subscription that is refused again among working ones is set aside`() async throws {
        let transport = RecordingTransport { .answer($0.url.hasSuffix("/stale") ? 403 : 201) }
        let provider = try provider(transport, concurrency: 1)
        let browsers = ["1", "stale", "2"].map { TestBrowser(endpoint: "https://push.example/\($0)") }
        let (group, reason) = (group(browsers), "http 403")
        for expected in [Outcome.retry(after: .seconds(60), reason: reason), .quarantine(reason: reason)] {
            #expect(await provider.outcomes(of: group) == [.delivered(id: nil), expected, .delivered(id: nil)])
        }
    }

    @Test func `when everybody is refused it is our key, and no device suffers for it`() async throws {
        let transport = answering(403, #"{"reason":"BadJwtToken"}"#)
        let provider = try provider(transport, concurrency: 1)
        let outcomes = await provider.outcomes(
            of: group((0..<50).map { TestBrowser(endpoint: "https://push.example/\($0)") })
        )
        let reason = "http 403 BadJwtToken"
        let unclear = Array(repeating: Outcome.retry(after: .seconds(60), reason: reason), count: 9)
        #expect(outcomes == unclear + Array(repeating: .misconfigured(reason: reason), count: 41))
        #expect(transport.requests.count == 10)
        let tokens = transport.requests.compactMap { $0.headers.first(name: "authorization") }
        #expect(Set(tokens).count == 10, "a refused token is not sent again")
    }

    @Test func `many limits in a row stop the group`() async throws {
        let transport = answering(429, headers: ["retry-after": "120"])
        let outcomes = try await provider(transport, concurrency: 1)
            .outcomes(of: group((0..<50).map { TestBrowser(endpoint: "https://push.example/\($0)") }))
        let own = Array(repeating: Outcome.retry(after: .seconds(120), reason: "http 429"), count: 9)
        #expect(outcomes == own + Array(repeating: .deferLane(after: .seconds(120), reason: "http 429"), count: 41))
        #expect(transport.requests.count == 10)
    }

    @Test(arguments: [
        ("-1", 60), ("soon", 60), ("Sun, 06 Nov 1994 08:49:37 GMT", 10), ("1000000000000", 86_400), ("", 60),
    ])
    func `survives every Retry-After`(value: String, seconds: Int) async throws {
        let transport = answering(429, headers: ["retry-after": value])
        #expect(
            try await provider(transport).outcomes(of: group([TestBrowser()]))
                == [.retry(after: .seconds(seconds), reason: "http 429")]
        )
    }

    @Test(arguments: OutboundError.allCases, [true, false])
    func `tries again what got no answer, and tells whether it was sent`(
        error: OutboundError,
        wasSent: Bool
    ) async throws {
        let transport = RecordingTransport(isReached: wasSent) { _ in throw error }
        let isKnown = wasSent && error != .refused
        let outcome: Outcome =
            error == .timedOut
            ? .timedOut(reason: "timeout", wasSent: isKnown)
            : .retry(after: nil, reason: error.rawValue, wasSent: isKnown)
        #expect(try await provider(transport).outcomes(of: group([TestBrowser()])) == [outcome])
    }

    @Test(arguments: OutboundError.allCases)
    func `what was surely not processed was not sent, however the next try ends`(error: OutboundError) async throws {
        let transport = RecordingTransport { request in
            request.whenNotProcessed?()
            throw error
        }
        let outcome = Outcome(error, wasSent: false)
        #expect(try await provider(transport).outcomes(of: group([TestBrowser()])) == [outcome])
    }

    @Test func `leaves the lane alone without a credential, and for a moment when it cannot be read`() async throws {
        let transport = answering(201)
        let group = group([TestBrowser(), TestBrowser()])
        #expect(
            await (try provider(transport) { _, _ in nil }).outcomes(of: group)
                == Array(repeating: .deferLane(after: nil, reason: "no credential for webpush"), count: 2)
        )
        #expect(
            await (try provider(transport) { _, _ in throw OutboundError.timedOut }).outcomes(of: group)
                == Array(
                    repeating: .deferLane(after: .seconds(5), reason: "credential not readable", isOurs: true),
                    count: 2
                )
        )
        let anonymous = WebPushCredential()
        #expect(
            await (try provider(transport) { _, _ in anonymous }).outcomes(of: group)
                == Array(repeating: .deferLane(after: nil, reason: "no subject for webpush"), count: 2)
        )
        #expect(transport.requests.isEmpty)
    }

    @Test func `reports nothing for what a cancellation ends`() async throws {
        let started = Gate()
        let transport = RecordingTransport { _ in
            started.knock()
            await waitUntilCancelled()
            throw CancellationError()
        }
        let provider = try provider(transport, concurrency: 2)
        let group = group((0..<10).map { _ in TestBrowser() })
        let task = Task { await provider.outcomes(of: group) }
        await started.wait()
        task.cancel()
        #expect(await task.value == Array(repeating: nil, count: 10))
    }
}
