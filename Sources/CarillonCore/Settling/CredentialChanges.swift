/// When credentials were changed, to know which answers still concern the former ones.
struct CredentialChanges {
    private struct Key: Hashable {
        var network: NetworkID
        var provider: ProviderName
        /// `nil` for all lanes of the provider.
        var appID: String?
    }

    /// Longer than any group is being sent.
    private static let memory = Duration.seconds(3600)

    private var times: [Key: ContinuousClock.Instant] = [:]

    /// Notes a change.
    mutating func note(
        _ network: NetworkID,
        _ provider: ProviderName,
        appID: String?,
        at now: ContinuousClock.Instant
    ) {
        times = times.filter { now < $0.value + Self.memory }
        times[Key(network: network, provider: provider, appID: appID)] = now
    }

    /// Whether a lane's credential was changed at a moment or later.
    func hasChanged(_ lane: Lane, since begin: ContinuousClock.Instant) -> Bool {
        guard !times.isEmpty else { return false }
        return [lane.appID, nil].contains { appID in
            let key = Key(network: lane.networkID, provider: lane.provider, appID: appID)
            return times[key].map { begin <= $0 } ?? false
        }
    }
}

extension Outcome {
    /// What it means when it was the answer to a credential that is not in use any more: nothing, unless it is about this
    /// one notification.
    var ofFormerCredential: Outcome {
        switch self {
        case .unregister(_, let reason), .quarantine(let reason), .misconfigured(let reason), .deferLane(_, let reason):
            .retry(after: nil, reason: reason)
        case .delivered, .retry, .timedOut, .bug:
            self
        }
    }
}
