/// Decides what becomes of the devices of a group by what their provider answered.
///
/// The one place that knows attempts, back-off and expiry; pure, so that every row of the outcome tables is a test.
package struct OutcomePolicy: Sendable {
    /// What a page of outcomes means for the lane as a whole.
    package enum LaneSignal: Sendable, Equatable {
        case none
        /// Something went through.
        case works
        /// Nothing in it can succeed for now.
        case pause(after: Duration?, reason: String)

        var isPause: Bool {
            if case .pause = self { true } else { false }
        }
    }

    private let schedule: RetrySchedule
    private let longestReason = 200

    package init(schedule: RetrySchedule = RetrySchedule()) {
        self.schedule = schedule
    }

    /// Turns outcomes into what is to be written down.
    ///
    /// - Parameters:
    ///   - group: The group as it was claimed.
    ///   - outcomes: What the provider reported since the last settlement, less what is doubtful.
    ///   - doubtful: What it reported and is not believed.
    ///   - unreported: The devices of which it has said nothing yet.
    ///   - isOver: Whether it will say nothing any more: the unreported ones go back to the queue at once.
    ///   - now: The time to write down.
    ///   - random: Draws the jitter, a number from -1 to 1.
    /// - Returns: The settlement, and what it means for the lane.
    package func settle(
        _ group: DeliveryGroup,
        outcomes: [(target: Target, outcome: Outcome)],
        doubtful: DoubtfulReports? = nil,
        unreported: [Target],
        isOver: Bool,
        now: Timestamp,
        random: () -> Double
    ) -> (Settlement, LaneSignal) {
        var settlement = Settlement(group: group, records: [], remainders: [])
        var signal = LaneSignal.none
        var retries: [Duration?: [Target]] = [:]
        var deferred: [Target] = []
        let attempts = group.attempt + 1
        func record(_ target: Target, _ state: DeliveryState, _ reason: String?, _ effect: DeviceEffect? = nil) {
            let reason = reason.map(shortened)
            settlement.records.append(
                DeviceRecord(target, state, attempts: attempts, reason: reason, at: now, effect: effect)
            )
        }
        for (target, outcome) in outcomes {
            switch outcome {
            case .delivered(let id):
                record(target, .delivered, nil, target.hasError ? .clearError : nil)
                settlement.records[settlement.records.count - 1].providerMessageID = id
                if signal == .none { signal = .works }
            case .retry(_, let reason, let wasSent), .timedOut(let reason, let wasSent):
                guard !wasSent || group.isRetried else {
                    record(target, .dead, "sent once: \(reason)")
                    continue
                }
                settlement.troubles[target.deviceID] = shortened(reason)
                retries[outcome.wantedDelay, default: []].append(target)
            case .deferLane(let after, let reason, _):
                deferred.append(target)
                signal = .pause(after: after, reason: shortened(reason))
            case .misconfigured(let reason):
                deferred.append(target)
                signal = .pause(after: nil, reason: shortened(reason))
            case .unregister(let at, let reason):
                let effect = target.registrationFence.map {
                    DeviceEffect.unregister(ifRegisteredBefore: $0, goneSince: at, error: shortened(reason))
                }
                record(target, .unregistered, reason, effect)
            case .quarantine(let reason):
                let effect = target.registrationFence.map {
                    DeviceEffect.quarantine(ifRegisteredBefore: $0, error: shortened(reason))
                }
                record(target, .unregistered, reason, effect)
            case .bug(let reason):
                record(target, .dead, reason, .noteError(shortened(reason)))
            case .unsendable(let reason, let isOfDevice):
                record(target, .dead, reason, isOfDevice ? .noteError(shortened(reason)) : nil)
            }
        }
        if !isOver, !unreported.isEmpty {
            settlement.remainders.append(Remainder(targets: unreported, attempt: group.attempt, delay: nil))
        } else {
            deferred += unreported
        }
        if !deferred.isEmpty {
            settlement.remainders.append(Remainder(targets: deferred, attempt: group.attempt, delay: .zero))
        }
        let life = max(.zero, group.expiresAt - now)
        if let doubtful {
            settlement.remainders.append(
                Remainder(
                    targets: doubtful.targets,
                    attempt: group.attempt,
                    delay: min(life, DoubtfulReports.wait),
                    laneReason: shortened(doubtful.reason)
                )
            )
            if doubtful.pausesLane, !signal.isPause {
                signal = .pause(after: DoubtfulReports.pause, reason: doubtful.reason)
            }
        }
        for (after, targets) in retries {
            let delay = min(life, schedule.delay(afterFailures: attempts, retryAfter: after, random: random()))
            settlement.remainders.append(Remainder(targets: targets, attempt: attempts, delay: delay))
        }
        return (settlement, signal)
    }

    private func shortened(_ reason: String) -> String { String(reason.prefix(longestReason)) }
}

extension Outcome {
    /// How long the push service asked to be left alone with this notification.
    fileprivate var wantedDelay: Duration? {
        if case .retry(let after, _, _) = self { after } else { nil }
    }
}

extension Target {
    /// Whether its last outcome was an error.
    fileprivate var hasError: Bool {
        if case .device(_, _, let hasError) = destination { hasError } else { false }
    }

    /// The first moment at which the device cannot have been registered any more for the address that was sent to.
    fileprivate var registrationFence: Timestamp? {
        if case .device(_, let registeredAt, _) = destination { registeredAt + .milliseconds(1) } else { nil }
    }
}
