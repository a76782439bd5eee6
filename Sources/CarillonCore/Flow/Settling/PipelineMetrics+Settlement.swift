import CoreMetrics

extension PipelineMetrics {
    func settled(_ settlement: Settlement) {
        switch settlement.group.payload {
        case .devices: countDevices(settlement)
        case .messages(let terms): countMessages(settlement, isReplay: terms.isReplay)
        }
    }

    private func countDevices(_ settlement: Settlement) {
        var counts: [DeliveryState: Int] = [:]
        for record in settlement.records { counts[record.state, default: 0] += 1 }
        let counters = deliveries[settlement.group.lane.provider]
        for (state, count) in counts {
            if let ending = DeliveryEnding(state) { counters?.count(ending, by: count) }
        }
        let retries = settlement.remainders.lazy.filter { $0.delay != nil }.reduce(0) { $0 + $1.targets.count }
        if retries > 0 { counters?.count(.retry, by: retries) }
    }

    /// Messages to endpoints by what became of them, and how old those were that arrived and were no replay.
    private func countMessages(_ settlement: Settlement, isReplay: Bool) {
        let events = Dictionary(settlement.group.targets.map { ($0.deviceID, $0.event) }) { first, _ in first }
        for record in settlement.records {
            messages.count(RelayOutcome(record.state))
            guard record.state == .delivered, !isReplay, let event = events[record.deviceID] ?? nil else { continue }
            relayAge.record(Double(max(.zero, record.at - event.receivedAt).wholeMilliseconds) / 1000)
        }
        for remainder in settlement.remainders where remainder.delay != nil && remainder.laneReason == nil {
            messages.count(.retry, by: remainder.targets.count)
        }
    }
}

extension PipelineMetrics.DeliveryEnding {
    /// `nil` for a delivery that has not ended.
    fileprivate init?(_ state: DeliveryState) {
        switch state {
        case .pending: return nil
        case .delivered: self = .delivered
        case .unregistered: self = .unregistered
        case .expired: self = .expired
        case .dead: self = .dead
        case .suppressed: self = .suppressed
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
