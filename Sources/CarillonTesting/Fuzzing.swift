package import CarillonCore
import Foundation

/// Tries something with random numbers: a few times with the same ones, or for a while with others.
package enum Fuzzing {
    /// How many seconds each trial takes, where somebody wants it to be long.
    private static let seconds = ProcessInfo.processInfo.environment["CARILLON_FUZZ_SECONDS"].flatMap(Double.init)

    /// Tries so often, unless it is to be long. The numbers begin with `seed`; in long runs with another one for each, which is told.
    package static func run(_ count: Int, seed: String, _ body: (inout SplitMix) throws -> Void) rethrows {
        var random = generator(of: seed)
        for _ in 0..<count { try body(&random) }
        guard let end else { return }
        while ContinuousClock.now < end { try body(&random) }
    }

    /// The same with what takes its time.
    package static func run(_ count: Int, seed: String, _ body: (inout SplitMix) async throws -> Void) async rethrows {
        var random = generator(of: seed)
        for _ in 0..<count { try await body(&random) }
        guard let end else { return }
        while ContinuousClock.now < end { try await body(&random) }
    }

    private static var end: ContinuousClock.Instant? { seconds.map { .now + .seconds($0) } }

    private static func generator(of seed: String) -> SplitMix {
        let usual = seed.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }
        guard seconds != nil else { return SplitMix(state: usual) }
        let state = UInt64.random(in: 0 ... .max)
        print("fuzzing \(seed) from \(state)")
        return SplitMix(state: state)
    }
}
