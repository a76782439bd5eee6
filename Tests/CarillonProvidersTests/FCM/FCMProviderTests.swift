import CarillonTesting
import CarillonCore
import NIOHTTP1
import Synchronization
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct FCMProviderTests {
    private static let ok = OutboundResponse.answer(200, #"{"name":"projects/acme-chat/messages/1"}"#)
    private static let delivered = Outcome.delivered(id: "projects/acme-chat/messages/1")
    private static let unauthenticated = OutboundResponse.answer(401, #"{"error":{"status":"UNAUTHENTICATED"}}"#)

    private let time = ManualTime(.example)

    private func group(_ count: Int = 1) -> DeliveryGroup {
        var group = DeliveryGroup.example(to: (0..<count).map { .fcm(token: "token-\($0)", appID: "com.acme.chat") })
        group.lane.appID = "com.acme.chat"
        return group
    }

    private func provider(
        _ transport: RecordingTransport,
        credentials: RememberedCredentials<FCMCredential>.Read? = nil,
        concurrency: Int = 100
    ) throws -> FCMProvider {
        let credential = try ServiceAccount.credential()
        return FCMProvider(
            transport: transport,
            tokens: FCMTokenSource(transport: transport, clock: time.clock),
            credentials: RememberedCredentials(
                read: credentials ?? { network, app in
                    network == NetworkID(trusted: "acme") && app == "com.acme.chat" ? credential : nil
                }
            ),
            version: "1.2.3",
            clock: time.clock,
            concurrency: concurrency
        )
    }

    /// Gives out tokens `t-1`, `t-2`, … and answers messages by `answer`, which is told the token.
    private func transport(_ answer: @Sendable @escaping (OutboundRequest, String) -> OutboundResponse)
        -> RecordingTransport
    {
        let count = Mutex(0)
        return RecordingTransport { request in
            if request.asksForToken {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .accessToken("t-\(number)")
            }
            return answer(request, request.headers.first(name: "authorization") ?? "")
        }
    }

    @Test func `posts each message to the project with token, type and name`() async throws {
        let transport = transport { _, _ in Self.ok }
        let group = group(2)
        #expect(try await provider(transport).outcomes(of: group) == [Self.delivered, Self.delivered])
        let messages = transport.requests.filter { !$0.asksForToken }
        #expect(messages.count == 2)
        for message in messages {
            #expect(message.url == "https://fcm.googleapis.com/v1/projects/acme-chat/messages:send")
            #expect(message.headers["authorization"] == ["Bearer t-1"])
            #expect(message.headers["content-type"] == ["application/json"])
            #expect(message.headers["user-agent"] == ["Carillon/1.2.3"])
        }
        let expected = group.targets.enumerated().map { index, target in
            FCMMessage(group).body(
                to: "token-\(index)",
                id: NotificationID(event: .example, device: target.deviceID),
                timeToLive: 86_400
            )
        }
        #expect(Set(messages.map(\.body)) == Set(expected))
    }

    @Test func `the time to live is what is left of it`() async throws {
        let transport = transport { _, _ in Self.ok }
        time.advance(by: .seconds(86_399))
        _ = try await provider(transport).outcomes(of: group())
        let body = String(decoding: try #require(transport.requests.last).body, as: UTF8.self)
        #expect(body.contains(#""ttl":"1s""#))
    }

    @Test
    func `an access token that is refused is replaced once for all, and the messages are sent again`() async throws {
        let transport = transport { _, token in token == "Bearer t-1" ? Self.unauthenticated : Self.ok }
        let outcomes = try await provider(transport).outcomes(of: group(500))
        #expect(outcomes == Array(repeating: Self.delivered, count: 500))
        #expect(transport.requests.count { $0.asksForToken } == 2)
    }

    @Test func `a new access token that is refused as well stops the lane`() async throws {
        let transport = transport { _, _ in Self.unauthenticated }
        let outcomes = try await provider(transport, concurrency: 1).outcomes(of: group(50))
        #expect(outcomes == Array(repeating: .misconfigured(reason: "401 UNAUTHENTICATED"), count: 50))
        #expect(transport.requests.count { !$0.asksForToken } == 2)
    }

    @Test func `the project's quota stops the group, a device's does not`() async throws {
        let project = transport { _, _ in .answer(429, headers: ["retry-after": "120"]) }
        let outcomes = try await provider(project, concurrency: 5).outcomes(of: group(100))
        #expect(outcomes == Array(repeating: .deferLane(after: .seconds(120), reason: "http 429"), count: 100))
        #expect(project.requests.count { !$0.asksForToken } <= 5)

        let body = #"{"error":{"status":"RESOURCE_EXHAUSTED","message":"Device message rate exceeded"}}"#
        let device = transport { _, _ in .answer(429, body) }
        #expect(
            try await provider(device, concurrency: 5).outcomes(of: group(100))
                == Array(repeating: .retry(after: .seconds(60), reason: "RESOURCE_EXHAUSTED"), count: 100)
        )
    }

    private static let mismatch = OutboundResponse.answer(
        403,
        #"{"error":{"status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/"#
            + #"google.firebase.fcm.v1.FcmError","errorCode":"SENDER_ID_MISMATCH"}]}}"#
    )

    @Test func `the service account of another project costs no device`() async throws {
        let transport = transport { _, _ in Self.mismatch }
        let outcomes = try await provider(transport, concurrency: 1).outcomes(of: group(50))
        let unclear = Outcome.retry(after: .seconds(60), reason: "SENDER_ID_MISMATCH")
        #expect(Array(outcomes.prefix(9)) == Array(repeating: unclear, count: 9))
        #expect(
            Array(outcomes.dropFirst(9))
                == Array(repeating: .misconfigured(reason: "403 SENDER_ID_MISMATCH"), count: 41)
        )
        #expect(transport.requests.count { !$0.asksForToken } == 10)
    }

    @Test func `a device of another project is unregistered where the others are not refused`() async throws {
        let transport = transport { request, _ in
            String(decoding: request.body, as: UTF8.self).contains(#""token-1""#) ? Self.mismatch : Self.ok
        }
        let provider = try provider(transport, concurrency: 1)
        let gone = Outcome.unregister(at: nil, reason: "SENDER_ID_MISMATCH")
        #expect(await provider.outcomes(of: group(3)) == [Self.delivered, gone, Self.delivered])
    }

    @Test func `a project without a key for iPhones goes on with the other devices`() async throws {
        let body =
            #"{"error":{"status":"UNAUTHENTICATED","details":[{"@type":"type.googleapis.com/"#
            + #"google.firebase.fcm.v1.FcmError","errorCode":"THIRD_PARTY_AUTH_ERROR"}]}}"#
        let transport = transport { request, _ in
            String(decoding: request.body, as: UTF8.self).contains("token-1") ? .answer(401, body) : Self.ok
        }
        let outcomes = try await provider(transport).outcomes(of: group(3))
        let waits = Outcome.retry(after: .seconds(900), reason: "THIRD_PARTY_AUTH_ERROR")
        #expect(outcomes == [Self.delivered, waits, Self.delivered])
        #expect(transport.requests.count { $0.asksForToken } == 1)
    }

    @Test(arguments: [(OutboundError.timedOut, true), (.tlsFailed, true), (.connectionClosed, false)])
    func `a lane waits when one after another cannot be sent`(error: OutboundError, waits: Bool) async throws {
        let transport = RecordingTransport { request in
            if request.asksForToken { return .accessToken("t-1") }
            throw error
        }
        let outcomes = try await provider(transport, concurrency: 1).outcomes(of: group(30))
        let retry = Outcome(error, wasSent: true)
        let rest = waits ? Outcome.deferLane(after: nil, reason: error.rawValue) : retry
        #expect(outcomes == Array(repeating: retry, count: 9) + Array(repeating: rest, count: 21))
    }

    @Test func `without an access token nothing is sent, and the lane waits`() async throws {
        let refused = RecordingTransport { _ in .answer(400, #"{"error":"invalid_grant"}"#) }
        #expect(
            try await provider(refused).outcomes(of: group(3))
                == Array(repeating: .misconfigured(reason: "token endpoint: invalid_grant"), count: 3)
        )
        let away = RecordingTransport { _ in throw OutboundError.connectionRefused }
        #expect(
            try await provider(away).outcomes(of: group(3))
                == Array(repeating: .deferLane(after: nil, reason: "token endpoint: connection refused"), count: 3)
        )
        #expect((refused.requests + away.requests).allSatisfy { $0.asksForToken })
    }

    @Test(arguments: OutboundError.allCases, [true, false])
    func `tries again what got no answer, and tells whether it was sent`(
        error: OutboundError,
        wasSent: Bool
    ) async throws {
        let transport = RecordingTransport(isReached: wasSent) { request in
            if request.asksForToken { return .accessToken("t") }
            throw error
        }
        let outcome = Outcome(error, wasSent: wasSent && error != .refused)
        #expect(try await provider(transport).outcomes(of: group()) == [outcome])
    }

    @Test func `leaves the lane alone without a credential, and for a moment when it cannot be read`() async throws {
        let transport = transport { _, _ in Self.ok }
        let none = try provider(transport) { _, _ in nil }
        #expect(
            await none.outcomes(of: group(2))
                == Array(repeating: .deferLane(after: nil, reason: "no credential for com.acme.chat"), count: 2)
        )
        let broken = try provider(transport) { _, _ in throw OutboundError.timedOut }
        #expect(
            await broken.outcomes(of: group(2))
                == Array(
                    repeating: .deferLane(after: .seconds(5), reason: "credential not readable", isOurs: true),
                    count: 2
                )
        )
        #expect(transport.requests.isEmpty)
    }

    @Test func `does not send to the address of another provider`() async throws {
        var group = DeliveryGroup.example(to: [.log])
        group.lane = Lane(networkID: group.lane.networkID, provider: .fcm, appID: "com.acme.chat")
        let expected = Outcome.unsendable(reason: "not an FCM device", isOfDevice: true)
        #expect(try await provider(transport { _, _ in Self.ok }).outcomes(of: group) == [expected])
    }

    @Test func `reports nothing for what a cancellation ends`() async throws {
        let started = Gate()
        let transport = RecordingTransport { request in
            if request.asksForToken { return .accessToken("t") }
            started.knock()
            await waitUntilCancelled()
            throw CancellationError()
        }
        let provider = try provider(transport, concurrency: 2)
        let task = Task { await provider.outcomes(of: group(10)) }
        await started.wait()
        task.cancel()
        #expect(await task.value == Array(repeating: nil, count: 10))
    }
}
