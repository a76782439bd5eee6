package import Logging
import Synchronization

/// Asks endpoints about events before anybody is notified of them: so many at a time of each endpoint, further ones in line,
/// none while its circuit is open, which is the same for all replicas (FACES section C3).
package final class Interceptor: Sendable {
    /// How many questions an endpoint has at a time.
    package static let slots = 64
    /// How many questions wait in line for one endpoint at the most, and how many bytes of them; see
    /// ``InterceptionQuestion/size``.
    static let longestLine = (count: 4_000, bytes: 16 << 20)
    /// How many bytes of questions wait in all lines together; of one network no more than half of what the others leave.
    static let mostWaiting = 64 << 20

    private let lines: Mutex<InterceptionLines>
    private let caller: any EndpointCaller
    private let source: any QuestionSource
    private let circuits: any EndpointCircuits
    private let outcomes: EndpointOutcomeRecorder?
    private let clock: WallClock
    private let metrics: PipelineMetrics
    private let logger: Logger

    /// An interceptor.
    /// - Parameters:
    ///   - caller: Signs and sends questions.
    ///   - source: What signs them, and the events' bodies.
    ///   - circuits: What replicas know of endpoints that do not answer.
    ///   - outcomes: Is told how endpoints fare.
    ///   - slots: How many questions an endpoint has at a time: no more than there are connections for, since who waits for
    ///     one would be taken for an endpoint that does not answer.
    ///   - clock: The time that is written into questions, and by which circuits open and close.
    ///   - metrics: Counts what came of questions.
    ///   - logger: Is told when a circuit opens and closes.
    package init(
        caller: any EndpointCaller,
        source: any QuestionSource,
        circuits: any EndpointCircuits,
        outcomes: EndpointOutcomeRecorder? = nil,
        slots: Int = Interceptor.slots,
        clock: WallClock = .system,
        metrics: PipelineMetrics,
        logger: Logger
    ) {
        lines = Mutex(
            InterceptionLines(
                slots: min(slots, Self.slots),
                longest: Self.longestLine,
                mostWaiting: Self.mostWaiting
            )
        )
        self.caller = caller
        self.source = source
        self.circuits = circuits
        self.outcomes = outcomes
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    /// What holds for an event; `nil` when it was not found out, as at shutdown.
    ///
    /// - Throws: What the store throws: the event is to be asked about again then, under the same id.
    func verdict(on question: InterceptionQuestion) async throws -> Verdict? {
        let start = ContinuousClock.now
        let key = InterceptionKey(question.endpoint, in: question.event.networkID)
        let verdict: Verdict
        switch await enter(key, size: question.size, within: .milliseconds(question.terms.timeout)) {
        case .closed: return nil
        case .refused: verdict = unasked(.circuit, "the last questions failed", question, after: .now - start)
        case .late: verdict = unasked(.busy, "too many questions in line", question, after: .now - start)
        case .entered(let isTrial):
            guard let answer = try await ask(question, key, isTrial: isTrial) else { return nil }
            verdict = answer
        }
        metrics.intercepted(verdict.report)
        outcomes?.note(verdict.report, in: key.network)
        return verdict
    }

    /// Lets nobody in any more; those in line are told so, and those who were asked are waited for.
    func close() {
        for waiting in lines.withLock({ $0.close() }) { waiting.resume(.closed) }
    }

    private func ask(_ question: InterceptionQuestion, _ key: InterceptionKey, isTrial: Bool) async throws -> Verdict? {
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
                leave(key, isTrial: isTrial, isFailure: nil, reason: nil)
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
                timeout: .milliseconds(question.terms.timeout),
                trace: question.event.event.trace
            )
        } catch  where error.isTransient {
            leave(key, isTrial: isTrial, isFailure: nil, reason: nil)
            throw error
        } catch {
            // No question can be signed, now or later: as good as no answer.
            var metadata = question.event.metadata(error)
            metadata["endpoint"] = "\(key.endpoint)"
            logger.error("An endpoint cannot be asked", metadata: metadata)
            let verdict = unasked(.error, "it cannot be asked", question)
            leave(key, isTrial: isTrial, isFailure: true, reason: verdict.report)
            return verdict
        }
        let answer = await caller.call(call)
        guard !Task.isCancelled else {
            leave(key, isTrial: isTrial, isFailure: nil, reason: nil)
            return nil
        }
        let verdict = Verdict(
            answer,
            of: question.endpoint.id,
            in: question.endpoint.settings.format,
            onFailure: question.terms.onFailure,
            notification: question.notification,
            content: question.event.event.direct?.content
        )
        leave(key, isTrial: isTrial, isFailure: verdict.report.outcome.isFailure, reason: verdict.report)
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

    /// Waits for a slot.
    private func enter(
        _ key: InterceptionKey,
        size: Int,
        within limit: Duration
    ) async -> InterceptionLines.Entry {
        let waiting: InterceptionLines.Waiting
        let circuit = circuits.circuit(of: key.lane, at: clock.now())
        switch lines.withLock({ $0.enter(key, size: size, circuit) }) {
        case .decided(.entered(isTrial: true)):
            if await circuits.takeTrial(of: key.lane) { return .entered(isTrial: true) }
            giveBackSlot(of: key, isTrial: true, isFailure: nil, reason: nil)
            return .refused
        case .decided(let entry): return entry
        case .inLine(let entered): waiting = entered
        }
        // Unstructured on purpose: nobody waits for it once there is a slot.
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

    /// Takes somebody out of line who is still in it: a slot that was given to them is theirs to give back.
    private func withdraw(
        _ waiting: InterceptionLines.Waiting,
        of key: InterceptionKey,
        as entry: InterceptionLines.Entry
    ) {
        if lines.withLock({ $0.withdraw(waiting, of: key) }) { waiting.resume(entry) }
    }

    /// Tells all replicas what the endpoint is worth, and gives the slot to the next one.
    private func leave(_ key: InterceptionKey, isTrial: Bool, isFailure: Bool?, reason: InterceptionReport?) {
        switch isFailure {
        case false? where isTrial:
            circuits.close(key.lane, at: clock.now())
            tell("An endpoint is asked again", key, reason)
        case nil where isTrial: circuits.tryAgain(key.lane, at: clock.now())
        default: break
        }
        giveBackSlot(of: key, isTrial: isTrial, isFailure: isFailure, reason: reason)
    }

    private func giveBackSlot(
        of key: InterceptionKey,
        isTrial: Bool,
        isFailure: Bool?,
        reason: InterceptionReport?
    ) {
        let moment = clock.now()
        let isOpen = circuits.circuit(of: key.lane, at: moment) != .closed
        let (hasFailed, next) = lines.withLock {
            $0.leave(key, isTrial: isTrial, isFailure: isFailure, isOpen: isOpen)
        }
        if hasFailed {
            circuits.open(key.lane, because: reason?.reason ?? reason?.outcome.rawValue ?? "", at: moment)
            tell("An endpoint is not asked for a while", key, reason)
        }
        for (waiting, entry) in next { waiting.resume(entry) }
    }

    private func tell(_ message: Logger.Message, _ key: InterceptionKey, _ reason: InterceptionReport?) {
        logger.notice(
            message,
            metadata: [
                "network": "\(key.network)", "endpoint": "\(key.endpoint)",
                "outcome": "\(reason?.outcome.rawValue ?? "")",
            ]
        )
    }
}

extension InterceptionKey {
    /// What its circuit belongs to: an endpoint as such, since one that is changed or enabled is resumed.
    fileprivate var lane: Lane { Lane(endpoint, in: network) }
}
