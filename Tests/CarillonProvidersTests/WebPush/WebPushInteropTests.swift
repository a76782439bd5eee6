import CarillonCore
import Crypto
import Foundation
import Testing

@testable import CarillonProviders
@testable import PushHTTP

/// Writes messages as they go out, with the browsers' keys, for libraries that others wrote to read and verify.
///
/// Runs only for Tests/Interop/webpush.py, which says where to.
@Suite struct WebPushInteropTests {
    private static let path = ProcessInfo.processInfo.environment["WEBPUSH_MESSAGES_FILE"]

    private static let texts: [(title: String, body: String)] = [
        ("Bob", "Bob has joined General"),
        ("", ""),
        ("Zoë ⟨General⟩", "สวัสดี 👋🏽 – \"hi\"\\\n"),
        ("Bob", String(repeating: "x", count: 3_600)),
        ("Bob", String(repeating: "👩‍👩‍👧‍👦 ", count: 2_000)),
    ]
    private static let endpoints = [
        "https://push.example/send/1", "https://push.example:8443/send/2?x=1", "https://PUSH.example/send/3",
        "https://203.0.113.7/4", "https://[2001:db8::1]/5",
    ]

    @Test(.enabled(if: path != nil)) func `writes messages for others to read`() async throws {
        let credential = try WebPushCredential.example()
        var messages: [JSONValue] = []
        for text in Self.texts {
            let browsers = Self.endpoints.map { TestBrowser(endpoint: $0) }
            let group = DeliveryGroup.example(to: browsers.map(\.address), title: text.title, body: text.body)
            let transport = RecordingTransport { _ in .answer(201) }
            let provider = WebPushProvider(
                transport: transport,
                credentials: RememberedCredentials { _, _ in credential },
                version: "1.2.3",
                clock: WallClock { group.cause.receivedAt + .seconds(60) }
            )
            #expect(await provider.outcomes(of: group).allSatisfy { $0 == .delivered(id: nil) })
            for (index, browser) in browsers.enumerated() {
                let request = try #require(transport.requests.first { $0.url == browser.endpoint })
                let id = NotificationID(event: group.cause.eventID, device: group.targets[index].deviceID)
                var headers = JSONObject()
                for (name, value) in request.headers { headers[name] = .string(value) }
                messages.append([
                    "endpoint": .string(browser.endpoint),
                    "privateKey": .string(Base64URL.encode(browser.key.rawRepresentation)),
                    "auth": .string(browser.auth),
                    "headers": .object(headers),
                    "body": .string(Base64URL.encode(request.body)),
                    "plaintext": .string(Base64URL.encode(WebPushMessage(group).plaintext(for: id))),
                ])
            }
        }
        let document: JSONValue = [
            "publicKey": .string(credential.publicKey), "subject": .string(try #require(credential.subject)),
            "sentAt": 1_763_632_860, "messages": .array(messages),
        ]
        try Data(document.serialized).write(to: URL(filePath: try #require(Self.path)))
    }
}
