import Testing

@testable import CarillonCore

@Suite struct LaneConditionTests {
    private func answers(delivered: Int = 0, others: Int = 0, gone: Int = 0) -> DeviceReports.Answers {
        var answers = DeviceReports.Answers()
        answers.delivered = (0..<delivered).map { DeviceID(trusted: "delivered-\($0)") }
        answers.others = others
        answers.gone = (0..<gone).map { DeviceID(trusted: "gone-\($0)") }
        return answers
    }

    @Test(arguments: [
        (19, 0, 0, false), (20, 0, 0, true), (20, 1, 0, false), (49, 10, 0, false), (50, 200, 0, false),
        (50, 199, 0, true), (50, 100, 99, true), (50, 100, 100, false), (1_000, 4_000, 0, false),
    ])
    func `many reports and more than a fifth, or some and nothing else, are not believed`(
        gone: Int,
        delivered: Int,
        others: Int,
        isOn: Bool
    ) {
        var condition = LaneCondition()
        let change = condition.note(answers(delivered: delivered, others: others, gone: gone), at: testNow)
        #expect((change == .on) == isOn)
        #expect((condition.brakedSince == testNow) == isOn)
    }

    @Test func `what is old counts half while anything is delivered`() {
        var condition = LaneCondition()
        let outcome1 = condition.note(answers(delivered: 1_000, gone: 40), at: testNow)
        #expect(outcome1 == nil)
        let outcome2 = condition.note(answers(delivered: 10, gone: 25), at: testNow + .seconds(301))
        #expect(outcome2 == nil)
        #expect(condition.reports.gone == 45)
        #expect(condition.reports.delivered == 510)
    }

    @Test func `where nothing is delivered neither time nor traffic makes it right`() {
        var condition = LaneCondition()
        for minutes in 0..<9 {
            let outcome3 = condition.note(answers(gone: 2), at: testNow + .seconds(minutes * 600))
            #expect(outcome3 == nil)
        }
        let outcome4 = condition.note(answers(gone: 2), at: testNow + .seconds(5_400))
        #expect(outcome4 == .on)
        #expect(condition.undo?.since == testNow, "all of it is undone")
        let outcome5 = condition.note(answers(others: 9), at: testNow + .seconds(90_000))
        #expect(outcome5 == nil)
        #expect(condition.brakedSince != nil)
    }

    @Test func `the brake goes off when four times as many devices were delivered to`() {
        var condition = LaneCondition()
        let outcome6 = condition.note(answers(gone: 50), at: testNow)
        #expect(outcome6 == .on)
        let later = testNow + .seconds(1)
        let outcome7 = condition.note(answers(delivered: 1), proven: .init(gone: 50, delivered: 199), at: later)
        #expect(outcome7 == nil)
        var restored = condition
        let outcome8 = condition.note(answers(delivered: 1), proven: .init(gone: 50, delivered: 200), at: later)
        #expect(outcome8 == .off)
        let few = restored.note(answers(delivered: 1), proven: .init(gone: 0, delivered: 9), at: later)
        #expect(few == nil, "that is no evidence")
        let again = restored.note(answers(delivered: 1), proven: .init(gone: 10, delivered: 40), at: later)
        #expect(again == .off, "of those that were reported forty were delivered to")
        #expect(condition.isWell(at: later) == false, "what was unregistered has still to be undone")
        condition.apply(.undone(until: testNow), at: later)
        #expect(condition.isWell(at: later))
    }

    @Test func `an admin who believes the reports is obeyed until the time is over`() {
        var condition = LaneCondition()
        _ = condition.note(answers(gone: 50), at: testNow)
        condition.apply(.believe(until: testNow + .seconds(60)), at: testNow)
        #expect(condition.brakedSince == nil)
        #expect(condition.undo == nil)
        let outcome9 = condition.note(answers(gone: 500), at: testNow + .seconds(59))
        #expect(outcome9 == nil)
        let outcome10 = condition.note(answers(gone: 50), at: testNow + .seconds(60))
        #expect(outcome10 == .on)
    }

    @Test func `a new credential ends pause and brake, and undoes what was reported, however few`() {
        var condition = LaneCondition()
        _ = condition.note(answers(gone: 3), at: testNow)
        condition.apply(.pause(for: nil, reason: "403"), at: testNow)
        condition.apply(.credentialChanged, at: testNow + .seconds(10))
        #expect(condition.pause == nil)
        #expect(condition.undo?.since == testNow)
        #expect(condition.undo?.until == testNow + .seconds(25), "what is on its way is written by then")
        var clean = LaneCondition()
        clean.apply(.credentialChanged, at: testNow)
        #expect(clean.isWell(at: testNow))
    }

    @Test func `pauses get longer up to ten minutes, and begin anew when something went through`() {
        var condition = LaneCondition()
        var lengths: [Duration] = []
        var time = testNow
        for _ in 0..<8 {
            condition.apply(.pause(for: nil, reason: "down"), at: time)
            lengths.append(condition.remainingPause(at: time) ?? .zero)
            time = time + lengths[lengths.count - 1]
        }
        #expect(lengths == [15, 30, 60, 120, 240, 480, 600, 600].map(Duration.seconds))
        #expect(condition.pause?.since == testNow)
        condition.apply(.resume, at: time)
        condition.apply(.pause(for: nil, reason: "down"), at: time)
        #expect(condition.remainingPause(at: time) == .seconds(15))
    }

    @Test(arguments: [nil, 1, 5, 20, 60] as [Int?], [0, 4, 100])
    func `a paused lane is tried at most three times in its first minute, and no two try it at a time`(
        named: Int?,
        answerAfter: Int
    ) {
        let pause = named.map { Duration.seconds($0) }
        var condition = LaneCondition()
        condition.apply(.pause(for: pause, reason: "down"), at: testNow)
        var tries: [Int] = []
        for second in 0..<3_600 {
            let now = testNow + .seconds(second)
            if condition.remainingPause(at: now) == nil {
                condition.apply(.probing, at: now)
                #expect(condition.remainingPause(at: now) == LaneCondition.trialTime)
                tries.append(second)
            }
            // What never answers, as after a crash, is tried again after a while.
            if tries.last == second - answerAfter {
                condition.apply(.stillFailing(for: pause, reason: "down"), at: now)
            }
        }
        #expect(tries.count { $0 < 60 } <= 3)
        #expect(tries.first == named ?? 15)
        #expect(condition.pause?.since == testNow)
        let longest = zip(tries, tries.dropFirst()).map { $1 - $0 }.max() ?? 0
        let expected = named.map { max($0 + answerAfter, 30) } ?? 600 + answerAfter
        #expect(answerAfter < 30 ? longest == expected : longest <= expected)
    }

    @Test func `there is nothing to try of a lane that is well, or paused`() {
        var condition = LaneCondition()
        condition.apply(.probing, at: testNow)
        #expect(condition == LaneCondition())
        condition.apply(.pause(for: nil, reason: "down"), at: testNow)
        let paused = condition
        condition.apply(.probing, at: testNow + .seconds(14))
        #expect(condition == paused)
    }

    @Test func `after a try that told nothing the pause is what it was, and the next one may try`() {
        var condition = LaneCondition()
        condition.apply(.probedInVain(), at: testNow)
        #expect(condition == LaneCondition())
        condition.apply(.pause(for: nil, reason: "down"), at: testNow)
        let now = testNow + .seconds(16)
        condition.apply(.probing, at: testNow + .seconds(15))
        #expect(condition.remainingPause(at: now) == .seconds(29))
        condition.apply(.probedInVain(), at: now)
        #expect(condition.remainingPause(at: now) == nil)
        #expect(condition.pause?.since == testNow && condition.nextPause == .seconds(30))
    }

    @Test func `what is said during a pause makes it longer, never shorter, and counts for nothing`() {
        var condition = LaneCondition()
        condition.apply(.pause(for: nil, reason: "first"), at: testNow)
        condition.apply(.pause(for: nil, reason: "second"), at: testNow)
        #expect(condition.remainingPause(at: testNow) == .seconds(15))
        condition.apply(.pause(for: .seconds(60), reason: "third"), at: testNow)
        #expect(condition.remainingPause(at: testNow) == .seconds(60))
        #expect(condition.pause?.reason == "first")
        #expect(condition.nextPause == .seconds(30))
    }
}
