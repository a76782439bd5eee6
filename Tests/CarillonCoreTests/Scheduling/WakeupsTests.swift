import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// Who is woken when there is something to do.
@Suite(.timeLimit(.minutes(1))) struct WakeupsTests {
    private let wakeups = Wakeups()

    /// Work that is done after so many rounds, and how many there were.
    private final class Work: Sendable {
        private let state: Mutex<(left: Int, rounds: Int)>

        init(left: Int) { state = Mutex((left, 0)) }

        var rounds: Int { state.withLock(\.rounds) }

        func put() { state.withLock { $0.left += 1 } }

        func isLeftAfterRound() -> Bool {
            state.withLock { state in
                state.rounds += 1
                state.left -= 1
                return state.left > 0
            }
        }
    }

    /// How many rounds there were when work was put there so many times, each time after what was there is done.
    private func rounds(_ work: Work, putting times: Int = 0) async throws -> Int {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await wakeups.repeating(every: .milliseconds(1)) { work.isLeftAfterRound() } }
            for expected in work.rounds..<work.rounds + times {
                work.put()
                wakeups.call()
                try await waitUntil { work.rounds > expected }
            }
            // Whoever looked without being called would be seen meanwhile; the more so, the faster the machine is.
            try await Task.sleep(for: .milliseconds(20))
            group.cancelAll()
            try await group.waitForAll()
        }
        return work.rounds
    }

    @Test func `nothing is done while nobody calls`() async throws { #expect(try await rounds(Work(left: 5)) == 0) }

    @Test func `after a call work is done until nothing is left, and then only after another call`() async throws {
        #expect(try await rounds(Work(left: 0), putting: 3) == 3)
    }

    @Test func `what was called for before anybody does it is done, several calls as one`() async throws {
        let work = Work(left: 3)
        for _ in 0..<10 { wakeups.call() }
        let running = Task { await wakeups.repeating(every: .milliseconds(1)) { work.isLeftAfterRound() } }
        try await waitUntil { work.rounds == 3 }
        running.cancel()
        await running.value
        #expect(work.rounds == 3)
    }

    @Test func `it ends while it waits to do something`() async throws {
        wakeups.call()
        let running = Task { await wakeups.repeating(every: .seconds(3_600)) { true } }
        running.cancel()
        await running.value
    }
}
