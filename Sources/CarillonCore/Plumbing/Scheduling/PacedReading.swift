import Synchronization

/// Reads for all who ask, one reading at a time and so many a second at most; each is answered by one that began after it asked.
final class PacedReading: Sendable {
    private struct State {
        var next: Task<Void, any Error>?
        /// The one that was begun last.
        var last: Task<Void, any Error>?
        var earliest = ContinuousClock.now
    }

    private let interval: Duration
    private let read: @Sendable () async throws -> Void
    private let state = Mutex(State())

    /// Readings that begin at least `interval` apart.
    init(every interval: Duration, _ read: @escaping @Sendable () async throws -> Void) {
        self.interval = interval
        self.read = read
    }

    /// Returns when a reading has ended that began after this was called.
    ///
    /// - Throws: What that reading throws.
    func finish() async throws {
        let reading = state.withLock { state in
            if let next = state.next { return next }
            // Unstructured on purpose: it is shared, and must not end with whoever began it.
            let next = Task { [last = state.last] in try await self.begin(after: last) }
            state.next = next
            return next
        }
        try await reading.value
    }

    private func begin(after last: Task<Void, any Error>?) async throws {
        _ = await last?.result
        try? await Task.sleep(until: state.withLock(\.earliest))
        state.withLock { state in
            (state.last, state.next) = (state.next, nil)
            state.earliest = .now + interval
        }
        try await read()
    }
}
