import CarillonCore
import CarillonTesting
import CryptoExtras
import Foundation
import NIOHTTP1
import Synchronization
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct FCMTokenSourceTests {
    private let time = ManualTime(.example)

    private func source(_ transport: RecordingTransport, server: FCMServer = .google) -> FCMTokenSource {
        let start = ContinuousClock.now
        return FCMTokenSource(
            transport: transport,
            server: server,
            clock: time.clock,
            moment: { [time] in start + (time.clock.now() - .example) }
        )
    }

    /// Answers token after token: `t-1`, `t-2`, …
    private func numbering(expiresIn seconds: Int = 3_599) -> RecordingTransport {
        let count = Mutex(0)
        return RecordingTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .accessToken("t-\(number)", expiresIn: seconds)
        }
    }

    private func text(_ token: FCMAccessToken) -> String { token.value.reveal { $0 } }

    struct Failure: Sendable {
        var answer: OutboundResponse
        var expected: FCMTokenFailure

        static func refused(_ answer: OutboundResponse, _ reason: String) -> Failure {
            Failure(answer: answer, expected: .refused(reason: "token endpoint: \(reason)"))
        }

        static func unavailable(_ answer: OutboundResponse, _ reason: String, after seconds: Int? = nil) -> Failure {
            let wait = seconds.map { Duration.seconds($0) }
            return Failure(answer: answer, expected: .unavailable(after: wait, reason: "token endpoint: \(reason)"))
        }
    }

    static let failures: [Failure] = [
        .refused(
            .answer(400, #"{"error":"invalid_grant","error_description":"push@acme is unknown"}"#),
            "invalid_grant"
        ),
        .refused(.answer(401, #"{"error":"invalid_client"}"#), "invalid_client"),
        .refused(.answer(400, #"{"error":"Bad\r\nheader"}"#), "http 400"),
        .refused(.answer(403, "<html>no</html>"), "http 403"),
        .refused(.answer(404), "http 404"),
        .unavailable(.answer(408), "http 408"),
        .unavailable(.answer(429, headers: ["retry-after": "120"]), "http 429", after: 120),
        .unavailable(.answer(302, headers: ["location": "https://evil.example/"]), "http 302"),
        .unavailable(.answer(500), "http 500"),
        .unavailable(.answer(503, headers: ["retry-after": "1000000000000"]), "http 503", after: 86_400),
        .unavailable(.answer(200, "<html>login</html>"), "malformed answer"),
        .unavailable(.answer(200), "malformed answer"),
    ]

    @Test(arguments: failures)
    func `says why there is no token`(failure: Failure) async throws {
        let credential = try ServiceAccount.credential()
        let source = source(RecordingTransport { _ in failure.answer })
        await #expect(throws: failure.expected) { try await source.token(for: credential) }
        await #expect(throws: failure.expected) { try await source.fetch(credential) }
    }

    @Test
    func `a server that cannot be reached makes the lane wait, an address that is forbidden does not`() async throws {
        let credential = try ServiceAccount.credential()
        let timeout = source(RecordingTransport { _ in throw OutboundError.timedOut })
        await #expect(throws: FCMTokenFailure.unavailable(after: nil, reason: "token endpoint: timeout")) {
            try await timeout.token(for: credential)
        }
        let refusal = source(RecordingTransport { _ in throw EgressRefusal.address })
        await #expect(throws: FCMTokenFailure.refused(reason: "token endpoint: blocked address")) {
            try await refusal.token(for: credential)
        }
        #expect(
            FCMTokenFailure.unavailable(after: .seconds(7), reason: "x").outcome
                == .deferLane(after: .seconds(7), reason: "x")
        )
        #expect(FCMTokenFailure.refused(reason: "x").outcome == .misconfigured(reason: "x"))
    }

    @Test(arguments: [
        #"{"access_token":"a\r\nx-evil: 1","expires_in":3599,"token_type":"Bearer"}"#,
        #"{"access_token":"a b","expires_in":3599,"token_type":"Bearer"}"#,
        #"{"access_token":"","expires_in":3599,"token_type":"Bearer"}"#,
        #"{"access_token":7,"expires_in":3599,"token_type":"Bearer"}"#,
        #"{"access_token":"a","expires_in":0,"token_type":"Bearer"}"#,
        #"{"access_token":"a","expires_in":-5,"token_type":"Bearer"}"#,
        #"{"access_token":"a","expires_in":"soon","token_type":"Bearer"}"#,
        #"{"access_token":"a","expires_in":3599,"token_type":"MAC"}"#,
        #"{"expires_in":3599,"token_type":"Bearer"}"#, "[]", "null", "", "{",
        #"{"access_token":"\#(String(repeating: "a", count: 5_000))","expires_in":3599,"token_type":"Bearer"}"#,
    ])
    func `does not believe a token endpoint`(body: String) {
        #expect(FCMAccessToken(answer: Array(body.utf8), requestedAt: .example) == nil)
    }

    @Test(arguments: [(3_599, 3_599, 3_299), (100_000_000, 3_600, 3_300), (600, 600, 300), (60, 60, 30), (1, 1, 0)])
    func `renews five minutes before the end, or half way through a short life`(
        stated: Int,
        lifetime: Int,
        renewal: Int
    ) throws {
        let body = OutboundResponse.accessToken("a", expiresIn: stated).body
        let token = try #require(FCMAccessToken(answer: body, requestedAt: .example))
        #expect(token.expiresAt == Timestamp.example + .seconds(lifetime))
        #expect((token.renewAt - Timestamp.example).components.seconds == renewal)
    }

    @Test func `assumes a short life when none is stated`() throws {
        let token = try #require(FCMAccessToken(answer: Array(#"{"access_token":"a"}"#.utf8), requestedAt: .example))
        #expect(token.expiresAt == Timestamp.example + .seconds(600))
    }

    @Test func `signs what Google asks for, verifiable with the public key`() async throws {
        let transport = numbering()
        _ = try await source(transport).token(for: try ServiceAccount.credential())
        let request = try #require(transport.requests.first)
        #expect(request.url == "https://oauth2.googleapis.com/token")
        #expect(request.headers["content-type"] == ["application/x-www-form-urlencoded"])
        let form = String(decoding: request.body, as: UTF8.self)
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        try #require(form.hasPrefix(prefix))
        let parts = form.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        let decoded = parts.map { Base64URL.decode($0.utf8) ?? [] }
        #expect(try JSONValue(parsing: decoded[0]) == ["alg": "RS256", "typ": "JWT", "kid": "0a1b2c"])
        #expect(
            try JSONValue(parsing: decoded[1]) == [
                "iss": "push@acme-chat.iam.gserviceaccount.com",
                "scope": "https://www.googleapis.com/auth/firebase.messaging",
                "aud": "https://oauth2.googleapis.com/token",
                "iat": 1_763_632_800,
                "exp": 1_763_636_400,
            ]
        )
        let signature = _RSA.Signing.RSASignature(rawRepresentation: decoded[2])
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        let key = try ServiceAccount.key.get().publicKey
        #expect(key.isValidSignature(signature, for: signed, padding: .insecurePKCS1v1_5))
    }

    @Test func `asks once, however many need a token at the same time`() async throws {
        let answer = Gate()
        let asked = Gate(openingAfter: 500)
        let transport = RecordingTransport { _ in
            await answer.wait()
            return .accessToken("t")
        }
        // The source reads the clock first thing, so that a reading says that somebody has come.
        let source = FCMTokenSource(
            transport: transport,
            clock: WallClock {
                asked.knock()
                return .example
            }
        )
        let credential = try ServiceAccount.credential()
        let tokens = try await withThrowingTaskGroup(of: String.self) { tasks in
            for _ in 0..<500 { tasks.addTask { text(try await source.token(for: credential)) } }
            await asked.wait()
            answer.knock()
            return try await tasks.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens == ["t"])
        #expect(transport.requests.count == 1)
    }

    @Test func `one who gives up does not spoil it for the others`() async throws {
        let answer = Gate()
        let asked = Gate()
        let source = source(
            RecordingTransport { _ in
                asked.knock()
                await answer.wait()
                try Task.checkCancellation()
                return .accessToken("t")
            }
        )
        let credential = try ServiceAccount.credential()
        let first = Task { try await source.token(for: credential) }
        await asked.wait()
        let second = Task { try await source.token(for: credential) }
        first.cancel()
        // At once, although there is no answer yet.
        await #expect(throws: CancellationError.self) { try await first.value }
        answer.knock()
        #expect(text(try await second.value) == "t")
    }

    @Test func `keeps a token until it is to be renewed, and uses it until the next one is there`() async throws {
        let transport = numbering()
        let source = source(transport)
        let credential = try ServiceAccount.credential()
        #expect(text(try await source.token(for: credential)) == "t-1")
        time.advance(by: .seconds(3_298))
        #expect(text(try await source.token(for: credential)) == "t-1")
        #expect(transport.requests.count == 1)
        time.advance(by: .seconds(1))
        #expect(text(try await source.token(for: credential)) == "t-1", "the old one still works")
        var token = "t-1"
        while token == "t-1" {
            await Task.yield()
            token = text(try await source.token(for: credential))
        }
        #expect(token == "t-2")
        #expect(transport.requests.count == 2)
    }

    @Test func `does not use a token beyond its end`() async throws {
        let source = source(numbering())
        let credential = try ServiceAccount.credential()
        _ = try await source.token(for: credential)
        time.advance(by: .seconds(3_599))
        #expect(text(try await source.token(for: credential)) == "t-2")
    }

    @Test func `goes on with the old token while no new one can be had`() async throws {
        let transport = RecordingTransport { [time] request in
            if time.clock.now() == .example { return .accessToken("old") }
            throw OutboundError.timedOut
        }
        let source = source(transport)
        let credential = try ServiceAccount.credential()
        _ = try await source.token(for: credential)
        time.advance(by: .seconds(3_400))
        #expect(text(try await source.token(for: credential)) == "old")
        time.advance(by: .seconds(300))
        await #expect(throws: FCMTokenFailure.self) { try await source.token(for: credential) }
    }

    @Test func `leaves the endpoint alone for a moment after a failure`() async throws {
        let transport = RecordingTransport { _ in .answer(503) }
        let source = source(transport)
        let credential = try ServiceAccount.credential()
        for _ in 0..<5 { _ = try? await source.token(for: credential) }
        #expect(transport.requests.count == 1)
        time.advance(by: .seconds(5))
        for _ in 0..<5 { _ = try? await source.token(for: credential) }
        #expect(transport.requests.count == 2)
        source.forgetFailures()
        _ = try? await source.token(for: credential)
        #expect(transport.requests.count == 3, "somebody has stored the credential once more")
    }

    @Test func `replaces a token that was refused, once for all who were refused with it`() async throws {
        let transport = numbering()
        let source = source(transport)
        let credential = try ServiceAccount.credential()
        let refused = try await source.token(for: credential).value
        for _ in 0..<10 {
            #expect(text(try await source.token(for: credential, insteadOf: refused)) == "t-2")
        }
        #expect(transport.requests.count == 2)
    }

    @Test func `has a token for each account, and one for all projects and apps of an account`() async throws {
        let transport = numbering()
        let source = source(transport)
        _ = try await source.token(for: try ServiceAccount.credential())
        _ = try await source.token(for: try ServiceAccount.credential([("project_id", "other")]))
        #expect(transport.requests.count == 1)
        _ = try await source.token(for: try ServiceAccount.credential([("client_email", "other@example.com")]))
        #expect(transport.requests.count == 2)
    }

    @Test func `shows an assertion to nobody that is not permitted, even if the credential once was`() async throws {
        let simulator = try #require(FCMServer(url: "https://simulator.example"))
        let document = try ServiceAccount.document([("token_uri", "https://simulator.example/token")])
        let credential = try FCMCredential(reading: document, for: simulator)
        let transport = numbering()
        await #expect(throws: FCMTokenFailure.refused(reason: "token_uri not permitted")) {
            try await source(transport).token(for: credential)
        }
        #expect(transport.requests.isEmpty)
        _ = try await source(transport, server: simulator).token(for: credential)
        #expect(transport.requests.map(\.url) == ["https://simulator.example/token"])
    }
}
