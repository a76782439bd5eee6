package import struct Foundation.UUID

extension Placed: EventHistory where Port == any EventHistory {
    package func event(_ id: EventID, in network: NetworkID) async throws -> EventStatus? {
        try await of(network).event(id, in: network)
    }

    package func event(sourceID: String, in network: NetworkID) async throws -> EventStatus? {
        try await of(network).event(sourceID: sourceID, in: network)
    }

    package func unreadMessages(among events: Set<EventID>, in network: NetworkID) async throws -> Set<EventID> {
        try await of(network).unreadMessages(among: events, in: network)
    }

    package func events(in network: NetworkID, matching filter: EventFilter, before event: EventID?, limit: Int)
        async throws -> EventPage
    {
        try await of(network).events(in: network, matching: filter, before: event, limit: limit)
    }

    package func deliveries(
        of id: EventID,
        in network: NetworkID,
        matching filter: DeliveryFilter,
        after place: DeliveryPlace?,
        limit: Int
    ) async throws -> DeliveryPage? {
        try await of(network).deliveries(of: id, in: network, matching: filter, after: place, limit: limit)
    }

    package func failures(in network: NetworkID, _ query: FailureQuery, after place: FailurePlace?, limit: Int)
        async throws -> [FailedDelivery]
    {
        try await of(network).failures(in: network, query, after: place, limit: limit)
    }

    package func withdraw(_ id: EventID, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).withdraw(id, in: network)
    }

    package func deadLetters(in network: NetworkID, after: UUID?, limit: Int) async throws -> [DeadLetter] {
        try await of(network).deadLetters(in: network, after: after, limit: limit)
    }

    package func reviveDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Lane? {
        try await toWrite(network).reviveDeadLetter(id, in: network)
    }

    package func deleteDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).deleteDeadLetter(id, in: network)
    }
}

extension Placed: JournalStore where Port == any JournalStore {
    package func writeJournal(_ entries: [JournalPlace: [JournalEntry]]) async throws -> [JournalPlace] {
        let (answers, failure) = await parts(entries, by: \.key.networkID) { store, entries in
            try await store.writeJournal(Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) }))
        }
        if answers.isEmpty, let failure { throw failure }
        return Array(answers.joined())
    }
    package func journal(of place: JournalPlace, limit: Int) async throws -> [JournalEntry] {
        try await of(place.networkID).journal(of: place, limit: limit)
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
extension Placed: NetworkSurvey where Port == any NetworkSurvey {
    package func surveyedNetworks() async throws -> [SurveyedNetwork] {
        try await each { try await $1.surveyedNetworks() }.joined().sorted { $0.id < $1.id }
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
        let answers = await parts(asked.union(networks), by: { $0 }) { survey, part in
            let part = Set(part)
            return try await survey.figures(
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
        try await merged(networks) { survey, part in
            let own = Set(part)
            return try await survey.activities(
                of: part,
                since: moment,
                without: known.filter { own.contains($0.networkID) }
            )
        }
    }

    private func merged<Value: Sendable>(
        _ networks: [NetworkID],
        _ ask: @escaping @Sendable (any NetworkSurvey, [NetworkID]) async throws -> [NetworkID: Value]
    ) async throws -> [NetworkID: Value] {
        let answers = await parts(networks, by: { $0 }, ask).answers
        return answers.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
}
