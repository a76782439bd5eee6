import AsyncHTTPClient
import CarillonSimulator
import CarillonTesting
import Foundation
import NIOCore
import Testing

@Suite(.bench) struct FaultTests {
    private let bench: Bench = lent()

    /// Sends to a device with this fault, over APNs and FCM, and FCM over HTTP/1.1.
    private func withEach(
        _ fault: Fault,
        _ body: (Bench, () async throws -> Bench.Answer) async throws -> Void
    ) async throws {
        try await withBench { bench in
            try await body(bench) { try await bench.push(SimulatedToken.apns(fault.apnsTokenPrefix)) }
        }
        for http1 in [false, true] {
            try await withBench(http1: http1) { bench in
                let token = try await bench.accessToken()
                let message = Bench.message(to: SimulatedToken.fcm(fault.rawValue))
                try await body(bench) { try await bench.send(message, accessToken: token) }
            }
        }
    }

    @Test func `answers with a page`() async throws {
        try await withEach(.html) { _, send in
            let answer = try await send()
            #expect(answer.status == 502)
            #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("<!DOCTYPE html>"))
        }
    }

    @Test func `answers with half of a document`() async throws {
        try await withEach(.truncated) { _, send in
            let answer = try await send()
            #expect(answer.status == 400)
            #expect(!answer.body.isEmpty)
            #expect(throws: (any Error).self) { try JSONSerialization.jsonObject(with: answer.body) }
        }
    }

    @Test(arguments: [Fault.cut, .endless, .reset, .disconnect, .manyHeaders, .refused, .goAway])
    func `gives no whole answer, and goes on with others`(fault: Fault) async throws {
        try await withEach(fault) { bench, send async throws in
            await #expect(throws: (any Error).self) { try await send() }
            let subscription = bench.simulator.makeSubscription()
            #expect(try await bench.push(to: subscription).status == 201)
        }
    }

    @Test func `does not answer at all`() async throws {
        let token = try await bench.accessToken()
        let message = Bench.message(to: "hang-1")
        await #expect(throws: (any Error).self) {
            try await bench.send(message, accessToken: token, timeout: .seconds(1))
        }
        let notification = try #require(bench.simulator.received.notifications.first)
        #expect(notification.status == nil)
        #expect(notification.reason == "hang")
    }

    @Test(arguments: [Fault.refused, .goAway])
    func `remembers nothing of what it did not process`(fault: Fault) async throws {
        _ = try? await bench.push(SimulatedToken.apns(fault.apnsTokenPrefix))
        #expect(bench.simulator.received.total == 0)
        #expect(try await bench.push().status == 200)
    }

    @Test(arguments: [
        (Fault.retryNegative, "-1"), (.retryPast, "Wed, 21 Oct 2015 07:28:00 GMT"), (.retryHuge, "1000000000000"),
        (.retrySoon, "1"),
    ])
    func `asks to come back at impossible times`(fault: Fault, retryAfter: String) async throws {
        try await withEach(fault) { _, send in
            let answer = try await send()
            #expect(answer.status == 503)
            #expect(answer.header("retry-after") == retryAfter)
        }
    }

    @Test func `fails once only where that is asked for`() async throws {
        let iphone = SimulatedToken.apns("0ce1" + APNsReason.serviceUnavailable.tokenPrefix)
        #expect(try await bench.push(iphone).status == 503)
        #expect(try await bench.push(iphone).status == 200)
        let browser = bench.simulator.makeSubscription("once-unavailable")
        #expect(try await bench.push(to: browser).status == 503)
        #expect(try await bench.push(to: browser).status == 201)
    }

    @Test func `answers late where that is asked for`() async throws {
        let clock = ContinuousClock()
        let elapsed = try await clock.measure { _ = try await bench.push(SimulatedToken.apns("de1a00100")) }
        #expect(bench.simulator.received.accepted == 1)
        #expect(elapsed >= .milliseconds(100))
    }
}
