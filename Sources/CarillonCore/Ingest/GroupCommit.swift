import Synchronization

/// The accepting side has more waiting than it can hold: the caller should come back later.
package struct Overloaded: TransientError, CustomStringConvertible {
    /// Trying again later can help.
    package var isTransient: Bool { true }
    /// Names nothing of the caller's.
    package var description: String { "too many events are waiting to be stored" }
}

/// Lets the requests that arrive while a commit is in flight share the next one.
///
/// There is no timer: a flight takes whatever waits as soon as the last one is back, so that an idle service commits
/// each request at once and a busy one commits hundreds together.
final class GroupCommit<Item: Sendable, Receipt: Sendable>: Sendable {
    /// Commits the items of one flight together, or fails them together; one receipt for each item, in order.
    typealias Commit = @Sendable ([Item]) async throws -> [Receipt]

    private struct Submission {
        let items: [Item]
        let weight: Int
        let continuation: CheckedContinuation<[Receipt], any Error>
    }

    private struct State {
        var waiting: [Submission] = []
        var waitingWeight = 0
        var flights = 0
    }

    private let state = Mutex(State())
    private let commit: Commit
    private let weight: @Sendable (Item) -> Int
    private let limits: GroupCommitLimits

    /// A group commit.
    ///
    /// - Parameters:
    ///   - limits: How much it takes on.
    ///   - weight: About how many bytes an item takes in memory.
    ///   - commit: Commits one flight.
    init(limits: GroupCommitLimits, weight: @Sendable @escaping (Item) -> Int, commit: @escaping Commit) {
        self.limits = limits
        self.weight = weight
        self.commit = commit
    }

    /// How many bytes wait for a flight.
    var waitingWeight: Int { state.withLock { $0.waitingWeight } }

    /// Commits these items, all or none; returns when they are durable.
    ///
    /// - Throws: ``Overloaded`` at once when too much waits, ``DeadlineExceeded`` or the commit's own error otherwise.
    func submit(_ items: [Item]) async throws -> [Receipt] {
        let weight = items.reduce(0) { $0 + self.weight($1) }
        return try await withCheckedThrowingContinuation { continuation in
            let submission = Submission(items: items, weight: weight, continuation: continuation)
            let verdict: (isFull: Bool, takesOff: Bool) = state.withLock { state in
                guard state.waitingWeight + weight <= limits.waitingWeight else { return (true, false) }
                state.waiting.append(submission)
                state.waitingWeight += weight
                guard state.flights < limits.flights else { return (false, false) }
                state.flights += 1
                return (false, true)
            }
            if verdict.isFull { continuation.resume(throwing: Overloaded()) }
            // Unstructured on purpose: a flight carries many callers' items and must not end with any one of them.
            if verdict.takesOff { Task { await fly() } }
        }
    }

    private func fly() async {
        while let submissions = nextFlight() {
            do {
                let receipts = try await commitInTime(submissions.flatMap(\.items))
                var position = 0
                for submission in submissions {
                    let end = position + submission.items.count
                    submission.continuation.resume(returning: Array(receipts[position..<end]))
                    position = end
                }
            } catch  where submissions.count == 1 || error.isTransient {
                for submission in submissions { submission.continuation.resume(throwing: error) }
            } catch {
                await flySingly(submissions)
            }
        }
    }

    /// One poisonous item must not fail its neighbours: each request is tried by itself.
    private func flySingly(_ submissions: [Submission]) async {
        for submission in submissions {
            do {
                submission.continuation.resume(returning: try await commitInTime(submission.items))
            } catch {
                submission.continuation.resume(throwing: error)
            }
        }
    }

    private func commitInTime(_ items: [Item]) async throws -> [Receipt] {
        try await withDeadline(limits.deadline) { [commit] in try await commit(items) }
    }

    private func nextFlight() -> [Submission]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.flights -= 1
                return nil
            }
            var count = 0
            var items = 0
            for submission in state.waiting {
                if count > 0, items + submission.items.count > limits.itemsPerFlight { break }
                count += 1
                items += submission.items.count
            }
            let submissions = Array(state.waiting[..<count])
            state.waiting.removeFirst(count)
            state.waitingWeight -= submissions.reduce(0) { $0 + $1.weight }
            return submissions
        }
    }
}

/// How much a ``GroupCommit`` takes on.
struct GroupCommitLimits: Sendable {
    /// How many bytes of items may wait; beyond it callers are turned away.
    var waitingWeight = 64 << 20
    /// How many items one flight takes, unless a single request has more.
    var itemsPerFlight = 500
    /// How many flights may be in the air at once.
    var flights = 3
    /// After which time a flight is given up, so that callers are not kept waiting by a database that hangs.
    var deadline = Duration.seconds(5)
}
