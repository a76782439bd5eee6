extension StatisticsFigures {
    /// Counts what became of devices.
    ///
    /// A device that a toggle stopped counts as `expired` as long as not all of its user's devices are stopped, as in the status
    /// of its event.
    package mutating func count(_ settlement: Settlement) {
        let group = settlement.group
        guard case .devices(let sent) = group.payload else { return }
        var counts = Deliveries()
        for record in settlement.records {
            switch record.state {
            case .delivered: counts.delivered += 1
            case .unregistered: counts.unregistered += 1
            case .expired: counts.expired += 1
            case .dead: counts.dead += 1
            case .suppressed where sent.deviceCounts?[record.userID] != nil: counts.expired += 1
            case .suppressed: stop(group.cause.subject, by: record.suppressingLevel)
            case .pending: break
            }
        }
        for remainder in settlement.remainders where remainder.attempt > group.attempt {
            counts.retries += remainder.targets.count
        }
        if counts != Deliveries() { deliveries[group.lane.provider, default: Deliveries()].add(counts) }
    }

    /// Counts a user of whose several devices the last one was stopped as suppressed, and the devices no more.
    mutating func count(_ user: StoppedUser) {
        stop(user.cause.subject, by: user.level)
        for (provider, count) in user.devices { deliveries[provider, default: Deliveries()].expired -= count }
    }

    private mutating func stop(_ subject: Subject, by level: ToggleLevel) {
        recipients[subject, default: Recipients()].notified -= 1
        recipients[subject, default: Recipients()].suppressed[level, default: 0] += 1
    }
}

extension DeliveryCause {
    fileprivate var subject: StatisticsFigures.Subject { .init(type: eventType, module: module) }
}
