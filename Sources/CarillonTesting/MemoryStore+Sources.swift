package import CarillonCore

/// A source and how it fares.
struct MemorySource {
    var source: Source
    let secret: WebhookSecret
    var runAt: Timestamp
    var isLeased = false
    var leaseToken: Int64 = 1
    /// Each answer was a failure since.
    var failingSince: Timestamp?
}

extension MemoryStore: SourceStore {
    /// A network's sources by id.
    package func sources(of network: NetworkID) async throws -> [Source] {
        try withNetwork(network) { network in network.sources.values.map(\.source).sorted { $0.id < $1.id } }
    }

    /// Stores a source, or gives one that there is new settings.
    package func putSource(
        _ id: SourceID,
        _ settings: SourceSettings,
        secret: WebhookSecret,
        of network: NetworkID
    ) async throws -> (source: Source, isNew: Bool) {
        let now = clock.now()
        return try withNetwork(network) { network in
            if var former = network.sources[id] {
                former.source.settings = settings
                former.source.failures = 0
                former.failingSince = nil
                former.runAt = now
                former.isLeased = false
                former.leaseToken += 1
                network.sources[id] = former
                return (former.source, false)
            }
            guard network.sources.count < Source.maximumCount else { throw TooManySources() }
            let source = Source(id: id, settings: settings, createdAt: now)
            network.sources[id] = MemorySource(source: source, secret: secret, runAt: now)
            return (source, true)
        }
    }

    /// Removes a source; `false` when there is none.
    package func deleteSource(_ id: SourceID, of network: NetworkID) async throws -> Bool {
        try withNetwork(network) { $0.sources.removeValue(forKey: id) != nil }
    }
}

extension MemoryStore: SourceQueue {
    /// Takes sources that it is time to ask and that nobody is asking, of each network as many as it has places left.
    package func claimSources(limit: Int, share: Int, busy: [NetworkID: Int]) async throws -> [ClaimedSource] {
        let now = clock.now()
        return try withState { state in
            var claimed: [ClaimedSource] = []
            for id in state.networks.keys.sorted() {
                let due = (state.networks[id]?.sources.values.map(\.self) ?? [])
                    .filter { $0.source.settings.isEnabled && $0.runAt <= now }
                    .sorted { ($0.runAt, $0.source.id) < ($1.runAt, $1.source.id) }
                for var row in due.prefix(max(0, share - busy[id, default: 0])) where claimed.count < limit {
                    row.isLeased = true
                    row.leaseToken += 1
                    row.runAt = now + ClaimedSource.leaseDuration
                    state.networks[id]?.sources[row.source.id] = row
                    claimed.append(
                        ClaimedSource(
                            networkID: id,
                            id: row.source.id,
                            settings: row.source.settings,
                            secret: row.secret,
                            cursor: row.source.cursor,
                            failures: row.source.failures,
                            leaseToken: row.leaseToken
                        )
                    )
                }
            }
            return claimed
        }
    }

    /// Stores a page; `nil`, and nothing, when the source is not held any more.
    package func accept(_ page: SourcePage, from source: ClaimedSource) async throws -> [Acceptance]? {
        let now = clock.now()
        guard try withNetwork(source.networkID, { $0.held(source) != nil }) else { return nil }
        let acceptances = try await accept(page.events, lockWait: .zero)
        try withNetwork(source.networkID) { network in
            guard var row = network.held(source) else { return }
            row.source.lastPollAt = now
            row.source.lastError = page.error
            row.source.failures = 0
            row.failingSince = nil
            row.source.skippedItems += page.skippedItems
            row.source.cursor = page.cursor ?? row.source.cursor
            row.runAt = now + ClaimedSource.leaseDuration
            network.sources[source.id] = row
        }
        return acceptances
    }

    /// Lets go a source that is to be asked again after a wait.
    package func release(_ source: ClaimedSource, after wait: Duration, _ outcome: PollOutcome) async throws {
        let now = clock.now()
        try withNetwork(source.networkID) { network in
            guard var row = network.held(source) else { return }
            row.isLeased = false
            row.runAt = now + wait
            switch outcome {
            case .succeeded:
                row.source.failures = 0
                row.failingSince = nil
            case .undecided: break
            case .failed(let reason):
                row.source.failures += 1
                row.failingSince = row.failingSince ?? now
                row.source.lastError = reason
                row.source.lastPollAt = now
            }
            network.sources[source.id] = row
        }
    }
}

extension MemoryNetwork {
    /// The row of a source, while it is held by that claim.
    fileprivate func held(_ source: ClaimedSource) -> MemorySource? {
        guard let row = sources[source.id], row.isLeased, row.leaseToken == source.leaseToken else { return nil }
        return row
    }
}
