extension StatisticsRecorder {
    /// Notes how long notifications took that are handed to their providers for the first time, as far as anybody here knows.
    func noteHandOver(of groups: some Sequence<HeldGroup>) {
        let now = now
        var news: [NetworkID: StatisticsFigures] = [:]
        for held in groups {
            let group = held.group
            guard group.attempt == 0, group.lane.provider != .relay, !group.cause.isRevived else { continue }
            let wait = now - (held.acceptedAt ?? group.cause.receivedAt)
            news[group.lane.networkID, default: StatisticsFigures()].latency.note(
                wait.wholeMilliseconds,
                count: group.targets.count
            )
        }
        add(news)
    }
}
