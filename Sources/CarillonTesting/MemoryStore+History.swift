package import CarillonCore
package import struct Foundation.UUID

extension MemoryStore: EventHistory {
    /// An event by our id; `nil` when unknown or older than the retention.
    package func event(_ id: EventID, in network: NetworkID) async throws -> EventStatus? {
        try withNetwork(network) { $0.status(of: id) }
    }

    /// An event by the sender's id.
    package func event(sourceID: String, in network: NetworkID) async throws -> EventStatus? {
        try withNetwork(network) { network in network.eventKeys[sourceID].flatMap { network.status(of: $0.id) } }
    }

    /// Those of some messages of which it is known by now that nobody was there to read them.
    package func unreadMessages(among events: Set<EventID>, in network: NetworkID) async throws -> Set<EventID> {
        try withNetwork(network) { network in
            events.filter { id in
                guard let row = network.events[id], row.type == .messageSent, let why = row.why else { return false }
                return WhyNobody.withoutMembers.contains(why)
            }
        }
    }

    /// A page of the events that `filter` lets through, newest first.
    package func events(
        in network: NetworkID,
        matching filter: EventFilter,
        before event: EventID?,
        limit: Int
    ) async throws -> EventPage {
        try withNetwork(network) { network in
            let ids = Set(network.inbox.keys).union(network.events.keys).filter { id in event.map { id < $0 } ?? true }
            let found = ids.sorted(by: >).compactMap { network.status(of: $0) }.filter(filter.matches)
            let items = Array(found.prefix(limit))
            return EventPage(items: items, next: found.count > limit ? items.last?.id : nil)
        }
    }

    /// A page of the devices of an event that `filter` lets through; `nil` when the event is unknown.
    package func deliveries(
        of id: EventID,
        in network: NetworkID,
        matching filter: DeliveryFilter,
        after place: DeliveryPlace?,
        limit: Int
    ) async throws -> DeliveryPage? {
        try withNetwork(network) { network in
            guard network.status(of: id) != nil else { return nil }
            let after: DeviceID? = if case .device(let device) = place { device } else { nil }
            let all = network.deliveries(of: id).filter(filter.matches)
            let inOrder =
                all.filter { FailedDelivery.states.contains($0.record.state) }
                + all.filter { !FailedDelivery.states.contains($0.record.state) }
            let rest = inOrder.suffix(from: inOrder.firstIndex { $0.record.deviceID == after }.map { $0 + 1 } ?? 0)
            let items = Array(rest.prefix(limit))
            return DeliveryPage(
                items: items,
                next: rest.count > limit ? items.last.map { .device($0.record.deviceID) } : nil
            )
        }
    }

    /// Whom notifications did not reach, behind `place`.
    package func failures(
        in network: NetworkID,
        _ query: FailureQuery,
        after place: FailurePlace?,
        limit: Int
    ) async throws -> [FailedDelivery] {
        try withNetwork(network) { network in
            let all = network.records.flatMap { event, records in
                let status = network.status(of: event)
                return records.filter { FailedDelivery.states.contains($0.record.state) }.map { logged in
                    FailedDelivery(
                        place: logged.place,
                        eventID: event,
                        sourceID: status?.sourceID,
                        channelID: status?.channelID,
                        provider: logged.provider,
                        appID: logged.lane.appID,
                        record: logged.record
                    )
                }
            }
            let found = all.filter { failure in
                query.covers(failure.place) && (place.map { query.puts($0, before: failure.place) } ?? true)
            }
            return Array(found.sorted { query.puts($0.place, before: $1.place) }.prefix(limit))
        }
    }

    /// Takes back what of an event still waits; `false` when the event is unknown.
    package func withdraw(_ id: EventID, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { network in
            guard network.status(of: id) != nil else { return false }
            network.inbox[id]?.withdraw(at: now)
            network.withdrawnGroups.formUnion(
                network.groups.values.map(\.group).filter { $0.cause.eventID == id && $0.lane.provider != .relay }.map(
                    \.id
                )
            )
            network.newChanges.append(nil)
            return true
        }
    }

    /// What was given up, oldest first.
    package func deadLetters(in network: NetworkID, after: UUID?, limit: Int) async throws -> [DeadLetter] {
        try withNetwork(network) { network in
            let letters = network.deadLetters.values.map(\.letter).sorted { EventID($0.id) < EventID($1.id) }
            let rest = letters.filter { letter in after.map { EventID($0) < EventID(letter.id) } ?? true }
            return Array(rest.prefix(limit))
        }
    }

    /// Puts a dead letter back into the queue with a new life; answers its lane, `nil` when there is none.
    package func reviveDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Lane? {
        let now = clock.now()
        return try withNetwork(network) { network in
            guard let dead = network.deadLetters.removeValue(forKey: id) else { return nil }
            network.revive(dead, at: now, id: ids.next())
            return dead.letter.lane
        }
    }

    /// Forgets a dead letter; `false` when there is none.
    package func deleteDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Bool {
        try withNetwork(network) { $0.deadLetters.removeValue(forKey: id) != nil }
    }
}

extension MemoryStore {
    /// Writes down what became of a device, for tests of what reads that: of an event that is done.
    package func note(
        _ record: DeviceRecord,
        in lane: Lane,
        of event: EventID,
        called sourceID: String,
        in channel: ChannelID? = nil
    ) throws {
        let now = clock.now()
        try withNetwork(lane.networkID) { network in
            network.events[event] = MemoryEventRow(
                sourceID: sourceID,
                type: .notificationDirect,
                channelID: channel,
                receivedAt: now,
                tally: RecipientTally()
            )
            network.log(record, in: lane, of: event, at: now)
        }
    }
}

extension MemoryNetwork {
    /// What became of an event.
    fileprivate func status(of id: EventID) -> EventStatus? {
        let deliveries = deliveries(of: id)
        var counts: [DeliveryState: Int] = [.pending: 0, .delivered: 0, .unregistered: 0, .expired: 0, .dead: 0]
        for delivery in deliveries where delivery.record.state != .suppressed {
            counts[delivery.record.state, default: 0] += 1
        }
        if let row = inbox[id] {
            return EventStatus(
                id: id,
                sourceID: row.pending.event.sourceID,
                type: row.pending.event.type,
                channelID: row.pending.event.channel?.id,
                actorID: row.pending.event.actor?.id,
                receivedAt: row.pending.receivedAt,
                state: row.pending.cursor == nil ? .accepted : .delivering,
                failure: row.failure,
                recipients: tally(row.pending.tally, after: deliveries),
                deliveries: counts,
                interception: row.pending.verdict?.report,
                trace: row.pending.event.trace
            )
        }
        return events[id].map { row in
            EventStatus(
                id: id,
                sourceID: row.sourceID,
                type: row.type,
                channelID: row.channelID,
                actorID: row.actorID,
                receivedAt: row.receivedAt,
                state: counts[.pending, default: 0] > 0 ? .delivering : .done,
                failure: row.failure,
                recipients: tally(row.tally, after: deliveries),
                why: row.why,
                deliveries: counts,
                interception: row.interception,
                trace: row.trace
            )
        }
    }

    /// Each device's latest record, in the order of their ids.
    fileprivate func deliveries(of id: EventID) -> [DeliveryStatus] {
        var latest: [DeviceID: DeliveryStatus] = [:]
        for logged in records[id] ?? [] {
            latest[logged.record.deviceID] = DeliveryStatus(record: logged.record, provider: logged.provider)
        }
        for row in groups.values where row.group.cause.eventID == id && !row.group.isRelay {
            for target in row.group.targets {
                let record = DeviceRecord(
                    deviceID: target.deviceID,
                    userID: target.userID,
                    state: .pending,
                    attempts: row.group.attempt,
                    reason: row.group.leased ? nil : row.laneReason,
                    at: row.group.cause.receivedAt
                )
                var status = DeliveryStatus(record: record, provider: row.group.lane.provider)
                if status.waitsForNextAttempt { status.record.reason = devices[target.deviceID]?.error }
                latest[target.deviceID] = status
            }
        }
        // Of a user who was notified on another device, a device that a toggle stopped counts as expired.
        let reached = Set(latest.values.filter { $0.record.state != .suppressed }.map(\.record.userID))
        return latest.values.map { status in
            var status = status
            if status.record.state == .suppressed, reached.contains(status.record.userID) {
                status.record.state = .expired
            }
            return status
        }.sorted { $0.record.deviceID < $1.record.deviceID }
    }

    /// Users all of whose devices a toggle stopped after the expansion count as suppressed.
    private func tally(_ tally: RecipientTally, after deliveries: [DeliveryStatus]) -> RecipientTally {
        var tally = tally
        for records in Dictionary(grouping: deliveries.map(\.record), by: \.userID).values
        where records.allSatisfy({ $0.state == .suppressed }) {
            let level = records.first?.reason.flatMap { reason in
                ToggleLevel.allCases.first { reason.hasPrefix($0.rawValue) }
            }
            tally.notified -= 1
            tally.suppressed[level ?? .user, default: 0] += 1
        }
        return tally
    }

    /// Puts a delivery back into the queue with a new life.
    fileprivate mutating func revive(_ dead: MemoryDeadLetter, at now: Timestamp, id: UUID) {
        let record = dead.letter.record
        records[dead.letter.eventID]?.removeAll { $0.record == record }
        var cause = dead.cause
        cause.receivedAt = now
        cause.isRevived = true
        let address = devices[record.deviceID]?.address ?? .log
        let target = Target(deviceID: record.deviceID, userID: record.userID, address: address, registeredAt: now)
        var group = DeliveryGroup(
            id: id,
            lane: dead.letter.lane,
            cause: cause,
            push: dead.push,
            targets: [target],
            leased: false
        )
        group.deviceCounts = dead.deviceCounts
        groups[id] = MemoryGroupRow(group: group, runAt: now)
    }
}
