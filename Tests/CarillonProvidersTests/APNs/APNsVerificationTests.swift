import CarillonCore
import NIOHTTP1
import Testing

@testable import CarillonProviders
@testable import PushHTTP

@Suite struct APNsVerificationTests {
    private let shared = TestTokens()

    private func verdict(
        in environment: DeviceAddress.APNsEnvironment = .production,
        _ transport: RecordingTransport
    ) async throws -> CredentialVerdict {
        let verification = APNsVerification(connections: APNsConnections { _ in transport }, tokens: shared.source())
        return await verification.verdict(on: try shared.credential(), appID: "com.acme.chat", environment: environment)
    }

    @Test(
        arguments: [
            (403, "InvalidProviderToken", .refused(reason: "InvalidProviderToken")),
            (403, "ExpiredProviderToken", .refused(reason: "ExpiredProviderToken")),
            (403, "BadCertificateEnvironment", .refused(reason: "BadCertificateEnvironment")),
            (403, "UnrelatedKeyIdInToken", .refused(reason: "UnrelatedKeyIdInToken")),
            (403, nil, .refused(reason: "http 403")), (401, nil, .refused(reason: "http 401")),
            (400, "TopicDisallowed", .refused(reason: "TopicDisallowed")),
            (400, "BadDeviceToken", .accepted), (400, "DeviceTokenNotForTopic", .accepted),
            (400, "BadPriority", .accepted), (410, "Unregistered", .accepted), (200, nil, .accepted),
            // What a proxy might say.
            (400, nil, .unknown(reason: "http 400")), (302, nil, .unknown(reason: "http 302")),
            (404, nil, .unknown(reason: "http 404")),
            (429, "TooManyProviderTokenUpdates", .unknown(reason: "TooManyProviderTokenUpdates")),
            (503, "Shutdown", .unknown(reason: "Shutdown")),
        ] as [(Int, String?, CredentialVerdict)]
    )
    func `each answer says something of the credential`(
        status: Int,
        reason: String?,
        expected: CredentialVerdict
    ) async throws {
        let transport = RecordingTransport { _ in .answer(status, reason.map { #"{"reason":"\#($0)"}"# } ?? "<html>") }
        #expect(try await verdict(transport) == expected)
    }

    @Test func `no answer says nothing of the credential`() async throws {
        #expect(
            try await verdict(RecordingTransport { _ in throw OutboundError.timedOut }) == .unknown(reason: "timeout")
        )
        #expect(try await verdict(RecordingTransport { _ in throw CancellationError() }) == .unknown(reason: "failed"))
        shared.fail(.connectionRefused)
        let transport = RecordingTransport { _ in .answer(200) }
        #expect(try await verdict(transport) == .unknown(reason: "connection refused"))
        #expect(transport.requests.isEmpty)
    }

    @Test(
        arguments: [
            (.production, "https://api.push.apple.com"), (.sandbox, "https://api.sandbox.push.apple.com"),
        ] as [(DeviceAddress.APNsEnvironment, String)]
    )
    func `the request is for nobody, with the token that is shared`(
        environment: DeviceAddress.APNsEnvironment,
        origin: String
    ) async throws {
        let transport = RecordingTransport { _ in .answer(400, #"{"reason":"BadDeviceToken"}"#) }
        #expect(try await verdict(in: environment, transport) == .accepted)
        let request = try #require(transport.requests.first)
        #expect(request.url == "\(origin)/3/device/" + String(repeating: "0", count: 64))
        #expect(request.headers["apns-topic"] == ["com.acme.chat"])
        #expect(request.headers["authorization"] == shared.stored.values.map { "bearer " + $0.value })
    }
}

@Suite struct APNsMessageTests {
    private static let device = DeviceAddress.apns(token: "00ff", appID: "com.acme.chat", environment: .production)

    @Test func `has the payload of the contract`() {
        let message = APNsMessage(.example(to: [Self.device]))
        let expected =
            #"{"aps":{"alert":{"title":"Bob","body":"Bob has joined General"},"sound":"default","thread-id":"general"},"#
            + #""eventId":"01020304-0506-7008-800a-0b0c0d0e0f10","eventType":"member.joined","networkId":"acme","#
            + #""channelId":"general"}"#
        #expect(String(decoding: message.payload, as: UTF8.self) == expected)
        // 24 hours after acceptance.
        #expect(message.expiration == "1763719200")
    }

    @Test func `names a message and its sender beside the channel`() throws {
        let message = APNsMessage(.example(to: [Self.device]).telling(of: "m-1", from: "bob"))
        let text = String(decoding: message.payload, as: UTF8.self)
        #expect(text.hasSuffix(#""channelId":"general","messageId":"m-1","senderId":"bob"}"#))
    }

    @Test func `cuts the text and never an id`() throws {
        let group = DeliveryGroup.example(to: [Self.device], body: String(repeating: "x", count: 9_000))
        let message = APNsMessage(group.withLongestIDs)
        #expect(message.fits && message.payload.count <= 4_096)
        guard case .object(let object) = try JSONValue(parsing: message.payload) else {
            Issue.record("not the payload")
            return
        }
        let name = JSONValue.string(String(repeating: "\"", count: 256))
        for key in ["networkId", "channelId", "messageId", "senderId"] { #expect(object[key] == name, "\(key)") }
    }

    @Test(arguments: ["a", "é", "\u{301}", "👨‍👩‍👧‍👦", "\"", "\n", "🇹🇭", "\\"])
    func `is cut to 4,096 bytes between characters`(character: String) throws {
        for count in [3_600, 4_000, 20_000] {
            let body = String(repeating: character, count: count / character.utf8.count)
            let message = APNsMessage(.example(to: [Self.device], body: body))
            #expect(message.payload.count <= 4_096)
            guard case .object(let object) = try JSONValue(parsing: message.payload),
                case .object(let aps) = object["aps"], case .object(let alert) = aps["alert"],
                case .string(let read) = alert["body"]
            else {
                Issue.record("not the payload")
                return
            }
            // The parser bounds runs of combining marks.
            let text = String(String.UnicodeScalarView(read.unicodeScalars.filter { $0 != "\u{34F}" }))
            let kept = text.hasSuffix("…") ? String(text.dropLast()) : text
            #expect(body.utf8.starts(with: kept.utf8))
            #expect(message.payload.count > 4_000 || text == body)
        }
    }
}
