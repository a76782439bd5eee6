package import CarillonCore

/// An event's body as it is kept for endpoints.
struct MemoryRelayed {
    var type: EventType
    var receivedAt: Timestamp
    var body: [UInt8]
    /// Where the event stands in a trace.
    var trace: TraceContext?
}

/// What an endpoint is told once more.
struct MemoryReplay {
    var order: ReplayOrder
    /// The last event that was queued.
    var after: EventID?
}

extension MemoryStore: RelaySource, RelayHistory, QuestionSource {
    /// What a question to an endpoint about an event in the inbox is made of.
    package func questionMaterial(_ key: RelayKey) async throws -> QuestionMaterial {
        let now = clock.now()
        return try withState { state in
            let network = state.networks[key.networkID]
            let secrets = network?.endpoints[key.endpointID]?.secrets ?? []
            return QuestionMaterial(
                secrets: secrets.filter { $0.isValid(at: now) }.map(\.secret),
                body: network?.inbox[key.eventID]?.body
            )
        }
    }

    /// The messages of these keys; none where there is no such endpoint.
    package func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage] {
        let now = clock.now()
        return try withState { state in
            var messages: [RelayKey: RelayMessage] = [:]
            for key in keys {
                guard let network = state.networks[key.networkID], let stored = network.endpoints[key.endpointID] else {
                    continue
                }
                messages[key] = RelayMessage(
                    settings: stored.endpoint.settings,
                    state: stored.endpoint.state,
                    secrets: stored.secrets.filter { $0.isValid(at: now) }.map(\.secret),
                    body: network.relayed[key.eventID]?.body,
                    trace: network.relayed[key.eventID]?.trace
                )
            }
            return messages
        }
    }

    /// Messages to an endpoint, the latest events first, before `event` where one is named; of one event if `only` names it.
    package func relayDeliveries(
        to endpoint: EndpointID,
        in network: NetworkID,
        state: RelayState?,
        only: EventID?,
        before event: EventID?,
        limit: Int
    ) async throws -> [RelayDelivery] {
        try withNetwork(network) { network in
            let tried = network.relays.filter { $0.key.endpointID == endpoint }
            var all = Array(tried.values)
            for row in network.groups.values {
                for target in row.group.targets {
                    guard let event = target.relayed, let key = row.group.relayKey(of: target),
                        key.endpointID == endpoint, tried[key] == nil
                    else { continue }
                    all.append(
                        RelayDelivery(
                            eventID: event.id,
                            eventType: event.type,
                            state: .pending,
                            attempts: row.group.attempt,
                            answer: nil,
                            at: row.runAt
                        )
                    )
                }
            }
            let meant = all.filter { delivery in
                (state.map { $0 == delivery.state } ?? true) && (only.map { $0 == delivery.eventID } ?? true)
                    && (event.map { delivery.eventID < $0 } ?? true)
            }
            return Array(meant.sorted { $1.eventID < $0.eventID }.prefix(limit))
        }
    }

    /// Makes a message due now, with a new life until `expiry`, if that is longer; one that is on its way keeps its attempts.
    package func retryRelay(
        of event: EventID,
        to endpoint: EndpointID,
        in network: NetworkID,
        until expiry: Timestamp
    ) async throws -> RelayRetry {
        let now = clock.now()
        let key = RelayKey(networkID: network, endpointID: endpoint, eventID: event)
        return try withNetwork(network) { network in
            if let waiting = network.groups.first(where: { $0.value.group.relayKeys.contains(key) }) {
                network.hasten(key, in: waiting.value, until: expiry, at: now, ids: ids)
                return .queued
            }
            guard network.relays[key] != nil else { return .unknown }
            guard network.relayed[event] != nil else { return .bodyGone }
            network.queue(key, until: expiry, at: now, ids: ids)
            return .queued
        }
    }

    /// Begins to tell an endpoint of events once more; answers of how many.
    package func beginReplay(
        _ order: ReplayOrder,
        to endpoint: EndpointID,
        in network: NetworkID
    ) async throws -> ReplayCount {
        try withNetwork(network) { network in
            guard network.replays[endpoint] == nil else { throw ReplayUnderWay() }
            let replay = MemoryReplay(order: order)
            network.replays[endpoint] = replay
            return ReplayCount(events: network.events(of: replay, to: endpoint).count)
        }
    }

    /// Queues the next messages of all that is told once more, as far as what is queued for the same endpoint leaves room.
    package func continueReplays() async throws -> Bool {
        let now = clock.now()
        return try withState { state in
            var hasMore = false
            for id in state.sortedIDs {
                for endpoint in state.networks[id]?.replays.keys.sorted() ?? [] {
                    if state.networks[id]?.continueReplay(to: endpoint, at: now, ids: ids) == true { hasMore = true }
                }
            }
            return hasMore
        }
    }
}

extension MemoryNetwork {
    /// Writes down what became of messages, and what that says of their endpoint.
    mutating func logMessages(_ settlement: Settlement, at now: Timestamp) {
        let endpoint = EndpointID(trusted: settlement.group.lane.appID)
        guard endpoints[endpoint] != nil else { return }
        let events = settlement.relayedEvents
        func log(
            _ event: RelayedEvent,
            _ state: RelayState,
            _ attempts: Int,
            _ answer: RelayAnswer,
            at moment: Timestamp
        ) {
            let key = RelayKey(networkID: network.id, endpointID: endpoint, eventID: event.id)
            relays[key] = RelayDelivery(
                eventID: event.id,
                eventType: event.type,
                state: state,
                attempts: attempts,
                answer: answer,
                at: moment
            )
        }
        for record in settlement.records {
            guard let event = events[record.deviceID] else { continue }
            let answer = RelayAnswer(record.providerMessageID ?? record.reason ?? "")
            log(event, record.state == .delivered ? .delivered : .failed, record.attempts, answer, at: record.at)
            note(record.state, answer.error, of: endpoint, at: now)
        }
        for remainder in settlement.remainders {
            for target in remainder.targets {
                guard let event = target.relayed, let trouble = settlement.troubles[target.deviceID] else { continue }
                log(event, .pending, remainder.attempt, RelayAnswer(trouble), at: now)
                note(.pending, RelayAnswer(trouble).error, of: endpoint, at: now)
            }
        }
    }

    /// Makes a message due now, in a row of its own if it waits with others.
    fileprivate mutating func hasten(
        _ key: RelayKey,
        in row: MemoryGroupRow,
        until expiry: Timestamp,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) {
        var row = row
        if row.group.targets.count > 1, !row.group.leased {
            let isMeant = { [group = row.group] in group.relayKey(of: $0) == key }
            groups[row.group.id]?.group.targets.removeAll(where: isMeant)
            row.group.id = ids.next()
            row.group.targets = row.group.targets.filter(isMeant)
            row.group.splitOff(livingUntil: expiry)
        }
        if !row.group.leased { row.runAt = now }
        let end = max(expiry, row.group.expiresAt)
        row.group.cause.relay?.expiresAt = end
        groups[row.group.id] = row
    }

    /// Queues what endpoints are told of devices.
    mutating func tell(_ settlement: Settlement, at now: Timestamp, ids: UUIDv7Generator) {
        for message in settlement.feedback(to: sortedEndpoints, at: now, ids: ids) { queue(message, at: now) }
    }

    /// Queues what endpoints are told of devices and subscriptions.
    mutating func tell(_ news: [DirectoryNews], at now: Timestamp, ids: UUIDv7Generator) {
        for message in sortedEndpoints.feedback(on: news, in: network.id, at: now, ids: ids) {
            queue(message, at: now)
        }
    }

    /// Queues what endpoints are told of a lane.
    mutating func tell(
        _ lane: Lane,
        from former: LaneCondition,
        to condition: LaneCondition,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) {
        let message = lane.feedback(from: former, to: condition, for: sortedEndpoints, at: now, ids: ids)
        if let message { queue(message, at: now) }
    }

    private mutating func queue(_ message: FeedbackMessage, at now: Timestamp) {
        relayed[message.id] = MemoryRelayed(
            type: message.type,
            receivedAt: now,
            body: message.body.serialized,
            trace: message.trace
        )
        for group in message.groups { groups[group.id] = MemoryGroupRow(group: group, runAt: now) }
    }

    private mutating func note(_ state: DeliveryState, _ error: String?, of id: EndpointID, at now: Timestamp) {
        guard var stored = endpoints[id] else { return }
        switch state {
        case .delivered:
            stored.endpoint.lastSuccessAt = now
            stored.endpoint.lastError = nil
            stored.failingSince = nil
        case .pending, .unregistered:
            stored.endpoint.lastError = error
            let since = stored.failingSince ?? now
            stored.failingSince = since
            let isHopeless = since < now - Endpoint.patience
            let hours = Endpoint.patience.components.seconds / 3_600
            if state == .unregistered || isHopeless {
                let despair = "nothing went through for \(hours) hours"
                stored.endpoint.set(.disabled, reason: state == .unregistered ? error : despair, at: now)
                lastRevision += 1
                stored.revision = lastRevision
            }
        case .expired, .dead, .suppressed: break
        }
        endpoints[id] = stored
    }

    /// Queues a message once more.
    fileprivate mutating func queue(_ key: RelayKey, until expiry: Timestamp, at now: Timestamp, ids: UUIDv7Generator) {
        guard let kept = relayed[key.eventID] else { return }
        let group = DeliveryGroup(
            id: ids.next(),
            relaying: key.eventID,
            kept.type,
            receivedAt: kept.receivedAt,
            to: key.endpointID,
            in: key.networkID,
            on: RelayTerms(expiresAt: expiry, isReplay: true)
        )
        groups[group.id] = MemoryGroupRow(group: group, runAt: now)
        relays[key]?.state = .pending
    }

    /// The events that are left of a replay, the oldest first.
    fileprivate func events(of replay: MemoryReplay, to endpoint: EndpointID) -> [EventID] {
        let order = replay.order
        return relayed.filter { id, kept in
            let key = RelayKey(networkID: network.id, endpointID: endpoint, eventID: id)
            return order.from <= kept.receivedAt && kept.receivedAt < order.to
                && order.types.contains(kept.type.rawValue)
                && (replay.after.map { $0 < id } ?? true) && (!order.onlyFailed || relays[key]?.state == .failed)
        }.keys.sorted()
    }

    fileprivate mutating func continueReplay(
        to endpoint: EndpointID,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) -> Bool {
        guard let replay = replays[endpoint],
            case .observe(let observation)? = endpoints[endpoint]?.endpoint.settings.role
        else {
            replays[endpoint] = nil
            return false
        }
        let waiting = Set(groups.values.flatMap(\.group.relayKeys).filter { $0.endpointID == endpoint })
        let room = replayBacklog - waiting.count
        guard room > 0 else { return false }
        let left = events(of: replay, to: endpoint)
        for id in left.prefix(room) {
            let key = RelayKey(networkID: network.id, endpointID: endpoint, eventID: id)
            if !waiting.contains(key) { queue(key, until: now + observation.retryTime, at: now, ids: ids) }
        }
        replays[endpoint]?.after = left.prefix(room).last
        if left.count <= room { replays[endpoint] = nil }
        return false
    }
}
