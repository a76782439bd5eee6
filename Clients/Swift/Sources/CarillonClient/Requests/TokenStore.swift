/// Keeps a token until the service refuses it, and asks for one once for everybody who waits.
actor TokenStore {
    private let fetch: @Sendable () async throws -> String
    private var token: String?
    private var fetching: Task<Void, Never>?
    /// Counts fetches, so that the answer to one that was given up is not taken.
    private var generation = 0
    private var waiting: [Int: CheckedContinuation<String, any Error>] = [:]
    private var lastWaiter = 0

    init(fetch: @escaping @Sendable () async throws -> String) {
        self.fetch = fetch
    }

    /// The token; in place of one that the service refused another one is asked for, unless somebody else has done that.
    ///
    /// Throws what the closure throws, and `CancellationError`.
    func token(insteadOf refused: String? = nil) async throws -> String {
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

    /// Forgets the token, and whoever waits for one.
    func forget() {
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
