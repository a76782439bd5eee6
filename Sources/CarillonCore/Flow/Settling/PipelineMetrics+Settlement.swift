import CoreMetrics

extension PipelineMetrics {
    func settled(_ settlement: Settlement) {
        guard settlement.group.lane.provider != .relay else { return countMessages(settlement) }
        var counts: [String: Int] = [:]
        for record in settlement.records { counts[record.state.rawValue, default: 0] += 1 }
        for remainder in settlement.remainders where remainder.delay != nil {
            counts[Self.retry, default: 0] += remainder.targets.count
        }
        let counters = deliveries[settlement.group.lane.provider, default: [:]]
        for (outcome, count) in counts { counters[outcome]?.increment(by: count) }
    }

    /// Messages to endpoints by what became of them, and how old those were that arrived and were no replay.
    private func countMessages(_ settlement: Settlement) {
        let cause = settlement.group.cause
        let events = settlement.relayedEvents
        for record in settlement.records {
            relayed[RelayOutcome(record.state)]?.increment()
            guard record.state == .delivered, cause.relay?.isReplay == false else { continue }
            let receivedAt = events[record.deviceID]?.receivedAt ?? cause.receivedAt
            relayAge.record(Double(max(.zero, record.at - receivedAt).wholeMilliseconds) / 1000)
        }
        for remainder in settlement.remainders where remainder.delay != nil && remainder.laneReason == nil {
            relayed[.retry]?.increment(by: remainder.targets.count)
        }
    }
}

extension RelayOutcome {
    fileprivate init(_ state: DeliveryState) {
        switch state {
        case .delivered: self = .delivered
        case .unregistered: self = .gone
        default: self = .failed
        }
    }
}
