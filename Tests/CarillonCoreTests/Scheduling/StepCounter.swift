import Synchronization

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
