package import Logging
import Synchronization

/// What questions are counted by: an endpoint as it is reached now, so that one that was changed begins anew.
struct InterceptionKey: Hashable {
    let network: NetworkID
    let endpoint: EndpointID
    private let url: String
    private let stateAt: Timestamp

    init(_ endpoint: Endpoint, in network: NetworkID) {
        self.network = network
        self.endpoint = endpoint.id
        url = endpoint.settings.url
        stateAt = endpoint.stateAt
    }
}

/// Asks endpoints about events before anybody is notified of them: so many at a time of each endpoint, further ones in line,
/// none while its circuit is open, which is the same for all replicas (FACES section C3).
package final class Interceptor: Sendable {
    typealias Slots = FairSemaphore<NetworkID, InterceptionKey>

    /// What is said to a question that comes.
    private enum Reception {
        /// The endpoint is asked; without a permit it is found out whether it works again.
        case asked(Slots.Permit?)
        /// The endpoint is not asked now.
        case refused
        /// There was no slot in time.
        case late
        case closed
    }

    private struct State {
        /// How many questions in a row failed.
        var failures: [InterceptionKey: Int] = [:]
        /// Those of which one question finds out now whether they work again.
        var inTrial: Set<InterceptionKey> = []

        /// Counts a question; `true` when too many have failed by now, from where it begins anew.
        mutating func count(isFailure: Bool?, of key: InterceptionKey) -> Bool {
            guard let isFailure else { return false }
            guard isFailure else {
                failures[key] = nil
                return false
            }
            if failures[key] == nil, failures.count >= Interceptor.mostFailing {
                failures.remove(at: failures.startIndex)
            }
            failures[key, default: 0] += 1
            guard failures[key, default: 0] >= Interceptor.tolerance else { return false }
            failures[key] = nil
            return true
        }
    }

    /// How many questions an endpoint has at a time.
    package static let slots = 64
    /// How many questions wait in line for one endpoint at the most, and how many bytes of them; see
    /// ``InterceptionQuestion/size``.
    static let longestLine = (count: 4_000, bytes: 16 << 20)
    /// How many bytes of questions wait in all lines together; of one network about half of what the others leave.
    static let mostWaiting = 64 << 20
    /// How many failures in a row it takes for an endpoint not to be asked any more.
    private static let tolerance = 10
    /// Of how many endpoints failures are remembered.
    private static let mostFailing = 1_000

    let slots: Slots
    private let state = Mutex(State())
    private let caller: any EndpointCaller
    private let source: any QuestionSource
    private let circuits: any EndpointCircuits
    private let outcomes: EndpointOutcomeRecorder?
    private let clock: WallClock
    private let metrics: PipelineMetrics
    private let logger: Logger

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
        self.slots = Slots(limits: Self.limits(slots: min(slots, Self.slots)), patience: .zero)
        self.caller = caller
        self.source = source
        self.circuits = circuits
        self.outcomes = outcomes
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    /// What waits in line, of one endpoint and of all.
    static func limits(
        slots: Int,
        longestLine: (count: Int, bytes: Int) = Interceptor.longestLine,
        mostWaiting: Int = Interceptor.mostWaiting
    ) -> FairQueueLimits {
        var limits = FairQueueLimits(
            weight: mostWaiting,
            weightPerLane: longestLine.bytes,
            itemsPerLane: longestLine.count,
            slotsPerLane: slots,
            share: 1
        )
        limits.onlyWaitingWeighs = true
        return limits
    }

    /// What holds for an event; `nil` when it was not found out, as at shutdown.
    ///
    /// - Throws: What the store throws: the event is to be asked about again then, under the same id.
    func verdict(on question: InterceptionQuestion) async throws -> Verdict? {
        let start = ContinuousClock.now
        let key = InterceptionKey(question.endpoint, in: question.event.networkID)
        let verdict: Verdict
        switch await receive(question, key) {
        case .closed: return nil
        case .refused: verdict = unasked(.circuit, "the last questions failed", question, after: .now - start)
        case .late: verdict = unasked(.busy, "too many questions in line", question, after: .now - start)
        case .asked(let permit):
            guard let answer = try await ask(question, key, permit) else { return nil }
            verdict = answer
        }
        metrics.intercepted(verdict.report)
        outcomes?.note(verdict.report, in: key.network)
        return verdict
    }

    /// Lets nobody in any more; those in line are told so, and those who were asked are waited for.
    func close() { slots.close() }

    private func ask(
        _ question: InterceptionQuestion,
        _ key: InterceptionKey,
        _ permit: Slots.Permit?
    ) async throws -> Verdict? {
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
                leave(key, permit, isFailure: nil, reason: nil)
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
            leave(key, permit, isFailure: nil, reason: nil)
            throw error
        } catch {
            // No question can be signed, now or later: as good as no answer.
            var metadata = question.event.metadata(error)
            metadata["endpoint"] = "\(key.endpoint)"
            logger.error("An endpoint cannot be asked", metadata: metadata)
            let verdict = unasked(.error, "it cannot be asked", question)
            leave(key, permit, isFailure: true, reason: verdict.report)
            return verdict
        }
        let answer = await caller.call(call)
        guard !Task.isCancelled else {
            leave(key, permit, isFailure: nil, reason: nil)
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
        leave(key, permit, isFailure: verdict.report.outcome.isFailure, reason: verdict.report)
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

    /// Waits for a slot, for as long as the endpoint may take to answer.
    private func receive(_ question: InterceptionQuestion, _ key: InterceptionKey) async -> Reception {
        guard !slots.isClosed else { return .closed }
        switch circuit(of: key) {
        case .open: return .refused
        case .due:
            guard state.withLock({ $0.inTrial.insert(key).inserted }) else { return .refused }
            if await circuits.takeTrial(of: key.lane) { return .asked(nil) }
            giveBack(nil, of: key, isFailure: nil, reason: nil)
            return .refused
        case .closed: break
        }
        let limit = Duration.milliseconds(question.terms.timeout)
        let permit = await slots.permit(of: key.network, in: key, weight: question.size, within: limit)
        if let permit { return .asked(permit) }
        if slots.isClosed || Task.isCancelled { return .closed }
        return circuit(of: key) == .closed ? .late : .refused
    }

    private func circuit(of key: InterceptionKey) -> EndpointCircuit {
        circuits.circuit(of: key.lane, at: clock.now())
    }

    /// Tells all replicas what the endpoint is worth, and gives the slot to the next one.
    private func leave(
        _ key: InterceptionKey,
        _ permit: Slots.Permit?,
        isFailure: Bool?,
        reason: InterceptionReport?
    ) {
        switch isFailure {
        case false? where permit == nil:
            circuits.close(key.lane, at: clock.now())
            tell("An endpoint is asked again", key, reason)
        case nil where permit == nil: circuits.tryAgain(key.lane, at: clock.now())
        default: break
        }
        giveBack(permit, of: key, isFailure: isFailure, reason: reason)
    }

    private func giveBack(
        _ permit: Slots.Permit?,
        of key: InterceptionKey,
        isFailure: Bool?,
        reason: InterceptionReport?
    ) {
        let isOpen = circuit(of: key) != .closed
        let hasFailed = state.withLock { state in
            if permit == nil { state.inTrial.remove(key) }
            if isOpen { state.failures[key] = nil }
            // What fails while the endpoint is tried, or is not asked any more, says nothing new.
            return state.count(isFailure: isFailure == true && (isOpen || permit == nil) ? nil : isFailure, of: key)
        }
        if hasFailed {
            circuits.open(key.lane, because: reason?.reason ?? reason?.outcome.rawValue ?? "", at: clock.now())
            tell("An endpoint is not asked for a while", key, reason)
        }
        if isOpen || hasFailed { slots.sendAway(of: key.network, in: key) }
        permit?.giveBack()
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
