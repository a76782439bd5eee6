import Testing

@testable import CarillonCore

/// What is left to others of a lane whose slots are all taken.
@Suite struct SlowLaneTests {
    private typealias Queue = FairQueue<String, String, Int>

    private let now = ContinuousClock.now
    private var queue = Queue(
        limits: FairQueueLimits(weight: 10_000, slots: 100, slotsPerLane: 2, patience: .milliseconds(500))
    )

    /// How many of so many items are taken.
    private mutating func add(_ count: Int, isForOthers: Bool = true, after time: Duration = .zero) -> Int {
        (0..<count).count { item in
            queue.reserve(1, of: "acme", in: "host", isForOthers: isForOthers, at: now + time)
                && queue.fill(item, weight: 1, of: "acme", in: "host", at: now + time)
        }
    }

    @Test mutating func `while there is a slot everything is taken`() {
        #expect(add(50) == 50)
        #expect(queue.slowLanes(at: now).isEmpty)
    }

    @Test mutating func `of a lane that is not known yet as many wait as a usual one gets through in time`() {
        #expect(add(2) == 2)
        #expect(queue.next(upTo: 9, at: now).count == 2)
        #expect(add(50) == 10)
        #expect(queue.slowLanes(at: now).map(\.enough) == [10])
        #expect(queue.slowLanes(at: now).map(\.isSlow) == [true])
    }

    @Test mutating func `nothing that gets through is slow, however fast it was before`() {
        #expect(add(2) == 2)
        #expect(queue.next(upTo: 9, at: now).count == 2)
        #expect(add(50, after: .milliseconds(200)) == 4)
        #expect(add(50, after: .seconds(9)) == 0)
        #expect(queue.slowLanes(at: now + .seconds(9)).map(\.enough) == [2])
    }

    @Test mutating func `a lane that gets on fast takes much, and one that becomes slow less`() {
        // Something always waits: a lane that has nothing is forgotten.
        _ = add(1)
        var moment = now
        for (time, enough) in [(Duration.milliseconds(5), 150..<201), (.milliseconds(400), 2..<3)] {
            for _ in 0..<30 {
                _ = add(2, isForOthers: false)
                let grants = queue.next(upTo: 2, at: moment)
                moment += time
                for grant in grants { queue.finished(grant, at: moment) }
            }
            _ = add(2, isForOthers: false)
            let grants = queue.next(upTo: 2, at: moment)
            #expect(queue.slowLanes(at: moment).allSatisfy { enough.contains($0.enough) })
            #expect(queue.slowLanes(at: moment).count == 1)
            // Places that are free for a moment, until the next ones are begun, change nothing.
            for grant in grants { queue.finished(grant, at: moment + time) }
            #expect(queue.slowLanes(at: moment).count == 1)
        }
        let last = queue.next(upTo: 1, at: moment)
        #expect(last.count == 1 && queue.count == 0)
        for grant in last { queue.finished(grant, at: moment) }
        #expect(queue.slowLanes(at: moment).isEmpty)
    }

    @Test mutating func `what is reserved waits, too, and what is given back does not`() {
        #expect(add(2) == 2)
        #expect(queue.next(upTo: 9, at: now).count == 2)
        func reserve() -> Bool { queue.reserve(1, of: "acme", in: "host", isForOthers: true, at: now) }
        #expect((0..<50).count { _ in reserve() } == 10)
        for _ in 0..<4 { queue.cancel(1, of: "acme", in: "host") }
        #expect((0..<50).count { _ in reserve() } == 4)
    }

    @Test mutating func `what nobody else can take is taken`() {
        #expect(add(2) == 2)
        #expect(queue.next(upTo: 9, at: now).count == 2)
        #expect(add(50, isForOthers: false) == 50)
    }
}
