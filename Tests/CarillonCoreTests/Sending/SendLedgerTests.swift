import Testing

@testable import CarillonCore

@Suite struct SendLedgerTests {
    private let now = ContinuousClock.now
    private let patience = Duration.milliseconds(80)

    private func ledger(of count: Int) -> SendLedger {
        let group = DeliveryGroup.test((0..<count).map { .test("d-\($0)") })
        return SendLedger(LeasedGroup(group: group, readPoint: ReadPoint("0", moment: testNow), readAt: now))
    }

    private func report(_ range: Range<Int>, to ledger: SendLedger, after: Duration = .zero) {
        for index in range { ledger.report(ledger.group.targets[index], .delivered(id: nil), at: now + after) }
    }

    private func isDue(_ ledger: SendLedger, after: Int) -> Bool {
        ledger.isPageDue(after: patience, at: now + .milliseconds(after))
    }

    @Test func `nothing is due while nothing was reported`() {
        let ledger = ledger(of: 10)
        #expect(!isDue(ledger, after: 10_000))
        report(0..<5, to: ledger)
        _ = ledger.takePage(isOver: false)
        #expect(!isDue(ledger, after: 10_000))
    }

    @Test func `a page is due when its first outcome has waited`() {
        let ledger = ledger(of: 100)
        report(0..<20, to: ledger)
        report(20..<40, to: ledger, after: .milliseconds(70))
        #expect(!isDue(ledger, after: 79))
        #expect(isDue(ledger, after: 80))
    }

    @Test func `few outcomes of a large group wait for twice as long`() {
        let ledger = ledger(of: 500)
        report(0..<45, to: ledger)
        #expect(!isDue(ledger, after: 159))
        #expect(isDue(ledger, after: 160))
        report(45..<46, to: ledger, after: .milliseconds(90))
        #expect(isDue(ledger, after: 90), "with one more they are not few")
    }

    @Test func `while writing takes long, outcomes wait for less long`() {
        let few = ledger(of: 500)
        report(0..<45, to: few)
        #expect(!few.isPageDue(after: patience, less: .milliseconds(50), at: now + .milliseconds(109)))
        #expect(few.isPageDue(after: patience, less: .milliseconds(50), at: now + .milliseconds(110)))
        let many = ledger(of: 100)
        report(0..<20, to: many)
        #expect(!many.isPageDue(after: patience, less: .milliseconds(80), at: now + .milliseconds(79)))
        #expect(many.isPageDue(after: patience, less: .milliseconds(100), at: now + .milliseconds(60)))
        #expect(many.isPageDue(after: patience, less: .seconds(1), at: now))
    }

    @Test func `a large page does not wait`() {
        let ledger = ledger(of: 500)
        report(0..<249, to: ledger)
        #expect(!isDue(ledger, after: 0))
        report(249..<250, to: ledger)
        #expect(isDue(ledger, after: 0))
    }

    @Test func `a group whose answers trickle in is written a bounded number of times`() {
        let ledger = ledger(of: 500)
        var (pages, oldest) = (0, 0)
        var waitsSince: Int?
        for millisecond in 0..<10_000 {
            if millisecond % 20 == 0 {
                let index = millisecond / 20
                report(index..<index + 1, to: ledger, after: .milliseconds(millisecond))
                waitsSince = waitsSince ?? millisecond
            }
            guard millisecond % 20 == 10, isDue(ledger, after: millisecond), let since = waitsSince else { continue }
            oldest = max(oldest, millisecond - since)
            _ = ledger.takePage(isOver: false)
            waitsSince = nil
            pages += 1
        }
        #expect(pages <= 65)
        #expect(oldest <= 180)
    }
}
