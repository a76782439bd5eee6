import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

@Suite struct PacedReadingTests {
    private struct Away: Error {}

    /// A store that answers when it is told to.
    private final class Store: Sendable {
        private let state = Mutex((questions: [Set<Int>](), answers: [CheckedContinuation<Set<Int>, any Error>]()))

        var questions: [Set<Int>] { state.withLock(\.questions) }

        func read(_ question: Set<Int>) async throws -> Set<Int> {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    state.questions.append(question)
                    state.answers.append(continuation)
                }
            }
        }

        func answer(_ result: Result<Set<Int>, any Error>) {
            state.withLock { $0.answers.removeFirst() }.resume(with: result)
        }
    }

    private let store = Store()
    private let reading: PacedReading<Set<Int>, Set<Int>>

    init() {
        reading = PacedReading(every: .milliseconds(1), asking: []) { [store] question in try await store.read(question)
        }
    }

    /// Asks for a number; returns when that waits for a reading.
    private func ask(_ number: Int) async -> Task<Set<Int>?, any Error> {
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let task = Task { [reading] in
            try await reading.answer { question in
                question.insert(number)
                ask.finish()
                return true
            }
        }
        for await _ in asked {}
        return task
    }

    @Test func `who asks during a reading is answered by the next one, together with others`() async throws {
        let first = await ask(1)
        try await eventually("the first reading") { store.questions == [[1]] }
        let others = [await ask(2), await ask(3)]
        #expect(store.questions == [[1]])
        store.answer(.success([1]))
        #expect(try await first.value == [1])
        try await eventually("the second reading") { store.questions == [[1], [2, 3]] }
        store.answer(.success([3]))
        for other in others { #expect(try await other.value == [3]) }
        #expect(try await reading.answer { _ in false } == nil)
    }

    @Test func `who waits for a reading that fails has its error, and who comes later has another reading`()
        async throws
    {
        let first = await ask(1)
        try await eventually("the first reading") { store.questions == [[1]] }
        let second = await ask(2)
        store.answer(.failure(Away()))
        await #expect(throws: Away.self) { _ = try await first.value }
        await #expect(throws: Away.self) { _ = try await second.value }
        #expect(store.questions == [[1]])
        let third = await ask(3)
        try await eventually("another reading") { store.questions == [[1], [3]] }
        store.answer(.success([3]))
        #expect(try await third.value == [3])
    }
}
