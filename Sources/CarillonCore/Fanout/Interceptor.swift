package import Logging
import Synchronization

/// Asks endpoints about events before anybody is notified of them: so many at a time of each endpoint, further ones in line,
/// none while its circuit is open (FACES section C3).
package final class Interceptor: Sendable {
    /// How many questions an endpoint has at a time.
    package static let places = 64
    /// How many questions wait in line for one endpoint at the most, and how many bytes of them; see
    /// ``InterceptionQuestion/size``.
    static let longestLine = (count: 4_000, bytes: 16 << 20)
    /// How many bytes of questions wait in all lines together.
    static let mostWaiting = 64 << 20

    private let lines: Mutex<InterceptionLines>
    private let caller: any EndpointCaller
    private let source: any QuestionSource
    private let notes: EndpointNotes?
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let metrics: PipelineMetrics
    private let logger: Logger

    /// An interceptor.
    /// - Parameters:
    ///   - caller: Signs and sends questions.
    ///   - source: What signs them, and the events' bodies.
    ///   - notes: Is told how endpoints fare.
    ///   - places: How many questions an endpoint has at a time: no more than there are connections for, since who waits for
    ///     one would be taken for an endpoint that does not answer.
    ///   - clock: The time that is written into questions.
    ///   - now: The time by which circuits open and close.
    ///   - metrics: Counts what came of questions.
    ///   - logger: Is told when a circuit opens and closes.
    package init(
        caller: any EndpointCaller,
        source: any QuestionSource,
        notes: EndpointNotes? = nil,
        places: Int = Interceptor.places,
        clock: WallClock = .system,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        metrics: PipelineMetrics,
        logger: Logger
    ) {
        lines = Mutex(
            InterceptionLines(
                places: min(places, Self.places),
                longest: Self.longestLine,
                mostWaiting: Self.mostWaiting
            )
        )
        self.caller = caller
        self.source = source
        self.notes = notes
        self.clock = clock
        self.now = now
        self.metrics = metrics
        self.logger = logger
    }

    /// The endpoints that are not asked, as their last answers were failures: as lanes, which others are.
    package var openCircuits: [LaneStatus] {
        lines.withLock { $0.open }.map { key in
            LaneStatus(lane: Lane(key.endpoint, in: key.network), circuit: .open)
        }
    }

    /// What holds for an event; `nil` when it was not found out, as at shutdown.
    ///
    /// - Throws: What the store throws: the event is to be asked about again then, under the same id.
    func verdict(on question: InterceptionQuestion) async throws -> Verdict? {
        let start = now()
        let key = InterceptionKey(question.endpoint, in: question.event.networkID)
        let verdict: Verdict
        switch await enter(key, size: question.size, within: .milliseconds(question.terms.timeout)) {
        case .closed: return nil
        case .refused: verdict = unasked(.circuit, "the last questions failed", question, after: now() - start)
        case .late: verdict = unasked(.busy, "too many questions in line", question, after: now() - start)
        case .entered(let isProbe):
            guard let answer = try await ask(question, key, isProbe: isProbe) else { return nil }
            verdict = answer
        }
        metrics.intercepted(verdict.report)
        notes?.note(verdict.report, in: key.network)
        return verdict
    }

    /// Lets nobody in any more; those in line are told so, and those who were asked are waited for.
    func close() {
        for waiting in lines.withLock({ $0.close() }) { waiting.resume(.closed) }
    }

    private func ask(_ question: InterceptionQuestion, _ key: InterceptionKey, isProbe: Bool) async throws -> Verdict? {
        let call: EndpointCall
        do {
            let material = try await source.questionMaterial(
                RelayKey(
                    networkID: question.event.networkID,
                    endpointID: question.endpoint.id,
                    eventID: question.event.id
                )
            )
            guard !material.secrets.isEmpty else {
                // It has just been removed: nobody has a say any more.
                leave(key, isProbe: isProbe, isFailure: nil, reason: nil)
                return unasked(.error, "endpoint removed", question, onFailure: .deliver)
            }
            call = EndpointCall(
                networkID: question.event.networkID,
                endpointID: question.endpoint.id,
                url: question.endpoint.settings.url,
                secrets: material.secrets,
                messageID: question.event.id.description,
                body: question.body(material.body, at: clock.now()),
                format: question.endpoint.settings.format,
                timeout: .milliseconds(question.terms.timeout)
            )
        } catch  where error.isTransient {
            leave(key, isProbe: isProbe, isFailure: nil, reason: nil)
            throw error
        } catch {
            // No question can be signed, now or later: as good as no answer.
            logger.error("An endpoint cannot be asked", metadata: ["endpoint": "\(key.endpoint)", "error": "\(error)"])
            let verdict = unasked(.error, "it cannot be asked", question)
            leave(key, isProbe: isProbe, isFailure: true, reason: verdict.report)
            return verdict
        }
        let answer = await caller.call(call)
        guard !Task.isCancelled else {
            leave(key, isProbe: isProbe, isFailure: nil, reason: nil)
            return nil
        }
        let verdict = Verdict(
            answer,
            of: question.endpoint.id,
            in: question.endpoint.settings.format,
            onFailure: question.terms.onFailure,
            content: question.event.event.direct?.content
        )
        leave(key, isProbe: isProbe, isFailure: verdict.report.outcome.isFailure, reason: verdict.report)
        return verdict
    }

    /// What holds where the endpoint was not asked.
    private func unasked(
        _ outcome: InterceptionReport.Ending,
        _ reason: String,
        _ question: InterceptionQuestion,
        onFailure: EndpointRole.Interception.Failure? = nil,
        after time: Duration = .zero
    ) -> Verdict {
        Verdict(
            outcome,
            of: question.endpoint.id,
            onFailure: onFailure ?? question.terms.onFailure,
            reason: reason,
            time: time
        )
    }

    /// Waits for a place.
    private func enter(
        _ key: InterceptionKey,
        size: Int,
        within limit: Duration
    ) async -> InterceptionLines.Entry {
        let waiting: InterceptionLines.Waiting
        switch lines.withLock({ $0.enter(key, size: size, at: now()) }) {
        case .decided(let entry): return entry
        case .inLine(let place): waiting = place
        }
        // Unstructured on purpose: nobody waits for it once there is a place.
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            withdraw(waiting, of: key, as: .late)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await waiting.entry()
        } onCancel: {
            withdraw(waiting, of: key, as: .closed)
        }
    }

    /// Takes somebody out of line who is still in it: a place that was given to them is theirs to give back.
    private func withdraw(
        _ waiting: InterceptionLines.Waiting,
        of key: InterceptionKey,
        as entry: InterceptionLines.Entry
    ) {
        if lines.withLock({ $0.withdraw(waiting, of: key) }) { waiting.resume(entry) }
    }

    /// Gives a place to the next one, and says what the endpoint is worth.
    private func leave(_ key: InterceptionKey, isProbe: Bool, isFailure: Bool?, reason: InterceptionReport?) {
        let (change, next) = lines.withLock { $0.leave(key, isProbe: isProbe, isFailure: isFailure, at: now()) }
        for (waiting, entry) in next { waiting.resume(entry) }
        guard let change else { return }
        logger.notice(
            "An endpoint is \(change == .opened ? "not asked for a while" : "asked again")",
            metadata: [
                "network": "\(key.network)", "endpoint": "\(key.endpoint)",
                "outcome": "\(reason?.outcome.rawValue ?? "")",
            ]
        )
    }
}
