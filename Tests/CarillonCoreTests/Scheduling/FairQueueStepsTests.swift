import Testing

@testable import CarillonCore

/// What a turn costs must not grow with how many others there are, nor with what they have waiting.
@Suite struct FairQueueStepsTests {
    /// A tenant that counts how often it is looked up.
    private struct Tenant: Hashable, Sendable {
        let number: Int
        let steps: StepCounter

        static func == (left: Self, right: Self) -> Bool {
            left.steps.step()
            return left.number == right.number
        }

        func hash(into hasher: inout Hasher) {
            steps.step()
            hasher.combine(number)
        }
    }

    private typealias Queue = FairQueue<Tenant, String, Int>

    private let steps = StepCounter()
    private let now = ContinuousClock.now

    /// A queue in which each of so many tenants has an item that is worked on and others that wait.
    private func crowdedQueue(of tenants: Int, _ places: Int) -> (queue: Queue, turns: [Queue.Turn]) {
        var queue = Queue(limits: FairQueueLimits(weight: 1_000_000, places: places))
        for number in 0..<tenants {
            for item in 0..<3 { submit(item, number, to: &queue) }
        }
        let turns = queue.next(upTo: tenants, at: now)
        #expect(Set(turns.map(\.tenant)).count == tenants)
        return (queue, turns)
    }

    private func submit(_ item: Int, _ number: Int, to queue: inout Queue) {
        let tenant = Tenant(number: number, steps: steps)
        let isIn =
            queue.reserve(1, of: tenant, in: "lane", at: now)
            && queue.fill(item, weight: 1, of: tenant, in: "lane", at: now)
        #expect(isIn)
    }

    /// For an item that is through, the next one, and one more that is submitted.
    private func stepsWithoutFreePlaces(_ tenants: Int) -> Int {
        var (queue, turns) = crowdedQueue(of: tenants, tenants)
        return steps.stepsPerRound { round in
            #expect(!queue.hasTurn && !queue.hasNewcomers && queue.workingPerTenant == 1)
            let turn = turns.remove(at: round * 7919 % turns.count)
            submit(9, turn.tenant.number, to: &queue)
            queue.finished(turn, at: now)
            #expect(queue.hasTurn && queue.hasNewcomers)
            let next = queue.next(upTo: 64, at: now)
            #expect(next.map(\.tenant.number) == [turn.tenant.number])
            turns += next
        }
    }

    /// For one that goes ahead of all those that have something in work, and places are free.
    private func stepsOfNewcomers(_ tenants: Int) -> Int {
        var (queue, _) = crowdedQueue(of: tenants, tenants * 100)
        return steps.stepsPerRound { round in
            #expect(queue.hasTurn && !queue.hasNewcomers)
            submit(9, tenants + round, to: &queue)
            #expect(queue.hasNewcomers)
            let next = queue.next(upTo: 64, ofNewcomers: true, at: now)
            #expect(next.map(\.tenant.number) == [tenants + round])
            for turn in next { queue.finished(turn, at: now) }
        }
    }

    @Test func `with all places taken a turn takes as many steps among thousands as among ten`() {
        let (few, many) = (stepsWithoutFreePlaces(10), stepsWithoutFreePlaces(5_000))
        #expect(many <= few * 3, "\(few) steps with 10, \(many) with 5,000")
    }

    @Test func `who goes ahead is found in as many steps among thousands as among ten`() {
        let (few, many) = (stepsOfNewcomers(10), stepsOfNewcomers(5_000))
        #expect(many <= few * 3, "\(few) steps with 10, \(many) with 5,000")
    }
}
