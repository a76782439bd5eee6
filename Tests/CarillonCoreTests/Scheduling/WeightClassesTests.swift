import Testing

@testable import CarillonCore

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
