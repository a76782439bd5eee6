extension Placed: RecipientSource where Port == any RecipientSource {
    /// Of one network: only the explainer asks here, and a fan-out asks its own placement.
    package func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        guard let network = queries.first?.networkID else { return [] }
        return try await of(network).recipients(for: queries)
    }
}

extension Placed: JournalStore where Port == any JournalStore {
    package func writeJournal(_ entries: [JournalKey: [JournalEntry]]) async throws -> [JournalKey] {
        let (answers, failure) = await parts(entries, by: \.key.networkID) { store, entries in
            try await store.writeJournal(Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) }))
        }
        if answers.isEmpty, let failure { throw failure }
        return Array(answers.joined())
    }

    package func journal(of key: JournalKey, limit: Int) async throws -> [JournalEntry] {
        try await of(key.networkID).journal(of: key, limit: limit)
    }
}

extension Placed: StatisticsStore where Port == any StatisticsStore {
    package func rows(of network: NetworkID, from: Timestamp, to: Timestamp, inHours: Bool, asked: [StatisticsRow])
        async throws -> [StatisticsRow]
    {
        try await of(network).rows(of: network, from: from, to: to, inHours: inHours, asked: asked)
    }
}

/// What cannot be asked is left out: a network of a placement that is away fares as its placement does.
extension Placed: NetworkReportSource where Port == any NetworkReportSource {
    package func namedNetworks() async throws -> [NamedNetwork] {
        try await each { try await $1.namedNetworks() }.joined().sorted { $0.id < $1.id }
    }

    package func troubles(of networks: [NetworkID], at now: Timestamp) async throws -> [NetworkID: [NetworkTrouble]] {
        try await merged(networks) { try await $0.troubles(of: $1, at: now) }
    }

    /// Asks nobody whose networks could not be listed: to wait for them once is enough.
    package func oldestWaits(of networks: [NetworkID]) async throws -> [NetworkID: Duration] {
        try await merged(networks) { try await $0.oldestWaits(of: $1) }
    }

    package func figures(
        of networks: [NetworkID],
        refusingSince moment: Timestamp,
        asked: Set<NetworkID>,
        without known: [StatisticsRow]
    ) async throws -> [StatisticsRow] {
        let answers = await parts(asked.union(networks), by: { $0 }) { reportSource, part in
            let part = Set(part)
            return try await reportSource.figures(
                of: networks.filter(part.contains),
                refusingSince: moment,
                asked: asked.intersection(part),
                without: known.filter { part.contains($0.networkID) }
            )
        }.answers
        return Array(answers.joined())
    }

    package func activities(
        of networks: [NetworkID],
        since moment: Timestamp,
        without known: [StatisticsRow]
    ) async throws -> [NetworkID: NetworkActivity] {
        try await merged(networks) { reportSource, part in
            let own = Set(part)
            return try await reportSource.activities(
                of: part,
                since: moment,
                without: known.filter { own.contains($0.networkID) }
            )
        }
    }

    private func merged<Value: Sendable>(
        _ networks: [NetworkID],
        _ ask: @escaping @Sendable (any NetworkReportSource, [NetworkID]) async throws -> [NetworkID: Value]
    ) async throws -> [NetworkID: Value] {
        let answers = await parts(networks, by: { $0 }, ask).answers
        return answers.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
}
