import Testing

@testable import CarillonCore

@Suite struct TurnRingTests {
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
        var ring = TurnRing<Int, Int>()
        var line: [(member: Int, load: Int)] = []
        var positions: [Int: TurnRing<Int, Int>.Position] = [:]
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
                    ring.turn(past: position)
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

    /// Comparisons for a turn of one of many members, all others of which have to wait.
    private func comparisons(of members: Int) -> Int {
        let comparisons = StepCounter()
        func load(_ load: Int) -> Counted { Counted(load: load, comparisons: comparisons) }
        var ring = TurnRing<Int, Counted>()
        let positions = (0..<members).map { ring.append($0, load: load(2)) }
        return comparisons.stepsPerRound { round in
            let one = round * 7919 % members
            ring.setLoad(load(1), at: positions[one])
            #expect(ring.first(withLoad: load(1)) == one)
            ring.setLoad(load(2), at: positions[one])
            ring.turn(past: positions[one])
            #expect(ring.first(withLoad: load(1)) == nil)
        }
    }

    @Test func `a turn takes about as many steps with thousands as with ten`() {
        let (few, many) = (comparisons(of: 10), comparisons(of: 5_000))
        #expect(many <= few * 10, "\(few) comparisons with 10, \(many) with 5,000")
    }
}
