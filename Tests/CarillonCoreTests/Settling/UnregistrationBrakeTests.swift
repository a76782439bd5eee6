import Testing

@testable import CarillonCore

@Suite struct UnregistrationBrakeTests {
    private let now = ContinuousClock.now
    private let wallTime = Timestamp(milliseconds: 1_795_520_000_000)
    private let lane = Lane(networkID: NetworkID(trusted: "acme"), provider: .apns, appID: "app")

    private func page(gone: Range<Int>, delivered: Int = 0, others: Int = 0) -> UnregistrationBrakes.Outcomes {
        let dead = gone.map {
            (
                target: Target.test("gone \($0)"),
                outcome: $0 % 2 == 0 ? Outcome.unregister(at: nil, reason: "410") : .quarantine(reason: "400")
            )
        }
        return dead + (0..<delivered).map { (.test("alive \($0)"), .delivered(id: nil)) }
            + (0..<others).map { (.test("odd \($0)"), .bug(reason: "too big")) }
    }

    private func verdict(
        _ brakes: inout UnregistrationBrakes,
        gone: Range<Int>,
        delivered: Int = 0,
        others: Int = 0,
        after: Duration = .zero
    ) -> UnregistrationBrakes.Verdict {
        let page = page(gone: gone, delivered: delivered, others: others)
        return brakes.hold(page, of: lane, at: now + after, wallTime: wallTime + after)
    }

    private func held(_ brakes: inout UnregistrationBrakes, gone: Range<Int>, after: Duration = .zero) -> Int {
        verdict(&brakes, gone: gone, after: after).held?.targets.count ?? 0
    }

    @Test(arguments: [
        (50, 200, 0, false), (51, 200, 0, true), (50, 199, 0, true), (50, 1, 0, true), (49, 1, 0, false),
        (500, 2_000, 0, false), (500, 500, 0, true), (20, 0, 0, true), (19, 0, 0, false), (20, 1, 0, false),
        (20, 0, 500, true), (50, 1, 199, false), (0, 0, 100, false),
    ])
    func `it is on from 50 devices and a fifth on, or from 20 when nothing goes through`(
        gone: Int,
        delivered: Int,
        others: Int,
        isOn: Bool
    ) {
        var brakes = UnregistrationBrakes()
        let verdict = verdict(&brakes, gone: 0..<gone, delivered: delivered, others: others)
        #expect(verdict.held?.targets.count == (isOn ? gone : nil))
        #expect(verdict.outcomes.count == (isOn ? 0 : gone) + delivered + others)
    }

    @Test func `what works goes through, and what is held says why`() throws {
        var brakes = UnregistrationBrakes()
        let verdict = verdict(&brakes, gone: 0..<60, delivered: 10)
        #expect(verdict.outcomes.map(\.outcome) == Array(repeating: .delivered(id: nil), count: 10))
        let held = try #require(verdict.held)
        #expect(held.targets.count == 60)
        #expect(held.reason == "brake: 60 of 70 devices reported as gone")
    }

    @Test(arguments: [(59, true), (60, false), (61, false)])
    func `the lane pauses only where most of the answers are that a device is gone`(delivered: Int, pauses: Bool) {
        var brakes = UnregistrationBrakes()
        #expect(verdict(&brakes, gone: 0..<60, delivered: delivered).held?.pausesLane == pauses)
    }

    @Test func `a device that is sent to again and again counts once`() {
        var brakes = UnregistrationBrakes()
        for second in 0..<600 { #expect(held(&brakes, gone: 0..<19, after: .seconds(second)) == 0) }
        let verdict = verdict(&brakes, gone: 0..<20, after: .seconds(600))
        #expect(verdict.held?.reason == "brake: 20 of 20 devices reported as gone")
    }

    @Test func `held devices that are tried again do not pause their lane anew`() {
        var brakes = UnregistrationBrakes()
        #expect(verdict(&brakes, gone: 0..<60).held?.pausesLane == true)
        for round in 1..<5 {
            let again = verdict(&brakes, gone: 0..<60, after: HeldReports.wait * round + .seconds(round)).held
            #expect(again?.targets.count == 60)
            #expect(again?.pausesLane == false)
        }
        #expect(verdict(&brakes, gone: 0..<61, after: .seconds(3600)).held?.pausesLane == true)
    }

    @Test func `reports are believed as soon as enough others went through`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<60) == 60)
        _ = verdict(&brakes, gone: 0..<0, delivered: 239, after: .seconds(200))
        #expect(held(&brakes, gone: 0..<60, after: .seconds(310)) == 60)
        _ = verdict(&brakes, gone: 0..<0, delivered: 239, after: .seconds(315))
        #expect(held(&brakes, gone: 0..<60, after: .seconds(320)) == 60, "the same once more prove nothing")
        _ = verdict(&brakes, gone: 0..<0, delivered: 240, after: .seconds(325))
        #expect(held(&brakes, gone: 0..<60, after: .seconds(330)) == 0)
    }

    @Test func `answers that tell nothing of devices do not prove reports either`() {
        var brakes = UnregistrationBrakes()
        for _ in 0..<5 { #expect(verdict(&brakes, gone: 0..<20, others: 500).held?.targets.count == 20) }
    }

    @Test func `what there was no room to remember is taken back by deliveries`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<10_100) == 10_100)
        let all = page(gone: 0..<10_100).map { (target: $0.target, outcome: Outcome.delivered(id: nil)) }
        #expect(brakes.hold(all, of: lane, at: now, wallTime: wallTime).turn == .off)
        #expect(held(&brakes, gone: 0..<10) == 0)
    }

    @Test func `of a lane that nobody sends to, nothing is remembered after a day`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<60) == 60)
        brakes.prune(at: now + .seconds(24 * 3600))
        #expect(brakes.count == 1, "something of it may wait still")
        brakes.prune(at: now + .seconds(25 * 3600))
        #expect(brakes.count == 0)
    }

    @Test(arguments: [(299, true), (300, false)])
    func `where something is delivered, pages of five minutes add up`(seconds: Int, isOn: Bool) {
        var brakes = UnregistrationBrakes()
        #expect(verdict(&brakes, gone: 0..<49, delivered: 1).held == nil)
        let held = held(&brakes, gone: 49..<52, after: .seconds(seconds))
        #expect(held == (isOn ? 3 : 0))
    }

    @Test func `where nothing is delivered, reports add up however slowly they come`() {
        var brakes = UnregistrationBrakes()
        for hour in 0..<25 {
            brakes.prune(at: now + .seconds(3600 * hour))
            #expect(held(&brakes, gone: hour..<hour + 1, after: .seconds(3600 * hour)) == (hour < 19 ? 0 : 1))
        }
    }

    @Test func `time alone does not make reports true`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<60) == 60)
        brakes.prune(at: now + .seconds(86_400))
        #expect(held(&brakes, gone: 60..<61, after: .seconds(86_400)) == 1)
        #expect(brakes.statuses[lane]?.since == wallTime)
        #expect(brakes.statuses[lane]?.reason == "brake: 61 of 61 devices reported as gone")
    }

    @Test func `devices that are delivered to are not gone any more`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<60) == 60)
        let back = page(gone: 0..<48).map { (target: $0.target, outcome: Outcome.delivered(id: nil)) }
        let verdict = brakes.hold(back, of: lane, at: now + .seconds(400), wallTime: wallTime)
        #expect(verdict.turn == .off, "12 of 60 are a fifth")
        #expect(held(&brakes, gone: 48..<60, after: .seconds(500)) == 0)
        #expect(brakes.statuses.isEmpty)
    }

    @Test func `receivers of webhooks are believed`() {
        var brakes = UnregistrationBrakes()
        let lane = Lane(networkID: lane.networkID, provider: .webhook, appID: "hooks.acme.example")
        let verdict = brakes.hold(page(gone: 0..<500), of: lane, at: now, wallTime: wallTime)
        #expect(verdict.held == nil && verdict.outcomes.count == 500)
    }

    @Test func `beyond what is remembered, reports count each time`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<9_999) == 9_999)
        let more = verdict(&brakes, gone: 9_999..<10_001).held
        #expect(more?.reason.contains("10001 of 10001") == true)
        let again = verdict(&brakes, gone: 0..<10_001).held
        #expect(again?.reason.contains("10002 of 10002") == true)
    }

    @Test func `retries and pauses say nothing of devices`() {
        var brakes = UnregistrationBrakes()
        let waiting = (0..<1_000).map {
            (target: Target.test("\($0)"), outcome: Outcome.retry(after: nil, reason: "503"))
        }
        #expect(brakes.hold(waiting, of: lane, at: now, wallTime: wallTime).held == nil)
        #expect(brakes.count == 0)
        #expect(verdict(&brakes, gone: 0..<50, delivered: 100).held != nil, "they do not thin the others out")
    }

    @Test func `lanes are apart, and one that was let go believes everything`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<60) == 60)
        let other = Lane(networkID: lane.networkID, provider: .apns, appID: "other")
        #expect(brakes.hold(page(gone: 0..<10), of: other, at: now, wallTime: wallTime).held == nil)
        #expect(brakes.learn(released: [lane], at: now) == [lane])
        #expect(held(&brakes, gone: 0..<500) == 0)
        #expect(brakes.learn(released: [lane], at: now) == [], "that is no news")
        #expect(brakes.learn(released: [], at: now) == [])
        #expect(held(&brakes, gone: 60..<61) == 1)
        let formers = brakes.reset(where: { $0 == lane }, at: now + .seconds(7))
        #expect(formers == [.init(lane: lane, wasOn: true, span: .seconds(7))])
        #expect(held(&brakes, gone: 0..<1) == 0)
        let others = brakes.reset(where: { $0 == other }, at: now)
        #expect(others == [.init(lane: other, wasOn: false, span: .zero)])
    }

    @Test func `what happens while a brake is let go does not count afterwards`() {
        var brakes = UnregistrationBrakes()
        _ = brakes.learn(released: [lane], at: now)
        #expect(held(&brakes, gone: 0..<500) == 0)
        _ = brakes.learn(released: [], at: now)
        #expect(held(&brakes, gone: 500..<519) == 0)
    }

    @Test func `what was let go here stays so although the database has not said so yet`() {
        var brakes = UnregistrationBrakes()
        brakes.release(lane, at: now)
        #expect(brakes.learn(released: [], at: now + .seconds(10)) == [])
        #expect(held(&brakes, gone: 0..<60, after: .seconds(10)) == 0)
        _ = brakes.learn(released: [], at: now + .seconds(30))
        #expect(held(&brakes, gone: 0..<60, after: .seconds(30)) == 60)
    }

    @Test func `that it goes on and off is told once`() {
        var brakes = UnregistrationBrakes()
        let reason = "brake: 60 of 60 devices reported as gone"
        #expect(verdict(&brakes, gone: 0..<10).turn == nil)
        let on = verdict(&brakes, gone: 0..<60, after: .seconds(600))
        #expect(on.turn == .on(reason: reason, span: .seconds(600)))
        #expect(verdict(&brakes, gone: 0..<60).turn == nil)
        #expect(verdict(&brakes, gone: 0..<0, delivered: 240).turn == .off)
        #expect(verdict(&brakes, gone: 0..<0, delivered: 1).turn == nil)
        #expect(verdict(&brakes, gone: 60..<61).turn != nil)
        #expect(verdict(&brakes, gone: 0..<0, delivered: 243).turn == nil)
        #expect(verdict(&brakes, gone: 0..<0, delivered: 244).turn == .off)
        brakes.prune(at: now + .seconds(299))
        #expect(brakes.count == 1)
        brakes.prune(at: now + .seconds(300))
        #expect(brakes.count == 0, "nothing of it is remembered any more")
    }

    @Test func `too many lanes are not remembered, and those with a brake that is on go last`() {
        var brakes = UnregistrationBrakes()
        #expect(held(&brakes, gone: 0..<60) == 60)
        for host in 0..<UnregistrationBrakes.mostLanes * 2 {
            let lane = Lane(networkID: lane.networkID, provider: .webpush, appID: "host-\(host)")
            _ = brakes.hold(page(gone: 0..<1), of: lane, at: now, wallTime: wallTime)
        }
        #expect(brakes.count <= UnregistrationBrakes.mostLanes)
        #expect(held(&brakes, gone: 0..<1) == 1)
    }
}
