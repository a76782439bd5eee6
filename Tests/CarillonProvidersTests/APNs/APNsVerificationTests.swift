import CarillonCore
import Crypto
import NIOHTTP1
import Testing

@testable import CarillonProviders

@Suite struct APNsVerificationTests {
    private let shared = TestTokens()

    private func credential() throws -> APNsCredential {
        let key = P256.Signing.PrivateKey()
        return try APNsCredential(
            reading: ["teamId": "TEAM123456", "keyId": "KEY1234567", "privateKey": .string(key.pemRepresentation)],
            appID: "com.acme.chat",
            now: shared.now
        )
    }

    private func verdict(
        in environment: DeviceAddress.APNsEnvironment = .production,
        _ transport: RecordingTransport
    ) async throws -> APNsVerification.Verdict {
        let verification = APNsVerification(
            connections: APNsConnections { _ in transport },
            tokens: shared.source()
        )
        return await verification.verdict(on: try credential(), appID: "com.acme.chat", environment: environment)
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
        ] as [(Int, String?, APNsVerification.Verdict)]
    )
    func `each answer says something of the credential`(
        status: Int,
        reason: String?,
        expected: APNsVerification.Verdict
    ) async throws {
        let transport = RecordingTransport { _ in .answer(status, reason.map { #"{"reason":"\#($0)"}"# } ?? "<html>") }
        #expect(try await verdict(transport) == expected)
    }

    @Test func `no answer says nothing of the credential`() async throws {
        #expect(
            try await verdict(RecordingTransport { _ in throw OutboundError.timedOut }) == .unknown(reason: "timeout")
        )
        #expect(
            try await verdict(RecordingTransport { _ in throw CancellationError() }) == .unknown(reason: "failed")
        )
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
