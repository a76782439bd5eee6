import CarillonTesting
import Synchronization
import Testing

@testable import Postgres

/// A task that has a connection while it works.
@Suite struct LentConnectionTests {
    @Test func `all that its task asks is asked on one thread and one connection`() async throws {
        try await withTestPool { pool in
            try await use(pool)
            let lent = try #require(pool.lend())
            let threads = Mutex<[Bool]>([])
            let note: @Sendable () -> Void = { threads.withLock { $0.append(lent.executor.isCurrent) } }
            let backends = try await Task(executorPreference: lent.executor) {
                note()
                return try await lent.serve {
                    let first = try await backend(pool, then: note)
                    note()
                    async let child = backend(pool, then: note)
                    return [first, try await child, try await backend(pool, then: note)]
                }
            }.value
            #expect(Set(backends).count == 1)
            #expect(threads.withLock(\.self) == Array(repeating: true, count: 5))
            #expect(pool.statistics == PoolStatistics(size: 1, idle: 1, opening: 0, waiting: 0))
        }
    }

    @Test func `what others ask meanwhile is asked elsewhere`() async throws {
        try await withTestPool { pool in
            try await use(pool)
            let lent = try #require(pool.lend())
            let (own, others) = try await Task(executorPreference: lent.executor) {
                try await lent.serve {
                    // It knows of the loan, but does not run on its thread.
                    let other = Task { try await backend(pool) }
                    return (try await backend(pool), try await other.value)
                }
            }.value
            #expect(own != others)
        }
    }

    @Test func `when it breaks, its task gets another`() async throws {
        try await withTestPool { pool in
            try await use(pool)
            let lent = try #require(pool.lend())
            let backends = try await Task(executorPreference: lent.executor) {
                try await lent.serve {
                    let first = try await backend(pool)
                    try await terminate(first)
                    let second = try await backend(pool)
                    return [first, second, try await backend(pool)]
                }
            }.value
            #expect(backends[0] != backends[1])
            #expect(backends[1] == backends[2])
            try await eventually("it is replaced") {
                pool.statistics == PoolStatistics(size: 1, idle: 1, opening: 0, waiting: 0)
            }
        }
    }

    @Test func `a task goes on although its connection was closed`() async throws {
        let ended = Counter()
        let task = try await withTestPool { pool in
            try await use(pool)
            let lent = try #require(pool.lend())
            return Task(executorPreference: lent.executor) {
                await lent.serve {}
                try? await eventually("the pool is gone") { ended.value == 1 }
                return lent.executor.isCurrent
            }
        }
        ended.increment()
        #expect(await task.value)
    }

    @Test func `whom nobody has serve gives it back at the end`() async throws {
        try await withTestPool { pool in
            try await use(pool)
            for _ in 0..<3 { await Task(executorPreference: pool.lend()?.executor) {}.value }
            try await eventually("it is back") { pool.statistics.idle == 1 }
        }
    }

    @Test func `a cancelled task's statement is interrupted`() async throws {
        try await withTestPool { pool in
            try await use(pool)
            let lent = try #require(pool.lend())
            let begun = Counter()
            let task = Task(executorPreference: lent.executor) {
                try await lent.serve {
                    try await pool.withConnection { session in
                        begun.increment()
                        try session.execute("SELECT pg_sleep(600)")
                    }
                }
            }
            try await eventually("it runs") { begun.value == 1 }
            task.cancel()
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
        }
    }
}

extension TaskExecutor {
    fileprivate var isCurrent: Bool { (self as? ConnectionThread)?.isCurrent ?? false }
}
