import CarillonSimulator
import CarillonTesting
import Foundation
import NIOCore
import Testing

@Suite(.bench) struct DisturbanceTests {
    private let bench: Bench = lent()

    @Test func `answers a storm to the next requests only`() async throws {
        bench.simulator.disturb(.apnsProduction) { $0.storm = .init(next: 2, retryAfter: "7") }
        for _ in 0..<2 {
            let answer = try await bench.push()
            #expect(answer.status == 429)
            #expect(answer["reason"] == "TooManyRequests")
            #expect(answer.header("retry-after") == "7")
        }
        #expect(try await bench.push().status == 200)
    }

    @Test func `storms over every service with its own errors`() async throws {
        let token = try await bench.accessToken()
        bench.simulator.disturb(.fcm) { $0.storm = .init(next: 1, status: 503) }
        let fcm = try await bench.send(Bench.message(to: "device-1"), accessToken: token)
        #expect(fcm.status == 503)
        #expect(fcm.fcmErrorCode == "UNAVAILABLE")
        bench.simulator.disturb(.oauth) { $0.storm = .init(next: 1, status: 500) }
        #expect(try await bench.requestToken().status == 500)
        #expect(try await bench.requestToken().status == 200)
        bench.simulator.disturb(.webPush) { $0.storm = .init(next: 1) }
        #expect(try await bench.push(to: bench.simulator.makeSubscription()).status == 429)
    }

    @Test func `delays every answer of the disturbed service`() async throws {
        bench.simulator.disturb(.apnsProduction) { $0.delay = .milliseconds(100) }
        let elapsed = try await ContinuousClock().measure { _ = try await bench.push() }
        #expect(elapsed >= .milliseconds(100))
    }

    @Test func `is silent for as long as it is told to`() async throws {
        bench.simulator.disturb(.webPush) { $0.isSilent = true }
        let subscription = bench.simulator.makeSubscription()
        await #expect(throws: (any Error).self) {
            try await bench.post(subscription.endpoint, headers: [], body: [1], timeout: .milliseconds(200))
        }
        bench.simulator.disturb(.webPush) { $0.isSilent = false }
        #expect(try await bench.push(to: subscription).status == 201)
    }

    @Test func `refuses every so manieth request unread`() async throws {
        bench.simulator.disturb(.apnsProduction) { $0.refusesEvery = 3 }
        var refused = 0
        for _ in 0..<9 {
            do { _ = try await bench.push() } catch { refused += 1 }
        }
        // What was refused may have been sent again by the client.
        #expect(refused <= 3)
        #expect(bench.simulator.received.total == 9 - refused)
    }

    @Test func `sends GOAWAY after so many streams, and answers all of those`() async throws {
        try await withBench({ $0.disturbances.goAwayAfterStreams = 5 }) { bench async throws in
            var accepted = 0
            for _ in 0..<20 {
                if let answer = try? await bench.push(), answer.status == 200 { accepted += 1 }
            }
            #expect(accepted == bench.simulator.received.accepted)
            #expect(accepted >= 15)
        }
    }

    @Test func `loses nothing of a client that sends again after GOAWAY what was not answered`() async throws {
        try await withBench({ $0.disturbances.goAwayAfterStreams = 20 }) { bench in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        let id = UUID().uuidString
                        for _ in 0..<50 where await Self.isAccepted(id, bench) { return true }
                        return false
                    }
                }
                for try await isAccepted in group { #expect(isAccepted) }
            }
            #expect(bench.simulator.received.acceptedByID.count == 200)
        }
    }

    private static func isAccepted(_ id: String, _ bench: Bench) async -> Bool {
        do {
            return try await bench.push(id: id).status == 200
        } catch {
            return false
        }
    }

    @Test(arguments: [1, 8])
    func `holds clients to the streams that they may open`(streams: Int) async throws {
        try await withBench {
            $0.maximumConcurrentStreams = streams
            $0.disturbances.delay = .milliseconds(20)
        } body: { bench in
            let clock = ContinuousClock()
            _ = try await bench.push()
            let elapsed = try await clock.measure {
                try await withThrowingTaskGroup(of: UInt.self) { group in
                    for _ in 0..<16 { group.addTask { try await bench.push().status } }
                    for try await status in group { #expect(status == 200) }
                }
            }
            #expect(elapsed >= .milliseconds(20) * (16 / streams))
        }
    }
}
