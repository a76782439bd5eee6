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

    @Test func `a database that is away is told once, as everywhere`() async throws {
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
            let body = Self.message("1")
            let answer = try await api.call(.post, network.path("events"), body, headers: network.signature(of: body))
            #expect(answer.refusal == "503 service-unavailable")
            #expect(answer.string("outcome") == "unknown")
            #expect(calls.withLock(\.self) == 1)
        }
    }

    /// What becomes of bodies that are all posted in one turn of an event loop.
    private static func replies(to bodies: [String], of network: Credentials) async throws -> [String] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let requests = try bodies.map { body in
            var headers: HTTPHeaders = ["host": "x", "content-type": "application/json"]
            headers.add(name: "content-length", value: "\(body.utf8.count)")
            for (name, value) in try network.signature(of: body) { headers.add(name: name, value: value) }
            let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: network.path("events"), headers: headers)
            return (head, ByteBuffer(string: body))
        }
        let services = network.api.services
        return try await loop.flatSubmit {
            let intake = EventIntake(services, settings: ServerSettings(), loop: loop)
            return EventLoopFuture.whenAllSucceed(
                requests.map { head, body in
                    let words = loop.makePromise(of: String.self)
                    let isTaken = intake.mayTake(head) && intake.take(head, body) { words.succeed(Self.words($0)) }
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
            guard case .object(let object)? = json, case .string(let status)? = object["status"] else { return "?" }
            return "\(head.status.code) \(status)"
        case .handOn(let failure): return failure == nil ? "to be tried" : "failed"
        }
    }
}

/// Both ways of a post, on the event loop and as every request goes, come to the same.
@Suite struct EventIntakeWayTests {
    private static let bodies = [
        #"{"id":"N","type":"message.sent","data":{"channel":{"id":"c","displayName":"C"},"user":{"id":"u"},"message":{"text":"x","mentions":["v"]},"members":["u","v"]}}"#,
        #"{"id":"N","type":"member.joined","timestamp":"2026-11-24T11:00:00Z","data":{"channel":{"id":"c"},"user":{"id":"u","displayName":"U"}}}"#,
        #"{"type":"channel.created","data":{"channel":{"id":"c"},"user":{"id":"u"},"members":[{"id":"v"}]},"more":1}"#,
        #"{"id":"4","type":"poll.opened","data":{}}"#, #"[{"id":"5","type":"poll.opened"}]"#, "[]", "", "{",
    ]
    /// What nobody writes, and says the same.
    private static let unusual = #"application/json;charset="utf-8""#

    private func post(
        _ body: [UInt8],
        to network: Credentials,
        type: String,
        _ change: Change
    ) async throws -> TestResponse {
        let moment = TestAPI.now.milliseconds / 1000
        var headers = [
            "content-type": type, "webhook-id": "w", "webhook-timestamp": "\(moment)",
            "webhook-signature": WebhookSignature.sign(
                id: "w",
                timestamp: moment,
                body: body,
                secrets: WebhookSecret(network.webhookSecret).map { [$0] } ?? []
            ),
        ]
        headers = change.apply(headers, network)
        var fields = HTTPFields()
        for (name, value) in headers { fields[HTTPField.Name.known(name)] = value }
        return try await network.api.client.execute(
            uri: network.path("events"),
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
            .replacing(/"id":"[0-9a-f]{8}-[0-9a-f-]{27}"/, with: #""id":"-""#)
        return "\(answer.status.code) \(fields) \(body)"
    }

    @Test func `a post is answered alike and leaves the same, whichever way it goes`() async throws {
        let onLoops = Mutex(0)
        try await withAPI(
            .live,
            accepting: { events in
                // On an event loop there is no task that stands in the caller's trace.
                guard TraceContext.current == nil, case .known(let event)? = events.first?.content else { return }
                if event.trace != nil { onLoops.withLock { $0 += 1 } }
            }
        ) { api in
            let networks = [try await api.makeNetwork(), try await api.makeNetwork("other")]
            for network in networks { _ = try await api.services.network(NetworkID(network.id).unwrapped) }
            try await compare(networks[0], networks[1])
            let left = try await left(in: networks[0])
            #expect(left.count > 3)
            for (one, another) in zip(left, try await self.left(in: networks[1])) { #expect(one == another) }
        }
        #expect(onLoops.withLock(\.self) > 0)
    }

    private func compare(_ network: Credentials, _ other: Credentials) async throws {
        let samples = Self.bodies.map { Array($0.utf8) }
        try await Fuzzing.run(250, seed: "ways") { random in
            guard let sample = Self.bodies.randomElement(using: &random) else { return }
            var body = Array(sample.replacing("N", with: "\(Int.random(in: 0..<100, using: &random))").utf8)
            if Bool.random(using: &random) { body = Mutator.mutated(body, with: samples, &random) }
            let change = Change.allCases.randomElement(using: &random) ?? .nothing
            let usual = try await post(body, to: network, type: "application/json", change)
            let long = try await post(body, to: other, type: Self.unusual, change)
            #expect(words(of: usual) == words(of: long), "\(change) \(String(decoding: body, as: UTF8.self))")
        }
    }

    /// What events a network has, without what is another one each time.
    private func left(in network: Credentials) async throws -> [String] {
        var lines: [String] = []
        for list in ["events?limit=200", "users?limit=200", "channels?limit=200"] {
            let page = try await network.call(.get, list)
            #expect(page.status == 200)
            lines += page.text.components(separatedBy: "},{").map { text in
                text.replacing(/"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}"/, with: #""-""#)
                    .replacing(/"next":"[^"]*"/, with: "")
            }
        }
        return lines
    }

    private enum Change: CaseIterable {
        case nothing, unsigned, wrong, old, withoutID, named, traced, twice, invented, admin, notAdmin

        func apply(_ headers: [String: String], _ network: Credentials) -> [String: String] {
            var headers = headers
            switch self {
            case .nothing: break
            case .unsigned: headers["webhook-signature"] = nil
            case .wrong: headers["webhook-signature"] = "v1,AAAA"
            case .old: headers["webhook-timestamp"] = "1"
            case .withoutID: headers["webhook-id"] = nil
            case .named: headers["x-request-id"] = "mine"
            case .traced: headers["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            case .twice: headers["webhook-signature"] = "v1,AAAA " + (headers["webhook-signature"] ?? "")
            case .invented: headers["authorization"] = "Bearer x"
            case .admin: headers["authorization"] = "Bearer \(network.adminKey)"
            case .notAdmin: headers["authorization"] = "bearer \(network.adminKey.dropLast())A"
            }
            return headers
        }
    }
}

extension Optional {
    fileprivate var unwrapped: Wrapped {
        get throws { try #require(self) }
    }
}
