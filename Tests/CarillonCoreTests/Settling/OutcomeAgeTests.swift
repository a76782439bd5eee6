import Synchronization
import Testing

@testable import CarillonCore

/// How old outcomes are when they are written down, by a clock that counts milliseconds and nothing else.
@Suite struct OutcomeAgeTests {
    /// A replica whose timers go off every so often, and a database whose writes take what a test says.
    private struct Replica {
        /// How late timers are on a machine that has too much to do.
        static let beat = 20
        static let pageInterval = Duration.milliseconds(80)

        let start = ContinuousClock.now
        /// How long a write takes that begins at a millisecond.
        let writeTime: (Int) -> Int
        var line = SettlementLine()
        var pacing = SettlePacing()
        var ledgers: [SendLedger] = []
        var writes: [(start: Int, end: Int, batch: [Settlement])] = []
        /// The oldest outcome of each write, with when it began.
        var ages: [(start: Int, age: Int)] = []
        var mostAtATime = 0

        func instant(_ millisecond: Int) -> ContinuousClock.Instant { start + .milliseconds(millisecond) }

        private mutating func handOn(_ ledger: SendLedger, at millisecond: Int) {
            let page = ledger.takePage(isOver: false, at: instant(millisecond))
            let rest = Remainder(targets: page.unreported, attempt: 0, delay: nil)
            var settlement = Settlement(group: page.group, records: [], remainders: [rest])
            settlement.since = page.since
            line.append(settlement)
        }

        private func isDue(_ ledger: SendLedger, at millisecond: Int) -> Bool {
            let haste = Sender.haste(whileWritesTake: pacing.writeTime(at: instant(millisecond)))
            return ledger.isPageDue(after: Self.pageInterval, less: haste, at: instant(millisecond))
        }

        mutating func report(to ledger: SendLedger, at millisecond: Int) {
            guard let target = ledger.rest.targets.first else { return }
            ledger.report(target, .delivered(id: nil), at: instant(millisecond))
            if isDue(ledger, at: millisecond) { handOn(ledger, at: millisecond) }
        }

        mutating func pass(_ millisecond: Int) {
            let now = instant(millisecond)
            for write in writes where write.end == millisecond {
                for late in line.release(write.batch) { line.append(late) }
                _ = pacing.end(instant(write.start))
                pacing.note(.milliseconds(write.end - write.start), at: now)
                let oldest = write.batch.compactMap(\.since).min() ?? now
                ages.append((write.start, Int((now - oldest) / .milliseconds(1))))
            }
            writes.removeAll { $0.end == millisecond }
            if millisecond % Self.beat == 0 {
                for ledger in ledgers where isDue(ledger, at: millisecond) { handOn(ledger, at: millisecond) }
            }
            while pacing.begin(waiting: line.ready, oldest: line.oldest, at: now) {
                writes.append((millisecond, millisecond + writeTime(millisecond), line.next()))
            }
            mostAtATime = max(mostAtATime, writes.count)
        }
    }

    /// Lets answers to ten large groups come in for ten seconds, a few milliseconds apart.
    private func run(writeTime: @escaping (Int) -> Int) -> Replica {
        var replica = Replica(writeTime: writeTime)
        let point = ReadPoint("0", moment: testNow)
        replica.ledgers = (0..<10).map { number in
            let group = DeliveryGroup.test((0..<500).map { .test("d-\(number)-\($0)") })
            return SendLedger(LeasedGroup(group: group, readPoint: point, readAt: replica.start))
        }
        for millisecond in 0..<10_000 {
            if millisecond % 3 == 0 { replica.report(to: replica.ledgers[millisecond / 3 % 10], at: millisecond) }
            replica.pass(millisecond)
        }
        return replica
    }

    @Test(arguments: [1, 10, 30, 60, 90])
    func `no outcome is older than 250 ms when it is written, however long writes take`(writeTime: Int) {
        let replica = run { _ in writeTime }
        // The first write tells how long they take.
        let oldest = replica.ages.filter { $0.start > 300 }.map(\.age).max() ?? 0
        #expect(oldest <= 250)
        #expect(replica.ages.count > 20)
    }

    @Test func `nor when writes take long now and then`() {
        let replica = run { $0 % 1_000 < 100 ? 90 : 5 }
        #expect((replica.ages.filter { $0.start > 300 }.map(\.age).max() ?? 0) <= 250)
    }

    @Test func `while there is time, one write follows the other`() {
        #expect(run { _ in 5 }.mostAtATime == 1)
        #expect(run { _ in 25 }.mostAtATime == 1)
    }

    @Test func `a write that hangs makes no other outcome old but those of its own groups`() {
        let hanging = Mutex(0)
        var replica = run { millisecond in
            let isFirst = hanging.withLock { count in
                if millisecond >= 5_000 { count += 1 }
                return count == 1
            }
            return isFirst ? 100_000 : 10
        }
        #expect(replica.writes.contains { $0.end > 100_000 }, "it hangs")
        #expect(replica.mostAtATime > 1)
        #expect((replica.ages.filter { $0.start > 300 }.map(\.age).max() ?? 0) <= 250)
        // What came of the groups that hang meanwhile is not written before.
        let stuck = Set(replica.writes.filter { $0.end > 100_000 }.flatMap { $0.batch.map(\.group.id) })
        let next = replica.line.next()
        #expect(next.allSatisfy { !stuck.contains($0.group.id) })
    }

    @Test func `no more than two writes are under way`() {
        var pacing = SettlePacing()
        let start = ContinuousClock.now
        let old = start - .seconds(1)
        let first = pacing.begin(waiting: 1, oldest: old, at: start)
        let atOnce = pacing.begin(waiting: 1, oldest: old, at: start + .milliseconds(19))
        let second = pacing.begin(waiting: 1, oldest: old, at: start + .milliseconds(20))
        #expect(first && !atOnce && second)
        let third = pacing.begin(waiting: 1, oldest: old, at: start + .seconds(1))
        #expect(!third)
        #expect(pacing.moment(waiting: 1, oldest: old, at: start + .seconds(1)) == nil)
        let wasBeside = pacing.end(start)
        let again = pacing.begin(waiting: 1, oldest: old, at: start + .seconds(1))
        #expect(wasBeside && again)
    }

    /// Sends to one device each millisecond that outcomes are not late, for five seconds; answers how many that were.
    private func sendUnlessLate(writeTime: @escaping (Int) -> Int) -> Int {
        var replica = Replica(writeTime: writeTime)
        var sent = 0
        for millisecond in 0..<5_000 {
            let now = replica.instant(millisecond)
            if !SettlePacing.isLate(oldest: replica.line.oldest, at: now) {
                var settlement = Settlement(group: .test([.test("d-\(sent)")]), records: [], remainders: [])
                settlement.since = now
                replica.line.append(settlement)
                sent += 1
            }
            replica.pass(millisecond)
        }
        return sent
    }

    @Test func `while no write comes back, nothing is sent after the limit`() {
        // The second write begins when the oldest outcome would be too old otherwise; what comes after that grows as old.
        let sent = sendUnlessLate { _ in 1_000_000 }
        #expect(sent > 250 && sent <= 500)
    }

    @Test func `what is sent while writes take very long depends on how many there are`() {
        let sent = sendUnlessLate { _ in 1_000 }
        #expect(sent > 1_000 && sent < 3_000)
    }

    @Test func `neither slow writes nor one that hangs beside another keep anything from being sent`() {
        #expect(sendUnlessLate { $0 == 0 ? 1_000_000 : 10 } == 5_000)
        #expect(sendUnlessLate { _ in 200 } == 5_000)
    }

    @Test func `what hung for long is forgotten as soon as what took as long as the limit`() {
        var pacing = SettlePacing()
        let start = ContinuousClock.now
        pacing.note(.seconds(600), at: start)
        #expect(pacing.writeTime(at: start) == SettlePacing.limit)
        #expect(pacing.writeTime(at: start + .seconds(25)) == .zero)
    }

    @Test func `what was not sent begins no write beside another one`() {
        var pacing = SettlePacing()
        let start = ContinuousClock.now
        let first = pacing.begin(waiting: 1, oldest: nil, at: start)
        let second = pacing.begin(waiting: 500, oldest: nil, at: start + .seconds(10))
        #expect(first && !second)
        let wasBeside = pacing.end(start)
        let third = pacing.begin(waiting: 500, oldest: nil, at: start + .seconds(10))
        #expect(!wasBeside && third)
    }

    @Test func `what made writes slow is remembered for seconds`() {
        var pacing = SettlePacing()
        let start = ContinuousClock.now
        pacing.note(.milliseconds(100), at: start)
        pacing.note(.milliseconds(5), at: start + .milliseconds(500))
        #expect(pacing.writeTime(at: start + .seconds(1)) == .milliseconds(90))
        #expect(pacing.writeTime(at: start + .seconds(10)) == .zero)
        pacing.note(.milliseconds(95), at: start + .seconds(1))
        #expect(pacing.writeTime(at: start + .seconds(1)) == .milliseconds(95))
    }
}
