import CarillonCore
import CarillonTesting
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Postgres
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Whatever is posted as another backend's webhook, the service has an answer.
@Suite(.acme) struct FuzzTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let bodies: [(name: DialectName, body: String)] = [
        (
            .amity,
            #"{"event":"message.didCreate","data":{"messages":[{"messageId":"m","channelId":"c","userId":"u","data":{"text":"x"}}]}}"#
        ),
        (
            .cloudevents,
            #"[{"specversion":"1.0","id":"1","source":"/s","type":"x.message.sent","data":{"channel":{"id":"c"},"user":{"id":"u"},"message":{"text":"x"}}}]"#
        ),
        (
            .cometchat,
            #"{"trigger":"message_sent","data":{"message":{"id":"1","sender":"u","receiverType":"group","receiver":"c","data":{"text":"x"}}}}"#
        ),
        (
            .matrix,
            #"{"events":[{"event_id":"$1","room_id":"c","sender":"u","type":"m.room.message","content":{"msgtype":"m.text","body":"x"}},{}]}"#
        ),
        (.mattermost, #"{"post_id":"1","channel_id":"c","user_id":"u","text":"x"}"#),
        (.rocketchat, #"{"message_id":"1","channel_id":"c","user_id":"u","text":"x"}"#),
        (
            .sendbird,
            #"{"category":"group_channel:message_send","sender":{"user_id":"u"},"type":"MESG","payload":{"message_id":1,"message":"x"},"channel":{"channel_url":"c"}}"#
        ),
        (.stream, #"{"type":"message.new","cid":"a:c","message":{"id":"1","text":"x","user":{"id":"u"}}}"#),
        (
            .talkjs,
            #"{"id":"1","type":"message.sent","data":{"sender":{"id":"u"},"conversation":{"id":"c","participants":{"u":{}}},"message":{"id":"m","text":"x"}}}"#
        ),
    ]

    @Test func `mutated posts are taken or refused, and never a mistake of ours`() async throws {
        var headers = HTTPFields()
        headers[.authorization] = "Bearer \(network.adminKey)"
        headers[.contentType] = "application/json"
        let others = Self.bodies.map { Array($0.body.utf8) }
        try await Fuzzing.run(200, seed: "posts") { random in
            guard let (name, body) = Self.bodies.randomElement(using: &random) else { return }
            let posted = Mutator.mutated(Array(body.utf8), with: others, &random)
            let status = try await api.client.execute(
                uri: network.path("events/\(name.rawValue)"),
                method: .post,
                headers: headers,
                body: ByteBuffer(bytes: posted)
            ).status.code
            let what = "\(name) \(String(decoding: posted, as: UTF8.self))"
            #expect(status == 200 || status == 202 || status == 400, "\(what)")
        }
    }
}

/// Holds openapi.yaml against the routes; whether the answers are as described is for a run against the service.
@Suite struct DescriptionTests {
    @Test func `every route is described, and nothing else`() throws {
        let nowhere = PostgresPool(configuration: try PostgresConfiguration(url: "host=/nowhere"), logger: .silent)
        let router = PublicRouter.make(try Services(over: StoreScene(pool: nowhere), clock: .system))
        let routes = Set(
            router.routes.filter { $0.method != .head }
                .map { DescribedOperation(method: $0.method.rawValue.lowercased(), path: $0.path.description) }
        )
        let described = try DescribedOperation.all(in: "openapi.yaml")
        #expect(routes.subtracting(described).isEmpty)
        #expect(described.subtracting(routes).isEmpty)
    }
}
