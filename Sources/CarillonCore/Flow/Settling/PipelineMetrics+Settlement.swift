import CoreMetrics

extension PipelineMetrics {
    func settled(_ settlement: Settlement) {
        switch settlement.group.payload {
        case .devices: countDevices(settlement)
        case .messages(let terms): countMessages(settlement, isReplay: terms.isReplay)
        }
    }

    private func countDevices(_ settlement: Settlement) {
        var counts: [String: Int] = [:]
        for record in settlement.records { counts[record.state.rawValue, default: 0] += 1 }
        for remainder in settlement.remainders where remainder.delay != nil {
            counts[Self.retry, default: 0] += remainder.targets.count
        }
        let counters = deliveries[settlement.group.lane.provider, default: [:]]
        for (outcome, count) in counts { counters[outcome]?.increment(by: count) }
    }

    /// Messages to endpoints by what became of them, and how old those were that arrived and were no replay.
    private func countMessages(_ settlement: Settlement, isReplay: Bool) {
        let events = Dictionary(settlement.group.targets.map { ($0.deviceID, $0.event) }) { first, _ in first }
        for record in settlement.records {
            messages[RelayOutcome(record.state)]?.increment()
            guard record.state == .delivered, !isReplay, let event = events[record.deviceID] ?? nil else { continue }
            relayAge.record(Double(max(.zero, record.at - event.receivedAt).wholeMilliseconds) / 1000)
        }
        for remainder in settlement.remainders where remainder.delay != nil && remainder.laneReason == nil {
            messages[.retry]?.increment(by: remainder.targets.count)
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
