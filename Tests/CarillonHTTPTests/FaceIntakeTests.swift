import CarillonCore
import CarillonFaces
import CarillonTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

/// A homeserver's notifications come to the same on the event loop and as every request goes.
@Suite struct FaceIntakeTests {
    private static let path = "/_matrix/push/v1/notify"
    private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// A network that has bound an app of its name, in which there are devices.
    private struct Sender {
        var network: Credentials
        var key: String

        func notify(
            _ body: String,
            _ rest: String = "",
            from address: String = "198.51.100.1"
        ) async throws -> TestResponse {
            try await network.api.client.execute(
                uri: FaceIntakeTests.path + rest,
                method: .post,
                headers: [
                    .contentType: "application/json", .known("x-forwarded-for"): address,
                    .known("traceparent"): FaceIntakeTests.trace,
                ],
                body: ByteBuffer(string: body.replacing("APP", with: network.id))
            )
        }
    }

    private static func sender(_ name: String, _ api: TestAPI) async throws -> Sender {
        let network = try await api.makeNetwork(name)
        let settings = #"{"provider":"fcm","appId":"app"}"#
        let bound = try await network.call(.put, "faces/matrix/\(name)", settings, as: TestAPI.operatorToken)
        try #require(bound.status == 201)
        for number in 0..<4 {
            let locale = number == 3 ? #","locale":"th""# : ""
            let device = #"{"userId":"u","provider":"fcm","appId":"app","token":"k\#(number)"\#(locale)}"#
            try #require(try await network.call(.put, "devices/d\(number)", device).status == 201)
        }
        let key = try await network.call(.post, "faces/matrix/keys")
        try #require(key.status == 201)
        let sender = Sender(network: network, key: try #require(key.string("secret")))
        // Whoever was asked about once is remembered.
        try #require(try await sender.notify(body("$first", "k0")).status == .ok)
        return sender
    }

    private static func body(_ event: String, _ pushkeys: String..., more: String = "") -> String {
        let devices = pushkeys.map { #"{"app_id":"APP","pushkey":"\#($0)"\#(more)}"# }.joined(separator: ",")
        return
            #"{"notification":{"event_id":"\#(event)","room_id":"!r:x","type":"m.room.message","sender":"@a:x","counts":{"unread":2},"content":{"msgtype":"m.text","body":"Hi"},"devices":[\#(devices)]}}"#
    }

    private static let samples = [
        body("$N", "k0"), body("$N", "k1", "k2", "k3"), body("$N", "k2", more: #","pushkey_ts":1735000000"#),
        body("$N", "k3", more: #","data":{"default_payload":{"a":1}},"tweaks":{"sound":"default"}"#),
        body("$N", "k1", more: #","data":{"default_payload":7}"#), body("$N", "nobody"), body("$N", "k1", "nobody"),
        body("$N", "k1", more: #","pushkey_ts":1795521600"#),
        #"{"notification":{"counts":{"unread":1},"devices":[{"app_id":"APP","pushkey":"k0"}]}}"#,
        #"{"notification":{"event_id":"$N","devices":[{"app_id":"APP","pushkey":"k0"},{"app_id":"unbound","pushkey":"k0"}]}}"#,
        #"{"notification":{"event_id":"$N","devices":[]}}"#, "{", "",
    ]

    @Test func `a notification is answered alike and leaves the same, whichever way it goes`() async throws {
        let onLoops = Mutex(0)
        try await withAPI(
            .live,
            faces: { [MatrixFace($0)] },
            accepting: { events in
                guard TraceContext.current == nil, case .known(let event)? = events.first?.content else { return }
                if event.trace != nil { onLoops.withLock { $0 += 1 } }
            }
        ) { api in
            let (one, another) = (try await Self.sender("acme", api), try await Self.sender("emca", api))
            for sender in [one, another] {
                for rest in ["?", "?k=\(sender.key)&"] {
                    #expect(try await sender.notify(Self.body("$long\(rest.count)", "k1"), rest).status == .ok)
                }
            }
            #expect(onLoops.withLock(\.self) == 0, "they go the long way")
            let number = Mutex(0)
            try await Fuzzing.run(250, seed: "ways of notifications") { random in
                let count = number.withLock { number in
                    number += 1
                    return number
                }
                guard let sample = Self.samples.randomElement(using: &random) else { return }
                let written = sample.replacing("N", with: "\(Int.random(in: 0..<100, using: &random))")
                var body = written
                if Int.random(in: 0..<4, using: &random) == 0 {
                    let samples = Self.samples.map { Array($0.utf8) }
                    let mutated = Mutator.mutated(Array(written.utf8), with: samples, &random)
                    body = String(validating: mutated, as: UTF8.self) ?? written
                }
                let (key, address) = (Bool.random(using: &random), "198.51.100.\(count)")
                let usual = try await one.notify(body, key ? "?k=\(one.key)" : "", from: address)
                let long = try await another.notify(body, key ? "?k=\(another.key)&" : "?", from: address)
                #expect(Self.words(of: usual, one) == Self.words(of: long, another), "\(body)")
            }
            let (left, other) = (try await Self.left(by: one), try await Self.left(by: another))
            #expect(left.count > 20 && left.count == other.count)
            for (one, another) in zip(left, other) { #expect(one == another) }
        }
        #expect(onLoops.withLock(\.self) > 50)
    }

    @Test func `a device that is new, or somebody who asks for too much, goes the long way and is counted once`()
        async throws
    {
        try await withAPI(.live, faces: { [MatrixFace($0)] }) { api in
            let sender = try await Self.sender("acme", api)
            // One was taken when the sender was made, of the sixty that a pushkey may be sent at once.
            for number in 1..<60 {
                #expect(try await sender.notify(Self.body("$\(number)", "k0")).status == .ok)
            }
            #expect(try await sender.notify(Self.body("$60", "k0")).status == .tooManyRequests)
            #expect(try await sender.notify(Self.body("$61", "k1", "k0")).status == .tooManyRequests)
            // What was refused has counted the other one's once, as the long way does, and not twice.
            for number in 62..<121 {
                #expect(try await sender.notify(Self.body("$\(number)", "k1")).status == .ok, "\(number)")
            }
            #expect(try await sender.notify(Self.body("$121", "k1")).status == .tooManyRequests)
            for number in 0..<60 {
                let answer = try await sender.notify(Self.body("$n\(number)", "k2", "new"), from: "198.51.100.2")
                #expect(answer.status == .ok, "\(number)")
            }
        }
    }

    @Test func `a key that is revoked opens nothing any more`() async throws {
        try await withAPI(.live, faces: { [MatrixFace($0)] }) { api in
            let sender = try await Self.sender("acme", api)
            let query = "?k=\(sender.key)"
            #expect(try await sender.notify(Self.body("$1", "k0"), query).status == .ok)
            let keys = try await sender.network.call(.get, "faces/matrix/keys")
            let name = try #require(keys["items", "0", "name"]?.text)
            #expect(try await sender.network.call(.delete, "faces/matrix/keys/\(name)").status == 204)
            #expect(try await sender.notify(Self.body("$2", "k0"), query).status == .unauthorized)
            #expect(try await sender.notify(Self.body("$3", "k0"), query).status == .unauthorized)
        }
    }

    @Test func `one that names many devices goes the long way`() async throws {
        let onLoops = Mutex<[Int]>([])
        try await withAPI(
            .live,
            faces: { [MatrixFace($0)] },
            accepting: { events in
                if TraceContext.current == nil { onLoops.withLock { $0.append(events.count) } }
            }
        ) { api in
            let sender = try await Self.sender("acme", api)
            for count in [8, 9] {
                let device = #"{"app_id":"APP","pushkey":"k1"}"#
                let devices = Array(repeating: device, count: count).joined(separator: ",")
                let body = #"{"notification":{"event_id":"$\#(count)","devices":[\#(devices)]}}"#
                #expect(try await sender.notify(body).status == .ok)
            }
            #expect(onLoops.withLock(\.self) == [8])
        }
    }

    @Test func `what cannot be stored is refused once, in Matrix's words`() async throws {
        struct Away: TransientError {
            var isTransient: Bool { true }
            var isOutcomeUnknown: Bool { false }
        }
        let isAway = Mutex(false)
        let calls = Mutex(0)
        try await withAPI(
            .live,
            faces: { [MatrixFace($0)] },
            accepting: { _ in
                guard isAway.withLock(\.self) else { return }
                calls.withLock { $0 += 1 }
                throw Away()
            }
        ) { api in
            let sender = try await Self.sender("acme", api)
            isAway.withLock { $0 = true }
            let answer = try await sender.notify(Self.body("$1", "k0"))
            #expect(answer.status == .serviceUnavailable)
            #expect(String(buffer: answer.body).contains("M_UNKNOWN"))
            #expect(calls.withLock(\.self) == 1)
            isAway.withLock { $0 = false }
            #expect(try await sender.notify(Self.body("$1", "k0")).status == .ok)
            let recent = try await sender.network.call(.get, "faces/matrix/recent")
            #expect(recent.text.contains(#""status":503"#))
        }
    }

    private static func words(of answer: TestResponse, _ sender: Sender) -> String {
        let fields = answer.headers.filter { ![.date, .known("x-request-id")].contains($0.name) }
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        let body = String(buffer: answer.body).replacing(sender.network.id, with: "APP")
        return "\(answer.status.code) \(fields) \(body)"
    }

    /// What is known of a network's notifications, without what is another one each time.
    private static func left(by sender: Sender) async throws -> [String] {
        var lines: [String] = []
        for list in ["events?limit=200", "faces/matrix/recent", "users/u/devices"] {
            let page = try await sender.network.call(.get, list)
            #expect(page.status == 200)
            lines += page.text.components(separatedBy: "},{").map { text in
                text.replacing(/"[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f-]{21}"/, with: #""-""#)
                    .replacing(/"m:[0-9A-Za-z_-]{43}"/, with: #""-""#)
                    .replacing(/"next":"[^"]*"/, with: "")
                    .replacing(sender.network.id, with: "APP")
            }
        }
        return lines
    }
}
