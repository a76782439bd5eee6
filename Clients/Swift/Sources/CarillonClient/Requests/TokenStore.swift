/// Keeps a token until the service refuses it, and asks for one once for everybody who waits.
actor TokenStore {
    private let fetch: @Sendable () async throws -> String
    private var token: String?
    private var fetching: Task<Void, Never>?
    /// Counts fetches, so that the answer to one that was given up is not taken.
    private var generation = 0
    private var waiting: [Int: CheckedContinuation<String, any Error>] = [:]
    private var lastWaiter = 0
    /// Counts whose tokens they were: forgetting them ends a person's session, and what was called for them ends with it.
    private(set) var session = 0

    init(fetch: @escaping @Sendable () async throws -> String) {
        self.fetch = fetch
    }

    /// The token; in place of one that the service refused another one is asked for, unless somebody else has done that.
    ///
    /// Throws what the closure throws, and `CancellationError`, also where the session is not the one that is given any more.
    func token(insteadOf refused: String? = nil, in session: Int) async throws -> String {
        try check(session)
        if let token, token != refused { return token }
        token = nil
        lastWaiter += 1
        let waiter = lastWaiter
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiting[waiter] = continuation
                    start()
                }
            }
        } onCancel: {
            Task { await self.leave(waiter) }
        }
    }

    /// Throws `CancellationError` where a session is over.
    func check(_ session: Int) throws {
        guard session == self.session else { throw CancellationError() }
    }

    /// Forgets the token, and whoever waits for one.
    func forget() {
        session += 1
        token = nil
        stop()
        finish(.failure(CancellationError()))
    }

    private func start() {
        guard fetching == nil else { return }
        let current = generation
        fetching = Task {
            let result: Result<String, any Error>
            do { result = .success(try await fetch()) } catch { result = .failure(error) }
            guard current == generation else { return }
            fetching = nil
            token = try? result.get()
            finish(result)
        }
    }

    private func stop() {
        generation += 1
        fetching?.cancel()
        fetching = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        let everybody = waiting
        waiting = [:]
        for continuation in everybody.values { continuation.resume(with: result) }
    }

    /// Nobody fetches for somebody who is gone.
    private func leave(_ waiter: Int) {
        guard let continuation = waiting.removeValue(forKey: waiter) else { return }
        continuation.resume(throwing: CancellationError())
        if waiting.isEmpty { stop() }
    }
}
