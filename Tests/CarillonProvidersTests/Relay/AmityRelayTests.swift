import CarillonCore
import CarillonTesting
import Crypto
import Foundation
import NIOHTTP1
import Testing

@testable import CarillonProviders
@testable import PushHTTP

/// What an endpoint that was built for Amity is told (FACES section C4).
@Suite(.timeLimit(.minutes(1))) struct AmityRelayTests {
    private func group(_ type: EventType) -> DeliveryGroup {
        .message(about: .example, type, id: UUID(), at: .example)
    }

    private static let bodies: [(EventType, String, String)] = [
        (
            .channelCreated,
            #"""
            {"id":"e","type":"channel.created","timestamp":"2025-11-20T09:59:00.000Z","data":{"channel":{"id":"general",
             "displayName":"General"},"user":{"id":"alice","displayName":"Alice"},"members":[{"id":"bob","displayName":"Bob"},{"id":"carol"}]}}
            """#,
            #"""
            {"event":"channel.didCreate","data":{"channel":[{"channelId":"general","displayName":"General","type":"community",
             "createdAt":"2025-11-20T09:59:00.000Z"}],"users":[{"userId":"bob","displayName":"Bob"},{"userId":"carol"}],
             "userIds":["bob","carol"]}}
            """#
        ),
        (
            .memberJoined,
            #"""
            {"id":"e","type":"member.joined","data":{"channel":{"id":"c","direct":true},"members":[{"id":"dave","roles":["admin"]}]}}
            """#,
            #"""
            {"event":"channel.didJoin","data":{"channel":[{"channelId":"c","type":"conversation"}],
             "users":[{"userId":"dave","roles":["admin"]}],"userIds":["dave"]}}
            """#
        ),
        (
            .messageSent,
            #"""
            {"id":"e","type":"message.sent","timestamp":"2025-11-20T09:59:00.000Z","data":{"channel":{"id":"general"},
             "user":{"id":"bob","displayName":"Bob"},"message":{"id":"m-1","type":"text","text":"Hello @Carol"},"mentions":["carol"]}}
            """#,
            #"""
            {"event":"message.didCreate","data":{"messages":[{"messageId":"m-1","channelId":"general","userId":"bob","type":"text",
             "data":{"text":"Hello @Carol"},"mentionees":[{"type":"user","userIds":["carol"]}],
             "createdAt":"2025-11-20T09:59:00.000Z","updatedAt":"2025-11-20T09:59:00.000Z"}],
             "users":[{"userId":"bob","displayName":"Bob"}]}}
            """#
        ),
        (
            .messageSent,
            #"""
            {"id":"e-7","type":"message.sent","timestamp":"2025-11-20T09:59:00.000Z","data":{"channel":{"id":"c"},
             "user":{"id":"bob"},"message":{"type":"video"},"mentionsAll":true}}
            """#,
            #"""
            {"event":"message.didCreate","data":{"messages":[{"messageId":"e-7","channelId":"c","userId":"bob","type":"custom",
             "data":{},"mentionees":[{"type":"channel"}],"createdAt":"2025-11-20T09:59:00.000Z",
             "updatedAt":"2025-11-20T09:59:00.000Z"}],"users":[{"userId":"bob"}]}}
            """#
        ),
    ]

    @Test(arguments: bodies.indices)
    func `an event is told in Amity's words`(index: Int) throws {
        let (type, posted, told) = Self.bodies[index]
        let body = try #require(AmityBody(Array(posted.utf8), about: group(type).event))
        #expect(try JSONValue(parsing: body.bytes) == JSONValue(parsing: told))
    }

    @Test(arguments: [
        (
            EventType.memberLeft,
            #"{"id":"e","type":"member.left","data":{"channel":{"id":"c"},"members":[{"id":"bob"}]}}"#
        ),
        (.messageSent, "garbage"), (.messageSent, #"{"type":"message.sent"}"#),
    ])
    func `what has no name there, or cannot be read, is not told`(type: EventType, posted: String) {
        #expect(AmityBody(Array(posted.utf8), about: group(type).event) == nil)
    }

    @Test func `it is signed as Amity signs, with the text of the newest secret, and as all messages are`() async throws
    {
        let secrets = [WebhookSecret.generate(), .generate()]
        let group = group(.messageSent)
        var settings = Endpoint.sample("e-1", .observing).settings
        settings.format = .amity
        let message = RelayMessage(
            settings: settings,
            state: .enabled,
            secrets: secrets,
            body: Array(Self.bodies[2].1.utf8)
        )
        let transport = RecordingTransport { _ in .answer(200, "{}") }
        let provider = RelayProvider(
            client: EndpointClient(transport: transport, version: "1"),
            source: Placed(StoredMessages([try #require(group.relayKey): message]))
        )
        let outcomes = await provider.outcomes(of: group)
        guard case .delivered? = outcomes.first.flatMap(\.self) else {
            Issue.record("not delivered")
            return
        }
        let request = try #require(transport.requests.first)
        let key = secrets[0].text.reveal { SymmetricKey(data: Array($0.utf8)) }
        let code = Data(HMAC<SHA256>.authenticationCode(for: request.body, using: key))
        #expect(request.headers["x-amity-signature"] == [code.base64EncodedString()])
        #expect(request.headers["x-signature"] == [code.map { String(format: "%02x", $0) }.joined()])
        #expect(request.headers.contains(name: "webhook-signature"))
        #expect(String(decoding: request.body, as: UTF8.self).hasPrefix(#"{"event":"message.didCreate""#))
    }
}
