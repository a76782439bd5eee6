import CarillonCore
import CarillonProviders
import Crypto
import CryptoExtras
import Testing

@testable import carillon

@Suite struct CredentialChecksTests {
    private static let now = Timestamp(milliseconds: 1_795_521_600_000)  // 2026-11-24T12:00:00.000Z
    private static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    private func findings(
        _ credentials: [ProviderCredential],
        production: CredentialVerdict = .accepted,
        sandbox: CredentialVerdict = .accepted,
        google: FCMTokenFailure? = nil,
        sending: CredentialVerdict = .accepted
    ) async -> [Finding] {
        let checks = CredentialChecks(
            askAPNs: { $2 == .production ? production : sandbox },
            askFCM: { _ throws(FCMTokenFailure) in
                if let google { throw google }
                return sending
            },
            clock: WallClock { Self.now }
        )
        return await checks.findings(credentials)
    }

    private static func apns() throws -> ProviderCredential {
        let pem = P256.Signing.PrivateKey().pemRepresentation
        return try CredentialFormat.apns.read(
            ["teamId": "TEAM123456", "keyId": "KEY1234567", "privateKey": .string(pem)],
            "com.acme.chat",
            nil,
            now
        )
    }

    private static func fcm() throws -> ProviderCredential {
        let account: JSONValue = [
            "type": "service_account", "project_id": "acme-chat", "client_email": "push@acme.example",
            "private_key": .string(try rsaKey.get().pkcs8PEMRepresentation),
            "token_uri": .string(FCMServer.googleTokenURI),
        ]
        return try CredentialFormat.fcm().read(["serviceAccount": account], "app", nil, now)
    }

    @Test func `what Apple refuses fails, with what to do about it`() async throws {
        let refused = CredentialVerdict.refused(reason: "InvalidProviderToken")
        let found = await findings([try Self.apns()], production: refused, sandbox: refused)
        let words = "team id, key id and key do not belong together, or the key is revoked"
        #expect(
            found == [
                .fail("apns com.acme.chat", "production: Apple refuses it (InvalidProviderToken): \(words)"),
                .fail("apns com.acme.chat", "sandbox: Apple refuses it (InvalidProviderToken): \(words)"),
            ]
        )
    }

    @Test(
        arguments: [
            ("BadCertificateEnvironment", Finding.Verdict.warn), ("BadEnvironmentKeyIdInToken", .warn),
            ("BadCertificate", .fail), ("ExpiredProviderToken", .fail), ("UnrelatedKeyIdInToken", .fail),
            ("TopicDisallowed", .fail), ("Whatever", .fail),
        ]
    )
    func `what works in one environment only may be meant so`(reason: String, verdict: Finding.Verdict) async throws {
        let credential = try Self.apns()
        let one = await findings([credential], sandbox: .refused(reason: reason))
        #expect(one.map(\.verdict) == [.ok, verdict])
        let none = await findings(
            [credential],
            production: .unknown(reason: "timeout"),
            sandbox: .refused(reason: reason)
        )
        #expect(none.map(\.verdict) == [.warn, .fail])
        #expect(none[0].detail == "production: cannot tell, Apple's service: timeout")
    }

    @Test func `a service account is as good as Google says`() async throws {
        let credential = try Self.fcm()
        let unasked = await findings([credential], google: .uriNotPermitted)
        #expect(unasked.map(\.verdict) == [.fail])
        #expect(unasked[0].detail.hasPrefix("nobody was asked: "))
        let refused = await findings([credential], google: .refused(reason: "token endpoint: invalid_grant"))
        #expect(refused.map(\.verdict) == [.fail])
        #expect(refused[0].detail.hasPrefix("Google refuses push@acme.example (token endpoint: invalid_grant): "))
        let away = await findings([credential], google: .unavailable(after: nil, reason: "token endpoint: timeout"))
        #expect(away == [.warn("fcm app", "cannot tell, token endpoint: timeout")])
        #expect(await findings([credential]) == [.ok("fcm app", "Google lets push@acme.example send")])
        let disabled = await findings([credential], sending: .refused(reason: "SERVICE_DISABLED"))
        #expect(disabled.map(\.verdict) == [.fail])
        #expect(disabled[0].detail.contains("disabled in the project acme-chat"))
        #expect(await findings([credential], sending: .unknown(reason: "timeout")).map(\.verdict) == [.warn])
    }

    @Test func `a key pair without a subject sends nothing`() async throws {
        let format = CredentialFormat.webpush
        let initial = try #require(format.initial(Self.now))
        #expect(await findings([initial]).map(\.verdict) == [.fail])
        let named = try format.read(["subject": "mailto:ops@acme.example"], "", initial, Self.now)
        #expect(await findings([named]) == [.ok("webpush", "is signed for mailto:ops@acme.example")])
    }

    @Test(
        arguments: [
            (Duration.zero, Finding.Verdict.fail), (.seconds(-1), .fail), (.seconds(1), .warn),
            (.seconds(30 * 86_400 - 1), .warn), (.seconds(30 * 86_400), .ok),
        ]
    )
    func `a certificate is to be renewed in time`(left: Duration, verdict: Finding.Verdict) {
        let finding = CredentialChecks.certificate(until: Self.now + left, at: Self.now, "apns com.acme.chat")
        #expect(finding.verdict == verdict)
        #expect(finding.detail.contains("\(Self.now + left)"))
    }

    @Test func `what cannot be read fails, and the others are tried all the same`() async throws {
        var broken = try Self.fcm()
        broken.material = Secret("{")
        let found = await findings([broken, try Self.apns()])
        #expect(found.map(\.verdict) == [.fail, .ok, .ok])
        #expect(await findings([]).map(\.verdict) == [.ok])
    }
}
