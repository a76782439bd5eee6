import NIOCore

extension EventLoopFuture where Value: Sendable {
    func bounded(by deadline: NIODeadline, orThrow error: OutboundError) -> EventLoopFuture<Value> {
        let outcome = eventLoop.makePromise(of: Value.self)
        // Completing it again does nothing: the first of the two decides.
        let timer = eventLoop.scheduleTask(deadline: deadline) { outcome.fail(error) }
        whenComplete { result in
            timer.cancel()
            outcome.completeWith(result)
        }
        return outcome.futureResult
    }

    /// Waits for the value until a deadline, and not beyond the cancellation of the task.
    ///
    /// `abandon` ends what was being waited for; it is called on the event loop when the wait ended first, and may know a better reason
    /// for that than the time.
    /// - Throws: The future's error, what `abandon` says, ``OutboundError/timedOut``, or `CancellationError`.
    func value(
        until deadline: NIODeadline,
        abandon: @escaping @Sendable () -> OutboundError? = { nil }
    ) async throws -> Value {
        let outcome = eventLoop.makePromise(of: Value.self)
        let isOver = NIOLoopBoundBox.makeBoxSendingValue(false, eventLoop: eventLoop)
        let giveUp: @Sendable (any Error) -> Void = { error in
            guard !isOver.value else { return }
            isOver.value = true
            let reason = abandon()
            outcome.fail(error is CancellationError ? error : reason ?? error)
        }
        let timer = eventLoop.scheduleTask(deadline: deadline) { giveUp(OutboundError.timedOut) }
        whenComplete { result in
            timer.cancel()
            guard !isOver.value else { return }
            isOver.value = true
            outcome.completeWith(result)
        }
        return try await withTaskCancellationHandler {
            try await outcome.futureResult.get()
        } onCancel: {
            eventLoop.execute { giveUp(CancellationError()) }
        }
    }
}
