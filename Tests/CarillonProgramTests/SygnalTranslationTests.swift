import CarillonCore
import Testing

@testable import carillon

@Suite struct SygnalTranslationTests {
    private static let files = [
        "key.p8": "KEY", "account.json": #"{"type":"service_account","project_id":"acme"}"#, "vapid.pem": "VAPID",
        "other.json": "[]",
    ]

    private func outcome(_ yaml: String) throws -> [SygnalTranslation.Outcome] {
        let translation = SygnalTranslation { Self.files[$0] }
        return try SygnalFile(yaml: "apps:\n" + yaml).apps.map(translation.outcome)
    }

    @Test func `an app for iOS becomes a key and a binding of its topic`() throws {
        let outcome = try #require(
            try outcome(
                """
                  org.acme.*:
                    type: apns
                    keyfile: key.p8
                    key_id: ABC
                    team_id: DEF
                    topic: org.acme.ios
                    platform: sandbox
                    convert_device_token_to_hex: false
                    push_type: voip
                    inflight_request_limit: 3
                    colour: red
                """
            ).first
        )
        #expect(outcome.problem == nil)
        #expect(outcome.calls.map(\.path) == ["/providers/apns/apps/org.acme.ios", "/faces/matrix/org.acme.%2A"])
        #expect(outcome.calls.first?.body == ["teamId": "DEF", "keyId": "ABC", "privateKey": "KEY"])
        #expect(outcome.calls.first?.shown["privateKey"] == "<what is in key.p8>")
        #expect(
            outcome.calls.last?.body
                == ["provider": "apns", "appId": "org.acme.ios", "environment": "sandbox", "pushkeyFormat": "hex"]
        )
        #expect(outcome.remarks.count == 2, "\(outcome.remarks)")
    }

    @Test func `an app for Android and one for browsers become a credential and a binding each`() throws {
        let outcomes = try outcome(
            """
              org.acme.android:
                type: gcm
                api_version: v1
                project_id: acme
                service_account_file: account.json
              org.acme.web:
                type: webpush
                vapid_private_key: vapid.pem
                vapid_contact_email: ops@acme.example
                allowed_endpoints: ["fcm.googleapis.com", "*.notify.windows.com", "push.*.example"]
                ttl: 60
            """
        )
        #expect(outcomes.map(\.problem) == [nil, nil])
        #expect(
            outcomes.flatMap(\.calls).map(\.path) == [
                "/providers/fcm/apps/org.acme.android", "/faces/matrix/org.acme.android", "/providers/webpush",
                "/faces/matrix/org.acme.web",
            ]
        )
        #expect(outcomes[0].calls[1].body == ["provider": "fcm", "appId": "org.acme.android"])
        #expect(outcomes[1].calls[0].body == ["subject": "mailto:ops@acme.example", "privateKey": "VAPID"])
        #expect(
            outcomes[1].calls[1].body
                == [
                    "provider": "webpush", "ttlSeconds": 60,
                    "allowedEndpoints": ["fcm.googleapis.com", "*.notify.windows.com"],
                ]
        )
        #expect(outcomes[1].remarks.count == 1)
    }

    @Test(arguments: [
        "{type: apns}", "{type: apns, keyfile: key.p8}", "{type: apns, certfile: key.p8}",
        "{type: apns, keyfile: gone.p8, key_id: a, team_id: b, topic: c}",
        "{type: apns, keyfile: key.p8, key_id: a, team_id: b, topic: c, platform: moon}",
        "{type: gcm, api_key: secret}",
        "{type: gcm, api_version: v1}", "{type: gcm, api_version: v1, service_account_file: other.json}",
        "{type: webpush}", "{type: webpush, vapid_private_key: vapid.pem}", "{type: my.own.Pushkin}", "{}",
    ])
    func `what cannot be taken over is left out, and why is said without a secret`(_ app: String) throws {
        let outcome = try #require(try outcome("  org.acme: \(app)").first)
        #expect(outcome.calls.isEmpty)
        let problem = try #require(outcome.problem)
        #expect(!problem.contains("secret") && !problem.contains("KEY"))
    }

    @Test(arguments: [("org.*.acme", "org.%2A.acme"), ("org.acme?", "org.acme%3F"), ("*.acme", "%2A.acme")])
    func `patterns are taken over, wherever their wildcards stand`(_ name: String, _ segment: String) throws {
        let outcome = try outcome("  '\(name)': {type: apns, keyfile: key.p8, key_id: a, team_id: b, topic: c}").first
        #expect(outcome?.problem == nil)
        #expect(outcome?.calls.map(\.path) == ["/providers/apns/apps/c", "/faces/matrix/\(segment)"])
    }

    @Test(arguments: ["", "apps: 7", "apps: [a]", "a: {", "apps: {a: 7}"])
    func `what is no configuration is refused as a whole`(_ yaml: String) {
        #expect(throws: SygnalFile.Unreadable.self) { _ = try SygnalFile(yaml: yaml) }
    }
}
