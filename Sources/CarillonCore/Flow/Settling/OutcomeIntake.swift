import Synchronization

/// Judges what providers report: what is believed, what becomes of each device, and what it means for the lane.
package final class OutcomeIntake: OutcomeSink {
    /// After which time a paused lane is tried again that could not be tried for a reason of our own.
    private static let shortRest = Duration.seconds(1)
    /// For how long that is done; what lasts is looked at more rarely.
    private static let patience = Duration.seconds(60)

    private let policy: OutcomePolicy
    private let lanes: LaneHealth
    private let settler: Settler
    private let metrics: PipelineMetrics
    private let credentialChanges = Mutex(CredentialChanges())

    /// An intake that has everything written by `settler`.
    ///
    /// - Parameters:
    ///   - policy: What becomes of devices by their providers' answers.
    ///   - lanes: Told what answers mean for lanes.
    ///   - settler: Writes it down.
    ///   - metrics: What is counted.
    package init(
        policy: OutcomePolicy = OutcomePolicy(),
        lanes: LaneHealth,
        settler: Settler,
        metrics: PipelineMetrics
    ) {
        self.policy = policy
        self.lanes = lanes
        self.settler = settler
        self.metrics = metrics
    }

    /// Judges a page of outcomes and has it written.
    package func take(_ page: SendPage) {
        let lane = page.group.lane
        var judged = judge(page)
        let failure = failure(of: page)
        if let failure, !judged.signal.isPause { judged.signal = .pause(after: nil, reason: failure) }
        let tellsNothing =
            !page.outcomes.isEmpty && page.outcomes.allSatisfy { $0.outcome.isUntold || $0.outcome.isOurs }
        switch judged.signal {
        case .pause(let after, _) where page.isProbe && tellsNothing:
            lanes.tryAgain(lane, after: rest(of: lane, after ?? Self.shortRest, at: page.time), at: page.time)
        case .pause(let after, let reason):
            _ = lanes.pause(lane, for: after, reason: reason, wasTried: page.isProbe, at: page.time)
        // What was sent before a pause tells nothing of whether it should end; what was answered about a device alone does.
        case .works, .none:
            guard page.isProbe else { break }
            let hasFailed = page.outcomes.isEmpty || page.outcomes.contains { showsFailure($0.outcome, page.group) }
            if tellsNothing {
                lanes.tryAgain(lane, at: page.time)
            } else if judged.signal == .works || !hasFailed {
                lanes.resume(lane, at: page.time)
            }
        }
        if let condition = lanes.condition(of: lane), let remaining = condition.remainingPause(at: page.time) {
            judged.settlement.deferUntried(for: remaining, reason: condition.pause?.reason)
        }
        judged.settlement.since = page.since
        settler.submit(judged.settlement)
    }

    private func rest(of lane: Lane, _ length: Duration, at now: Timestamp) -> Duration {
        let isLasting = lanes.condition(of: lane)?.pause.map { now - $0.since > Self.patience } ?? false
        return isLasting ? max(length, LaneCondition.trialTime) : length
    }

    /// Whether a try shows that a lane does not work yet. A server of a network's own that answers one device with an error has answered.
    private func showsFailure(_ outcome: Outcome, _ group: DeliveryGroup) -> Bool {
        if case .devices = group.payload, !group.lane.provider.kind.isPushService,
            case .retry(_, _, true) = outcome
        {
            return false
        }
        return outcome.isFailure
    }

    /// Why a lane is to be left alone whose answers by themselves do not say so; `nil` when it is not.
    private func failure(of page: SendPage) -> String? {
        let areTooMany = lanes.countTimeouts(page.outcomes, of: page.group.lane)
        switch page.group.payload {
        case .devices: return areTooMany ? "the last sends were not answered in time" : nil
        case .messages where areTooMany: return "the last messages failed"
        case .messages:
            let hasFailed = page.isProbe && page.outcomes.contains(where: \.outcome.isFailure)
            return hasFailed ? "it failed when it was tried again" : nil
        }
    }

    private func judge(_ page: SendPage) -> (settlement: Settlement, signal: OutcomePolicy.LaneSignal) {
        let lane = page.group.lane
        let isLate = credentialChanges.withLock { $0.hasChanged(lane, since: page.begin) }
        var outcomes = isLate ? page.outcomes.map { ($0.target, $0.outcome.ofFormerCredential) } : page.outcomes
        let answers = DeviceReports.Answers(outcomes)
        let known = lanes.condition(of: lane)
        let areGone = !answers.gone.isEmpty || known.map { $0.reports.gone > 0 } ?? false
        let counts = areGone && !lane.provider.kind.isBelieved
        var condition = known ?? LaneCondition()
        // What turns the brake on is held as well. The store counts it, too, with what other replicas have heard.
        if counts, condition.brakedSince == nil { _ = condition.note(answers, at: page.time) }
        var doubtful: DoubtfulReports?
        if condition.brakedSince != nil, !condition.believes(at: page.time), !answers.gone.isEmpty {
            doubtful = DoubtfulReports(
                targets: outcomes.filter(\.outcome.putsOutOfUse).map(\.target),
                reason: condition.brakeReason,
                pausesLane: condition.reports.isMostlyGone
            )
            outcomes.removeAll(where: \.outcome.putsOutOfUse)
            metrics.heldUnregistrations.count(lane.provider, by: answers.gone.count)
        }
        var (settlement, signal) = policy.settle(
            page.group,
            outcomes: outcomes,
            doubtful: doubtful,
            unreported: page.unreported,
            isOver: page.isOver,
            now: page.time,
            random: { .random(in: -1...1) }
        )
        if counts { settlement.answers = answers }
        return (settlement, signal)
    }

    /// A credential was replaced or removed: what is answered to the former one is not about devices any more.
    package func credentialChanged(_ lanes: LaneSelection) {
        credentialChanges.withLock { $0.note(lanes, at: .now) }
    }
}

extension DeviceReports.Answers {
    init(_ outcomes: [(target: Target, outcome: Outcome)]) {
        self.init()
        for (target, outcome) in outcomes {
            switch outcome {
            case .delivered: delivered.append(target.deviceID)
            case .bug: others += 1
            case .unregister, .quarantine: gone.append(target.deviceID)
            case .retry, .timedOut, .deferLane, .misconfigured, .unsendable: break
            }
        }
    }
}

extension Outcome {
    fileprivate var putsOutOfUse: Bool {
        switch self {
        case .unregister, .quarantine: true
        case .delivered, .retry, .timedOut, .deferLane, .misconfigured, .bug, .unsendable: false
        }
    }
}

extension Settlement {
    /// Lets what was not tried wait for as long as its lane is paused.
    fileprivate mutating func deferUntried(for pause: Duration, reason: String?) {
        for index in remainders.indices where remainders[index].delay == .zero {
            remainders[index].delay = group.wait(for: pause, afterFailures: remainders[index].attempt)
            remainders[index].laneReason = reason
        }
    }
}
