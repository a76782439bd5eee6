/// Whether an endpoint is asked: after ten failures in a row not for a while, then by one question that tries whether it
/// works again.
package struct InterceptionCircuit: Sendable {
    /// What changed by an answer.
    package enum Change: Sendable, Equatable {
        /// It is not asked for a while.
        case opened
        /// It is asked again.
        case closed
    }

    /// Whether it is asked now.
    package enum Admission: Sendable, Equatable {
        /// It is.
        case asked
        /// It is, to try whether it works again.
        case probing
        /// It is not.
        case refused
    }

    /// How many failures in a row it takes.
    package static let tolerance = 10
    /// For how long it is not asked at first; twice as long each time.
    package static let shortestPause = Duration.seconds(30)
    /// For how long at the most.
    package static let longestPause = Duration.seconds(300)

    private var failures = 0
    private var pause = Self.shortestPause
    private var openUntil: ContinuousClock.Instant?
    private var isProbing = false

    /// A circuit of an endpoint of which nothing is known yet.
    package init() {}

    /// Whether it is closed and nothing has to be remembered.
    package var isClean: Bool { failures == 0 && openUntil == nil }

    /// Whether the endpoint is not asked but to try it.
    package var isOpen: Bool { openUntil != nil }

    /// Whether it was to be tried long ago, and nobody came to do so.
    package func isForgotten(at now: ContinuousClock.Instant) -> Bool {
        openUntil.map { now - $0 > Self.longestPause * 2 } ?? false
    }

    /// Decides on a question; whoever may probe has to say what came of it.
    package mutating func admit(at now: ContinuousClock.Instant) -> Admission {
        guard let openUntil else { return .asked }
        guard now >= openUntil, !isProbing else { return .refused }
        isProbing = true
        return .probing
    }

    /// A question was answered.
    package mutating func succeeded() -> Change? {
        defer { self = Self() }
        return openUntil == nil ? nil : .closed
    }

    /// A question failed; those that were on their way when it opened change nothing any more.
    package mutating func failed(asProbe: Bool, at now: ContinuousClock.Instant) -> Change? {
        if asProbe, isProbing {
            isProbing = false
            pause = min(pause * 2, Self.longestPause)
            openUntil = now + pause
            return nil
        }
        guard openUntil == nil else { return nil }
        failures += 1
        guard failures >= Self.tolerance else { return nil }
        openUntil = now + pause
        return .opened
    }

    /// A question was given up before it was asked.
    package mutating func abandoned(asProbe: Bool) {
        if asProbe { isProbing = false }
    }
}
