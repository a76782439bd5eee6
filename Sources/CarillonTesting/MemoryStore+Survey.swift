package import CarillonCore

extension MemoryStore: NetworkSurvey {
    /// All networks, in the order of their ids.
    package func surveyedNetworks() async throws -> [SurveyedNetwork] {
        try withState { state in
            state.sortedIDs.map { SurveyedNetwork(id: $0, displayName: state.networks[$0]?.network.displayName) }
        }
    }

    /// What is wrong with some networks at a moment, as far as it is written down.
    package func troubles(of networks: [NetworkID], at now: Timestamp) async throws -> [NetworkID: [NetworkTrouble]] {
        try withState { state in
            let all = networks.map { id in
                let lanes = state.lanes.filter { $0.key.networkID == id && $0.key.provider != .relay }
                let ofLanes = lanes.flatMap { NetworkTrouble.troubles(of: LaneStatus(lane: $0, $1.condition)) }
                return (id, ofLanes + (state.networks[id]?.troubles(at: now) ?? []))
            }
            return Dictionary(all.filter { !$1.isEmpty }, uniquingKeysWith: { $1 })
        }
    }

    /// For how long the oldest of what is due has been waiting, of whatever network has any.
    package func oldestWaits() async throws -> [NetworkID: Duration] {
        let now = clock.now()
        return try withState { state in
            state.networks.compactMapValues { network in
                let times = network.inbox.values.map(\.pending.receivedAt) + network.groups.values.map(\.runAt)
                return times.filter { $0 <= now }.min().map { now - $0 }
            }
        }
    }

    /// What was counted since a moment in those of some networks in which a post was refused, and in those that are `asked` for.
    package func figures(
        of networks: [NetworkID],
        refusingSince moment: Timestamp,
        asked: Set<NetworkID>,
        without known: [StatisticsRow]
    ) async throws -> [StatisticsRow] {
        let known = Set(known.compactMap(\.origin))
        return try withState { state in
            let rows = state.statistics.values.filter { row in
                networks.contains(row.networkID) && moment <= row.at && row.origin.map { !known.contains($0) } ?? true
            }
            let refusing = Set(rows.filter { $0.figures.refusedPosts > 0 }.map(\.networkID))
            return rows.filter { refusing.contains($0.networkID) || asked.contains($0.networkID) }
        }
    }

    /// What events some networks had: counted since a moment, without `known`.
    package func activities(
        of networks: [NetworkID],
        since moment: Timestamp,
        without known: [StatisticsRow]
    ) async throws -> [NetworkID: NetworkActivity] {
        let known = Set(known.compactMap(\.origin))
        let dayAgo = moment + .seconds(3_600) - NetworkActivity.day
        return try withState { state in
            var activities: [NetworkID: NetworkActivity] = [:]
            for id in networks {
                let counted = state.statistics.values.filter { row in
                    row.networkID == id && moment <= row.at && row.origin.map { !known.contains($0) } ?? true
                }
                // Ids may be made by another clock than this one.
                let events = (state.networks[id]?.events ?? [:]).map { event, row in
                    max(row.receivedAt, Timestamp(milliseconds: event.milliseconds))
                }
                activities[id] = NetworkActivity(
                    events: counted.map(\.figures.acceptedEvents).reduce(0, +),
                    isOfLastDay: events.contains { dayAgo <= $0 },
                    isKnown: !events.isEmpty
                )
            }
            return activities
        }
    }
}

extension MemoryNetwork {
    /// What is wrong here but for lanes.
    fileprivate func troubles(at now: Timestamp) -> [NetworkTrouble] {
        let letters = Dictionary(grouping: deadLetters.values.map(\.letter), by: \.lane)
        return missingCredentials
            + providerCredentials.values.compactMap {
                let lane = Lane(networkID: network.id, provider: $0.provider, appID: $0.appID)
                return NetworkTrouble.endingCredential(of: lane, $0.identity, at: now)
            }
            + letters.map { lane, letters in
                NetworkTrouble.deadLetters(letters.count, in: lane, since: letters.map(\.record.at).min())
            }
            + endpoints.values.filter { stored in
                stored.endpoint.state == .disabled || stored.failingSince != nil
                    || stored.endpoint.settings.role.mode == .intercept && stored.endpoint.lastError != nil
            }.map { NetworkTrouble.endpoint($0.endpoint, failingSince: $0.failingSince) }
            + sources.filter { $1.source.settings.isEnabled && $1.source.failures > 0 }.map { id, stored in
                let (failures, error) = (stored.source.failures, stored.source.lastError)
                return NetworkTrouble.source(id, failures: failures, since: stored.failingSince, error: error)
            }
    }

    private var missingCredentials: [NetworkTrouble] {
        let places = devices.values.filter { $0.state == .active && !transientDevices.contains($0.id) }.compactMap {
            device in
            switch device.address.provider {
            case .apns, .fcm: MemoryCredentialKey(provider: device.address.provider, appID: device.address.appID)
            case .webpush: MemoryCredentialKey(provider: .webpush, appID: "")
            default: nil
            }
        }
        return Set(places).subtracting(providerCredentials.keys).map {
            .missingCredential(of: Lane(networkID: network.id, provider: $0.provider, appID: $0.appID))
        }
    }
}
