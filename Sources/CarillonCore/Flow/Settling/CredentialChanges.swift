/// When credentials were changed, to know which answers still concern the former ones.
struct CredentialChanges {
    /// Longer than any group is being sent.
    private static let memory = Duration.seconds(3600)
    private static let mostChanges = 10_000

    private var changes: [(lanes: LaneSelection, at: ContinuousClock.Instant)] = []

    mutating func note(_ lanes: LaneSelection, at now: ContinuousClock.Instant) {
        changes.removeAll { $0.lanes == lanes || $0.at + Self.memory <= now }
        if changes.count < Self.mostChanges { changes.append((lanes, now)) }
    }

    /// Whether a lane's credential was changed at a moment or later.
    func hasChanged(_ lane: Lane, since begin: ContinuousClock.Instant) -> Bool {
        changes.contains { begin <= $0.at && $0.lanes.contains(lane) }
    }
}

extension Outcome {
    /// What it means when it was the answer to a credential that is not in use any more: nothing, unless it is about this
    /// one notification.
    var ofFormerCredential: Outcome {
        switch self {
        case .unregister(_, let reason), .quarantine(let reason), .misconfigured(let reason),
            .deferLane(_, let reason, _):
            .retry(after: nil, reason: reason)
        case .delivered, .retry, .timedOut, .bug, .unsendable:
            self
        }
    }
}
