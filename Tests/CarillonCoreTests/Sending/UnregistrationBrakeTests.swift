import Testing

@testable import CarillonCore

@Suite struct UnregistrationBrakeTests {
    private let now = ContinuousClock.now
    private let lane = Lane(networkID: NetworkID(trusted: "acme"), provider: .apns, appID: "app")

    private func page(gone: Int, delivered: Int) -> [(target: Target, outcome: Outcome)] {
        (0..<gone).map {
            (.test("gone \($0)"), $0 % 2 == 0 ? .unregister(at: nil, reason: "410") : .quarantine(reason: "400"))
        }
            + (0..<delivered).map { (.test("alive \($0)"), .delivered(id: nil)) }
    }

    private func held(_ brakes: inout UnregistrationBrakes, gone: Int, delivered: Int, after: Duration = .zero) -> Int {
        brakes.hold(page(gone: gone, delivered: delivered), of: lane, at: now + after).held
    }

    @Test(arguments: [(49, 0, 0), (50, 0, 50), (50, 200, 0), (51, 200, 51), (500, 4_500, 0), (500, 500, 500)])
    func `it is on from 50 devices and a fifth of what was sent on`(gone: Int, delivered: Int, expected: Int) {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: gone, delivered: delivered) == expected)
    }

    @Test func `what works goes through, and what is held says why`() throws {
        var brakes = UnregistrationBrakes()
        let (outcomes, held) = brakes.hold(page(gone: 60, delivered: 10), of: lane, at: now)
        #expect(held == 60)
        #expect(outcomes.count { $0.outcome == .delivered(id: nil) } == 10)
        let reason = "brake: 60 of 70 devices reported as gone within 5 minutes"
        #expect(outcomes.count { $0.outcome == .deferLane(after: nil, reason: reason) } == 60)
    }

    @Test func `pages of five minutes add up, and older ones do not count`() {
        var brakes = UnregistrationBrakes()
        for minute in 0..<4 {
            let count = held(&brakes, gone: 15, delivered: 0, after: .seconds(60 * minute))
            #expect(count == (minute == 3 ? 15 : 0))
        }
        #expect(held(&brakes, gone: 15, delivered: 0, after: .seconds(60 * 9)) == 0)
    }

    @Test func `retries and pauses say nothing of devices`() {
        var brakes = UnregistrationBrakes()
        let waiting = (0..<1_000).map {
            (target: Target.test("\($0)"), outcome: Outcome.retry(after: nil, reason: "503"))
        }
        #expect(brakes.hold(waiting, of: lane, at: now).held == 0)
        #expect(held(&brakes, gone: 50, delivered: 100) == 50, "they do not thin the others out")
    }

    @Test func `lanes are apart, and one that was let go believes everything`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 60, delivered: 0) == 60)
        let other = Lane(networkID: lane.networkID, provider: .apns, appID: "other")
        #expect(brakes.hold(page(gone: 10, delivered: 0), of: other, at: now).held == 0)
        brakes.released = [lane]
        #expect(held(&brakes, gone: 500, delivered: 0) == 0)
        brakes.released = []
        #expect(held(&brakes, gone: 1, delivered: 0) == 1)
        brakes.reset { $0 == lane }
        #expect(held(&brakes, gone: 1, delivered: 0) == 0)
    }
}
