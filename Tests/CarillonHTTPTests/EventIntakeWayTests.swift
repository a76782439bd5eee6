import CarillonCore
import CarillonTesting
import CarillonWebhooks
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// Both ways of a post, on the event loop and as every request goes, come to the same.
@Suite struct EventIntakeWayTests {
    @Test(arguments: PostSort.allCases)
    func `a post is answered alike and leaves the same, whichever way it goes`(sort: PostSort) async throws {
        let onLoops = Mutex(0)
        try await withAPI(
            .live,
            accepting: { events in
                // On an event loop there is no task that stands in the caller's trace.
                guard TraceContext.current == nil, case .known(let event)? = events.first?.content else { return }
                if event.trace != nil { onLoops.withLock { $0 += 1 } }
            }
        ) { api in
            var senders: [Sender] = []
            for name in ["acme", "other"] {
                let network = try await api.makeNetwork(name)
                let sender = Sender(network: network, key: try await api.makeKey(sort.role, in: network))
                if let document = sort.document {
                    #expect(try await network.call(.put, "dialects/\(sort.path.dropFirst(7))", document).status == 200)
                }
                _ = try await api.services.network(try #require(NetworkID(network.id)))
                senders.append(sender)
            }
            try await compare(sort, senders[0], senders[1])
            let left = try await left(by: sort, in: senders[0].network)
            #expect(left.count > 3)
            for (one, another) in zip(left, try await self.left(by: sort, in: senders[1].network)) {
                #expect(one == another)
            }
        }
        #expect(onLoops.withLock(\.self) > 0)
    }

    private struct Sender {
        var network: Credentials
        var key: String
    }

    private func compare(_ sort: PostSort, _ sender: Sender, _ other: Sender) async throws {
        let samples = sort.bodies.map { Array($0.utf8) }
        try await Fuzzing.run(250, seed: "ways of \(sort)") { random in
            guard let sample = sort.bodies.randomElement(using: &random) else { return }
            var body = Array(sample.replacing("N", with: "\(Int.random(in: 0..<100, using: &random))").utf8)
            if Bool.random(using: &random) { body = Mutator.mutated(body, with: samples, &random) }
            let change = Change.allCases.randomElement(using: &random) ?? .nothing
            let usual = try await post(body, to: sort.path, by: sender, sort, change)
            // What nobody writes, and says the same.
            let long = try await post(body, to: sort.path + "?", by: other, sort, change)
            #expect(words(of: usual) == words(of: long), "\(change) \(String(decoding: body, as: UTF8.self))")
        }
    }

    private func post(
        _ body: [UInt8],
        to path: String,
        by sender: Sender,
        _ sort: PostSort,
        _ change: Change
    ) async throws -> TestResponse {
        let usual = sort.headers(body, sender.network, sender.key)
            .merging(["content-type": "application/json"]) { $1 }
        var fields = HTTPFields()
        for (name, value) in change.apply(usual, sender.network) { fields[HTTPField.Name.known(name)] = value }
        return try await sender.network.api.client.execute(
            uri: sender.network.path("") + path,
            method: .post,
            headers: fields,
            body: ByteBuffer(bytes: body)
        )
    }

    /// An answer without what is another one each time.
    private func words(of answer: TestResponse) -> String {
        let fields = answer.headers.filter { ![.date, .known("x-request-id")].contains($0.name) }
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        let body = String(buffer: answer.body)
            .replacing(/"(id|eventId)":"[0-9a-f]{8}-[0-9a-f-]{27}"/, with: #""id":"-""#)
        return "\(answer.status.code) \(fields) \(body)"
    }

    /// What is known of a network's posts, without what is another one each time.
    private func left(by sort: PostSort, in network: Credentials) async throws -> [String] {
        var lines: [String] = []
        for list in ["events?limit=200", "users?limit=200", "channels?limit=200"] + sort.lists {
            let page = try await network.call(.get, list)
            #expect(page.status == 200)
            lines += page.text.components(separatedBy: "},{").map { text in
                text.replacing(/"[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f-]{21}"/, with: #""-""#)
                    .replacing(/"next":"[^"]*"/, with: "")
            }
        }
        return lines
    }

    private enum Change: CaseIterable {
        case nothing, unsigned, wrong, old, withoutID, named, traced, twice, invented, admin, notAdmin, keyed
        case keyedBadly

        func apply(_ headers: [String: String], _ network: Credentials) -> [String: String] {
            var headers = headers
            let signature = headers.keys.first { $0.hasSuffix("-signature") }
            switch self {
            case .nothing: break
            case .unsigned:
                if let signature { headers[signature] = nil }
            case .wrong:
                if let signature { headers[signature] = "v1,AAAA" }
            case .old: headers["webhook-timestamp"] = "1"
            case .withoutID: headers["webhook-id"] = nil
            case .named: headers["x-request-id"] = "mine"
            case .traced: headers["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            case .twice: headers["webhook-signature"] = "v1,AAAA " + (headers["webhook-signature"] ?? "")
            case .invented: headers["authorization"] = "Bearer x"
            case .admin: headers["authorization"] = "Bearer \(network.adminKey)"
            case .notAdmin: headers["authorization"] = "bearer \(network.adminKey.dropLast())A"
            case .keyed: headers["idempotency-key"] = "mine"
            case .keyedBadly: headers["idempotency-key"] = String(repeating: "k", count: 257)
            }
            return headers
        }
    }
}

/// What is posted, and by whose proof.
enum PostSort: CaseIterable {
    case events, notifications, amity, stream

    var path: String {
        switch self {
        case .events: "events"
        case .notifications: "notifications"
        case .amity: "events/amity"
        case .stream: "events/stream"
        }
    }

    var role: String { self == .notifications ? "notify" : "events" }

    /// The lists that say of these posts alone what became of them.
    var lists: [String] {
        switch self {
        case .events: ["events/recent"]
        case .notifications: []
        case .amity, .stream: ["dialects/\(path.dropFirst(7))/recent"]
        }
    }

    private static let secret = "a secret"

    /// Of a dialect, without which its senders need keys.
    var document: String? { self == .amity ? #"{"secrets":["\#(Self.secret)"],"ignoreSenders":["bot"]}"# : nil }

    func headers(_ body: [UInt8], _ network: Credentials, _ key: String) -> [String: String] {
        switch self {
        case .events:
            let moment = TestAPI.now.milliseconds / 1000
            let secrets = WebhookSecret(network.webhookSecret).map { [$0] } ?? []
            return [
                "webhook-id": "w", "webhook-timestamp": "\(moment)",
                "webhook-signature": WebhookSignature.sign(id: "w", timestamp: moment, body: body, secrets: secrets),
            ]
        case .amity:
            let code = HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(Self.secret.utf8)))
            return ["x-amity-signature": Data(code).base64EncodedString()]
        case .notifications, .stream:
            return ["authorization": "Bearer \(key)"]
        }
    }

    var bodies: [String] {
        switch self {
        case .events:
            [
                #"{"id":"N","type":"message.sent","data":{"channel":{"id":"c","displayName":"C"},"user":{"id":"u"},"message":{"text":"x","mentions":["v"]},"members":["u","v"]}}"#,
                #"{"id":"N","type":"member.joined","timestamp":"2026-11-24T11:00:00Z","data":{"channel":{"id":"c"},"user":{"id":"u","displayName":"U"}}}"#,
                #"{"type":"channel.created","data":{"channel":{"id":"c"},"user":{"id":"u"},"members":[{"id":"v"}]},"more":1}"#,
                #"{"id":"4","type":"poll.opened","data":{}}"#, #"[{"id":"5","type":"poll.opened"}]"#, "[]", "", "{",
            ]
        case .notifications:
            [
                #"{"id":"N","to":{"userIds":["u","v"]},"title":"T","body":"B","ttlSeconds":60}"#,
                #"{"to":{"channelId":"c"},"texts":{"en":{"title":"T"},"de":{"body":"B"}},"data":{"a":"b"}}"#,
                #"{"id":"N","to":{"addresses":[{"provider":"webhook","url":"https://hooks.example.com/x"}]},"title":"T"}"#,
                #"{"to":{"everyone":true}}"#, #"[{"id":"N","to":{"userIds":["u"]},"title":"T"}]"#, "[]", "", "{",
            ]
        case .amity:
            [
                #"{"event":"message.didCreate","data":{"messages":[{"messageId":"N","channelId":"c","userId":"u","data":{"text":"x :tada:"}},{"messageId":"N1","channelId":"c","userId":"bot","data":{"text":"y"}}],"users":[{"userId":"u","displayName":"U"}]}}"#,
                #"{"event":"channel.didCreate","data":{"channel":[{"channelId":"c","displayName":"C","type":"community","createdAt":"2026-11-20T10:00:00.000Z"}],"users":[{"userId":"b"}],"userIds":["b"]}}"#,
                #"{"event":"post.created","data":{}}"#, "{}", "[]", "", "{",
            ]
        case .stream:
            [
                #"{"type":"message.new","cid":"messaging:c","channel":{"id":"c","type":"messaging","name":"C"},"message":{"id":"N","text":"x","user":{"id":"u","name":"U"},"created_at":"2026-11-24T11:00:00Z"},"user":{"id":"u"},"members":[{"user_id":"v"}]}"#,
                #"{"type":"member.added","cid":"messaging:c","channel_id":"c","channel_type":"messaging","member":{"user_id":"v","user":{"id":"v"}},"created_at":"2026-11-24T11:00:00Z"}"#,
                #"{"type":"reaction.new"}"#, "{}", "[]", "", "{",
            ]
        }
    }
}
