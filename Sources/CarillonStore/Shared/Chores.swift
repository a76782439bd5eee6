import CarillonCore
import Postgres
import Synchronization

/// Tries again and again what is to be done, piece by piece, and leaves a piece alone that has failed: the longer, the more often it
/// did. What failed may have held its locks until then, and would hold them every minute.
final class Chores: Sendable {
    private static let firstPause = Duration.seconds(60)
    private static let longestPause = Duration.seconds(30 * 60)
    /// Of how many pieces failures are remembered.
    private static let capacity = 10_000

    private struct Failure {
        var count = 0
        var pausedUntil: Timestamp
    }

    private let clock: WallClock
    private let failures = Mutex<[String: Failure]>([:])

    init(clock: WallClock = .system) {
        self.clock = clock
    }

    /// Does a piece unless it is left alone for now; answers why it could not be done.
    func attempt(_ name: String, _ step: () async throws -> Void) async -> (any Error)? {
        let now = clock.now()
        guard failures.withLock({ $0[name].map { $0.pausedUntil <= now } ?? true }) else { return nil }
        do {
            try await step()
            failures.withLock { $0[name] = nil }
            return nil
        } catch {
            if error.isOfThePiece { noteFailure(of: name) }
            return error
        }
    }

    /// How long a piece is left alone after a failure: the first, or one that follows so many. Each doubles it.
    static func pause(afterFurther failures: Int) -> Duration {
        min(longestPause, firstPause * (1 << min(failures, 10)))
    }

    private func noteFailure(of name: String) {
        let now = clock.now()
        failures.withLock { failures in
            if failures.count >= Self.capacity { failures = failures.filter { $0.value.pausedUntil > now } }
            guard failures.count < Self.capacity else { return }
            var failure = failures[name] ?? Failure(pausedUntil: now)
            failure.pausedUntil = now + Self.pause(afterFurther: failure.count)
            failure.count += 1
            failures[name] = failure
        }
    }
}

extension Error {
    /// Whether it came of what was tried: not of somebody else's lock, which is waited for but a moment, or of PostgreSQL's being away.
    fileprivate var isOfThePiece: Bool {
        guard let error = self as? PostgresError else { return !(self is CancellationError) }
        switch error.sqlState {
        case nil: return [.decoding, .encoding].contains(error.kind)
        case .lockNotAvailable?, .adminShutdown?, .crashShutdown?, .cannotConnectNow?: return false
        default: return true
        }
    }
}
