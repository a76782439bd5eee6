import CarillonSimulator
import CarillonTesting
import Foundation
import Testing

@Suite(.bench) struct WebPushTests {
    private let bench: Bench = lent()
    private let sender = Sender()

    @Test(arguments: [false, true])
    func `takes and decrypts a message`(http1: Bool) async throws {
        try await withBench(http1: http1) { bench in
            let subscription = bench.simulator.makeSubscription()
            let answer = try await bench.push(to: subscription)
            #expect(answer.status == 201)
            let location = try #require(answer.header("location"))
            #expect(location.hasPrefix(bench.simulator.urls.webPush))
            #expect(answer.header("ttl") == "60")
            let notification = try #require(bench.simulator.received.notifications.first)
            #expect(notification.deviceToken == subscription.endpoint)
            #expect(notification.notificationID == "n-1")
            #expect(notification.title == "Bob")
            #expect(notification.topic == "n-1")
            #expect(String(decoding: notification.payload, as: UTF8.self) == Bench.webPushText)
        }
    }

    @Test func `refuses what the browser cannot decrypt`() async throws {
        let subscription = bench.simulator.makeSubscription()
        let foreign = try Bench.encrypt([1], for: bench.simulator.makeSubscription())
        var tampered = try Bench.encrypt([1], for: subscription)
        tampered[tampered.count - 1] ^= 1
        for body in [foreign, tampered, Array(repeating: 0, count: 21), [1, 2, 3]] {
            let answer = try await bench.push(to: subscription, body: body)
            #expect(answer.status == 400)
        }
        #expect(bench.simulator.received.accepted == 0)
    }

    @Test(arguments: [
        ("ttl", nil, 400), ("ttl", "-1", 400), ("ttl", "soon", 400), ("urgency", "urgent", 400),
        ("topic", String(repeating: "x", count: 33), 400), ("topic", "a b", 400), ("content-encoding", nil, 400),
        ("content-encoding", "aesgcm", 400), ("authorization", nil, 401), ("authorization", "Bearer x", 401),
        ("authorization", "vapid t=a.b.c, k=x", 401),
    ])
    func `refuses headers that are wrong`(name: String, value: String?, status: UInt) async throws {
        let answer = try await bench.push(to: bench.simulator.makeSubscription(), changing: [name: value])
        #expect(answer.status == status)
    }

    @Test func `refuses claims that are wrong`() async throws {
        let subscription = bench.simulator.makeSubscription()
        let claims: [[String: Any]] = [
            ["aud": "https://push.example.com"], ["exp": Token.now - 1], ["exp": Token.now + 90_000],
            ["sub": "ops@example.com"], ["sub": "mailto:root@localhost"],
        ]
        for claims in claims {
            let authorization = try sender.authorization(for: bench.simulator.urls.webPush, claims)
            let answer = try await bench.push(
                to: subscription,
                from: sender,
                changing: ["authorization": authorization]
            )
            #expect(answer.status == 401, "\(claims)")
        }
        let forged = try Sender().authorization(for: bench.simulator.urls.webPush)
            .replacing(/k=.*/, with: "k=\(sender.publicKey)")
        #expect(try await bench.push(to: subscription, changing: ["authorization": forged]).status == 401)
    }

    @Test func `refuses senders for whom the subscription was not made`() async throws {
        let subscription = bench.simulator.makeSubscription(applicationServerKey: sender.publicKey)
        let stranger = try await bench.push(to: subscription, from: Sender())
        #expect(stranger.status == 403)
        let owner = try await bench.push(to: subscription, from: sender)
        #expect(owner.status == 201)
    }

    @Test func `takes 4,096 bytes and no more`() async throws {
        let subscription = bench.simulator.makeSubscription()
        let largest = try Bench.encrypt(Array(repeating: 32, count: 3993), for: subscription)
        #expect(largest.count == 4096)
        #expect(try await bench.push(to: subscription, body: largest).status == 201)
        #expect(try await bench.push(to: subscription, body: largest + [0]).status == 413)
    }

    @Test func `answers every error to the endpoint that asks for it`() async throws {
        let expected: [WebPushRefusal: UInt] = [
            .notFound: 404, .gone: 410, .badRequest: 400, .unauthorized: 401, .forbidden: 403, .tooLarge: 413,
            .tooMany: 429, .internal: 500, .badGateway: 502, .unavailable: 503, .redirect: 307,
        ]
        for refusal in WebPushRefusal.allCases {
            let answer = try await bench.push(to: bench.simulator.makeSubscription(refusal.tokenPrefix))
            #expect(answer.status == expected[refusal], "\(refusal)")
            let waits: [WebPushRefusal] = [.tooMany, .unavailable]
            #expect((answer.header("retry-after") != nil) == waits.contains(refusal))
        }
    }

    @Test func `knows only the subscriptions it has made, until they are removed`() async throws {
        let subscription = bench.simulator.makeSubscription()
        let unknown = try await bench.post("\(subscription.endpoint)x", headers: [], body: [1])
        #expect(unknown.status == 404)
        bench.simulator.removeDevice(subscription.endpoint)
        #expect(try await bench.push(to: subscription).status == 410)
    }
}
