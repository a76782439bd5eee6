extension StatisticsRecorder {
    /// Notes how long notifications took that are handed to their provider for the first time, as far as anybody here knows:
    /// those to so many devices of a group.
    func noteHandOver(of held: HeldGroup, devices: Int) {
        let group = held.group
        guard devices > 0, group.attempt == 0, group.lane.provider != .relay, !group.cause.isRevived else { return }
        let wait = now - (held.acceptedAt ?? group.cause.receivedAt)
        add(to: group.lane.networkID) { $0.latency.note(wait.wholeMilliseconds, count: devices) }
    }
}
