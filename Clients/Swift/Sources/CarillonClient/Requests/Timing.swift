import Foundation

/// What passes by itself: time and chance.
struct Timing: Sendable {
    /// The time for deadlines.
    var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Waits, and throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// The time that servers write.
    var date: @Sendable () -> Date = { Date() }
    /// A number in `0..<1`.
    var random: @Sendable () -> Double = { .random(in: 0..<1) }
}
