import CarillonCore
import CarillonTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct EventIntakeTests {
    private typealias Post = (path: String, body: String, headers: [String: String])

    private struct Away: TransientError {
        var isTransient: Bool { true }
        var isOutcomeUnknown = false
    }

    private static func message(_ id: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"u"},"message":{"text":"x"}}\#(more)}"#
    }

    @Test func `what arrives in one turn of the event loop is stored at once`() async throws {
        let batches = Mutex<[Int]>([])
        try await withAPI(.router, accepting: { events in batches.withLock { $0.append(events.count) } }) { api in
            let network = try await api.makeNetwork()
            _ = try await api.services.network(NetworkID(network.id).unwrapped)
            let replies = try await Self.replies(to: ["1", "2", "1"].map { Self.message($0) }, of: network)
            #expect(replies == ["202 accepted", "202 accepted", "202 duplicate"])
            #expect(batches.withLock(\.self) == [3])
        }
    }

    @Test func `nothing is taken whose network is not known yet`() async throws {
        try await withAPI(.router) { api in
            let network = try await api.makeNetwork()
            let replies = try await Self.replies(to: [Self.message("1")], of: network)
            #expect(replies == ["not taken"])
        }
    }

    @Test func `what cannot be stored now is not tried twice, and one that cannot be stored at all fails alone`()
        async throws
    {
        struct Poison: Error {}
        let calls = Mutex(0)
        let isAway = Mutex(true)
        try await withAPI(
            .router,
            accepting: { _ in
                calls.withLock { $0 += 1 }
                if isAway.withLock(\.self) { throw Away() }
                throw Poison()
            }
        ) { api in
            let network = try await api.makeNetwork()
            _ = try await api.services.network(NetworkID(network.id).unwrapped)
            let bodies = ["1", "2"].map { Self.message($0) }
            #expect(try await Self.replies(to: bodies, of: network) == ["failed", "failed"])
            #expect(calls.withLock(\.self) == 1)
            isAway.withLock { $0 = false }
            #expect(try await Self.replies(to: bodies, of: network) == ["to be tried", "to be tried"])
            #expect(try await Self.replies(to: [bodies[0]], of: network) == ["failed"])
        }
    }

    @Test func `events, notifications and what dialects read share a commit, a bounded number of them`() async throws {
        let batches = Mutex<[Int]>([])
        try await withAPI(.router, accepting: { events in batches.withLock { $0.append(events.count) } }) { api in
            let network = try await api.makeNetwork()
            _ = try await api.services.network(NetworkID(network.id).unwrapped)
            let admin = ["authorization": "Bearer \(network.adminKey)"]
            let messages = (0..<20).map { #"{"messageId":"\#($0)","channelId":"c","userId":"u","data":{"text":"x"}}"# }
            let several = #"{"event":"message.didCreate","data":{"messages":[\#(messages.joined(separator: ","))]}}"#
            let notification = #"{"to":{"userIds":["u"]},"title":"x"}"#
            let posts: [Post] = [
                ("events", Self.message("1"), admin),
                ("notifications", notification, admin),
                ("events/amity", several, admin), ("events/amity", several, admin),
                ("notifications", #"{"to":{"userIds":["u"]}}"#, admin), ("events/amity", "{}", [:]),
                ("events/amity", several + String(repeating: " ", count: 4 << 10), admin),
                ("notifications", notification, admin.merging(["idempotency-key": "k "]) { $1 }),
            ]
            #expect(
                try await Self.replies(to: posts, of: network) == [
                    "202 accepted", "202 accepted", "200", "200", "not taken", "not taken", "not taken", "not taken",
                ]
            )
            #expect(batches.withLock { $0.sorted() } == [20, 22])
            // Which of two batches is stored first is nobody's to say, nor is which of them is written down first.
            let recent = try await network.call(.get, "dialects/amity/recent")
            #expect(["0", "1"].contains { recent["items", $0, "verdict"] == "accepted" })
        }
    }

    @Test func `nothing is read whose sender is only told by what is in it`() async throws {
        try await withAPI(.router) { api in
            let network = try await api.makeNetwork()
            #expect(try await network.call(.put, "dialects/rocketchat", #"{"secrets":["t"]}"#).status == 200)
            _ = try await api.services.network(NetworkID(network.id).unwrapped)
            let body = #"{"token":"t","channel_id":"c","user_id":"u","user_name":"u","message_id":"m","text":"x"}"#
            let path = "events/rocketchat"
            let key = ["authorization": "Bearer \(network.adminKey)"]
            let replies = try await Self.replies(to: [(path, body, [:]), (path, body, key)], of: network)
            #expect(replies == ["not taken", "200 accepted"])
            #expect(try await api.call(.post, network.path(path), body).status == 200)
        }
    }

    @Test(arguments: ["events", "notifications", "events/amity"])
    func `a database that is away is told once, whatever is posted`(path: String) async throws {
        let calls = Mutex(0)
        try await withAPI(
            .live,
            accepting: { _ in
                calls.withLock { $0 += 1 }
                throw Away(isOutcomeUnknown: true)
            }
        ) { api in
            let network = try await api.makeNetwork()
            _ = try await api.services.network(NetworkID(network.id).unwrapped)
            let body =
                switch path {
                case "events": Self.message("1")
                case "notifications": #"{"to":{"userIds":["u"]},"title":"x"}"#
                default:
                    #"{"event":"channel.didDelete","data":{"channel":[{"channelId":"c"}]}}"#
                }
            let answer = try await network.call(.post, path, body)
            #expect(answer.refusal == "503 service-unavailable")
            #expect(answer.string("outcome") == "unknown")
            #expect(calls.withLock(\.self) == 1)
        }
    }

    /// What becomes of bodies that are all posted in one turn of an event loop.
    private static func replies(to bodies: [String], of network: Credentials) async throws -> [String] {
        try await replies(to: bodies.map { ("events", $0, try network.signature(of: $0)) }, of: network)
    }

    private static func replies(to posts: [Post], of network: Credentials) async throws -> [String] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let requests = posts.map { path, body, fields in
            var headers: HTTPHeaders = ["host": "x", "content-type": "application/json"]
            headers.add(name: "content-length", value: "\(body.utf8.count)")
            for (name, value) in fields { headers.add(name: name, value: value) }
            let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: network.path(path), headers: headers)
            return (head, ByteBuffer(string: body))
        }
        let services = network.api.services
        return try await loop.flatSubmit {
            let intake = EventIntake(services, settings: ServerSettings(), loop: loop)
            return EventLoopFuture.whenAllSucceed(
                requests.map { head, body in
                    let words = loop.makePromise(of: String.self)
                    let request = ArrivedRequest(head: head, body: body, remoteAddress: nil)
                    let isTaken = intake.mayTake(head) && intake.take(request) { words.succeed(Self.words($0)) }
                    if !isTaken { words.succeed("not taken") }
                    return words.futureResult
                },
                on: loop
            )
        }.get()
    }

    private static func words(_ reply: IntakeReply) -> String {
        switch reply {
        case .answer(let head, let body):
            let json = try? JSONValue(parsing: Array(body.readableBytesView))
            guard case .object(let object)? = json, case .string(let status)? = object["status"] else {
                return "\(head.status.code)"
            }
            return "\(head.status.code) \(status)"
        case .handOn(let failure, _): return failure == nil ? "to be tried" : "failed"
        }
    }
}

extension Optional {
    fileprivate var unwrapped: Wrapped {
        get throws { try #require(self) }
    }
}
