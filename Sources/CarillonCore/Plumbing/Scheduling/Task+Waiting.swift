extension Task {
    /// What comes of a task that several wait for: whoever is cancelled stops waiting, and the task goes on for the others.
    ///
    /// - Throws: `CancellationError` when the task that waits is cancelled first.
    package var sharedResult: Result<Success, Failure> {
        get async throws(CancellationError) {
            let (results, continuation) = AsyncStream.makeStream(of: Result<Success, Failure>.self)
            // Lives as long as the task that it waits for.
            Task<Void, Never> {
                continuation.yield(await result)
                continuation.finish()
            }
            for await result in results { return result }
            throw _Concurrency.CancellationError()
        }
    }
}
