import Synchronization
import Testing

@testable import CarillonCore

/// What a grant costs must not grow with how many others there are, nor with what they have waiting.
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
    private func crowdedQueue(of tenants: Int, _ slots: Int) -> (queue: Queue, grants: [Queue.Grant]) {
        var queue = Queue(limits: FairQueueLimits(weight: 1_000_000, slots: slots))
        for number in 0..<tenants {
            for item in 0..<3 { submit(item, number, to: &queue) }
        }
        let grants = queue.next(upTo: tenants, at: now)
        #expect(Set(grants.map(\.tenant)).count == tenants)
        return (queue, grants)
    }

    private func submit(_ item: Int, _ number: Int, to queue: inout Queue) {
        let tenant = Tenant(number: number, steps: steps)
        let isIn =
            queue.reserve(1, of: tenant, in: "lane", at: now)
            && queue.fill(item, weight: 1, of: tenant, in: "lane", at: now)
        #expect(isIn)
    }

    /// For an item that is through, the next one, and one more that is submitted.
    private func stepsWithoutFreeSlots(_ tenants: Int) -> Int {
        var (queue, grants) = crowdedQueue(of: tenants, tenants)
        return steps.stepsPerRound { round in
            #expect(!queue.hasNext && !queue.hasNewcomers && queue.workingPerTenant == 1)
            let grant = grants.remove(at: round * 7919 % grants.count)
            submit(9, grant.tenant.number, to: &queue)
            queue.finished(grant, at: now)
            #expect(queue.hasNext && queue.hasNewcomers)
            let next = queue.next(upTo: 64, at: now)
            #expect(next.map(\.tenant.number) == [grant.tenant.number])
            grants += next
        }
    }

    /// For one that goes ahead of all those that have something in work, and slots are free.
    private func stepsOfNewcomers(_ tenants: Int) -> Int {
        var (queue, _) = crowdedQueue(of: tenants, tenants * 100)
        return steps.stepsPerRound { round in
            #expect(queue.hasNext && !queue.hasNewcomers)
            submit(9, tenants + round, to: &queue)
            #expect(queue.hasNewcomers)
            let next = queue.next(upTo: 64, ofNewcomers: true, at: now)
            #expect(next.map(\.tenant.number) == [tenants + round])
            for grant in next { queue.finished(grant, at: now) }
        }
    }

    @Test func `with all slots taken a turn takes as many steps among thousands as among ten`() {
        let (few, many) = (stepsWithoutFreeSlots(10), stepsWithoutFreeSlots(5_000))
        #expect(many <= few * 3, "\(few) steps with 10, \(many) with 5,000")
    }

    @Test func `who goes ahead is found in as many steps among thousands as among ten`() {
        let (few, many) = (stepsOfNewcomers(10), stepsOfNewcomers(5_000))
        #expect(many <= few * 3, "\(few) steps with 10, \(many) with 5,000")
    }
}

@Suite struct RoundRobinTests {
    /// A load that counts how often it is compared.
    private struct Counted: Comparable, Sendable {
        var load: Int
        let comparisons: StepCounter

        static func == (left: Self, right: Self) -> Bool { left.load == right.load }

        static func < (left: Self, right: Self) -> Bool {
            left.comparisons.step()
            return left.load < right.load
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `turns are those of a line that is walked over`(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        var ring = RoundRobin<Int, Int>()
        var line: [(member: Int, load: Int)] = []
        var positions: [Int: RoundRobin<Int, Int>.Position] = [:]
        for member in 0..<600 {
            let load = Int.random(in: 0..<5, using: &random)
            line.append((member, load))
            positions[member] = ring.append(member, load: load)
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                if let index = line.indices.randomElement(using: &random), let position = positions[line[index].member]
                {
                    line[index].load = Int.random(in: 0..<9, using: &random)
                    ring.setLoad(line[index].load, at: position)
                }
                #expect(ring.leastLoad == line.map(\.load).min())
                let limit = Int.random(in: -1..<9, using: &random)
                let next = line.firstIndex { $0.load <= limit }
                #expect(ring.first(withLoad: limit) == next.map { line[$0].member })
                guard let next, let position = positions[line[next].member] else { continue }
                if Int.random(in: 0..<3, using: &random) == 0 {
                    ring.remove(position)
                    line.remove(at: next)
                } else {
                    ring.advance(past: position)
                    line = Array(line[(next + 1)...] + line[...next])
                }
            }
        }
        var rest: [Int] = []
        while let member = ring.first(withLoad: .max), let position = positions[member] {
            rest.append(member)
            ring.remove(position)
        }
        #expect(rest == line.map(\.member))
    }

    /// Comparisons for a grant of one of many members, all others of which have to wait.
    private func comparisons(of members: Int) -> Int {
        let comparisons = StepCounter()
        func load(_ load: Int) -> Counted { Counted(load: load, comparisons: comparisons) }
        var ring = RoundRobin<Int, Counted>()
        let positions = (0..<members).map { ring.append($0, load: load(2)) }
        return comparisons.stepsPerRound { round in
            let one = round * 7919 % members
            ring.setLoad(load(1), at: positions[one])
            #expect(ring.first(withLoad: load(1)) == one)
            ring.setLoad(load(2), at: positions[one])
            ring.advance(past: positions[one])
            #expect(ring.first(withLoad: load(1)) == nil)
        }
    }

    @Test func `a turn takes about as many steps with thousands as with ten`() {
        let (few, many) = (comparisons(of: 10), comparisons(of: 5_000))
        #expect(many <= few * 10, "\(few) comparisons with 10, \(many) with 5,000")
    }
}

@Suite struct WeightClassesTests {
    @Test(arguments: UInt64(0)..<5)
    func `all that are heavier are found, and none that weighs less than half`(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        var classes = WeightClasses<Int>()
        var weights: [Int: Int] = [:]
        for _ in 0..<1_000 {
            let (member, weight) = (Int.random(in: 0..<50, using: &random), Int.random(in: 0..<1_000, using: &random))
            classes.move(member, from: weights[member, default: 0], to: weight)
            weights[member] = weight
            let limit = Int.random(in: 1..<1_000, using: &random)
            let found = classes.members(aboutOrAbove: limit)
            #expect(Set(found).count == found.count)
            #expect(Set(found).isSuperset(of: weights.filter { $0.value >= limit }.keys))
            #expect(found.allSatisfy { 2 * weights[$0, default: 0] > limit })
        }
    }

    @Test func `a member of the greatest weight is found, and none that weighs nothing`() {
        var classes = WeightClasses<String>()
        classes.move("a", from: 0, to: .max)
        classes.move("b", from: 0, to: 1)
        classes.move("b", from: 1, to: 0)
        #expect(classes.members(aboutOrAbove: .max) == ["a"])
        #expect(classes.members(aboutOrAbove: 1) == ["a"])
        classes.move("a", from: .max, to: 0)
        #expect(classes.members(aboutOrAbove: 1).isEmpty)
    }
}

/// Counts the steps that something takes, such as comparisons.
final class StepCounter: Sendable {
    private static let rounds = 100
    private let count = Atomic(0)

    func step() { count.add(1, ordering: .relaxed) }

    /// How many steps a round of some work takes on the average.
    func stepsPerRound(_ work: (_ round: Int) -> Void) -> Int {
        let before = count.load(ordering: .relaxed)
        for round in 0..<Self.rounds { work(round) }
        return (count.load(ordering: .relaxed) - before) / Self.rounds
    }
}
