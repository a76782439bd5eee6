import CarillonCore
import struct Foundation.UUID

extension MemoryNetwork {
    /// Whether the lease of a group is still the one that it was claimed with.
    func holds(_ group: DeliveryGroup) -> Bool {
        guard let row = groups[group.id] else { return false }
        return row.group.leased && row.group.leaseToken == group.leaseToken
    }

    /// Writes a page of an event, but for its deliveries.
    mutating func enqueue(_ expansion: Expansion, at now: Timestamp) {
        if expansion.keepsBody, let row = inbox[expansion.event.id], relayed[expansion.event.id] == nil {
            relayed[expansion.event.id] = MemoryRelayed(
                type: row.pending.event.type,
                receivedAt: row.pending.receivedAt,
                body: row.body,
                trace: row.pending.event.trace
            )
        }
        inbox[expansion.event.id]?.pending.cursor = expansion.next
        inbox[expansion.event.id]?.failure = nil
        inbox[expansion.event.id]?.pending.tally = expansion.event.tally
        inbox[expansion.event.id]?.pending.verdict = expansion.event.verdict
        inbox[expansion.event.id]?.rescues = 0
        inbox[expansion.event.id]?.runAt = now + leaseDuration
        if expansion.next == nil { finish(expansion.event, why: expansion.why) }
    }

    /// Leases due groups, the longest waiting first; those that outlived too many leases are given up.
    mutating func claim(
        _ limit: Int,
        at now: Timestamp,
        ids: UUIDv7Generator,
        readPoint: ReadPoint,
        isExpired: Bool = false,
        where isMeant: (DeliveryGroup) -> Bool
    ) -> [RefreshedGroup] {
        let due = groups.values.filter { row in
            let isDue = row.runAt <= now || isExpired && !row.group.leased
            return isDue && (row.group.expiresAt <= now || withdrawal(of: row.group) != nil) == isExpired
        }
        let oldest = due.sorted { ($0.runAt, EventID($0.group.id)) < ($1.runAt, EventID($1.group.id)) }
        var meant: [MemoryGroupRow] = []
        for row in oldest where meant.count < limit && isMeant(row.group) { meant.append(row) }
        return meant.compactMap { row in
            var row = row
            if row.group.leased { row.rescues += 1 }
            row.group.leased = true
            row.group.leaseToken += 1
            row.runAt = now + leaseDuration
            groups[row.group.id] = row
            if row.rescues > memoryMaximumRescues {
                giveUp(row.group, at: now, ids: ids)
                return nil
            }
            return refresh(row.group, at: readPoint)
        }
    }

    /// The group as devices and toggles are now.
    func refresh(_ group: DeliveryGroup, at readPoint: ReadPoint) -> RefreshedGroup {
        var refreshed = group
        var gone: [Target] = []
        if group.isRelay {
            return RefreshedGroup(
                group: group,
                gone: [],
                settings: [:],
                networkToggles: networkToggles,
                readPoint: readPoint
            )
        }
        refreshed.targets = group.targets.compactMap { target in
            guard let device = devices[target.deviceID], device.userID == target.userID, device.state == .active,
                Lane(networkID: network.id, device) == group.lane
            else {
                gone.append(target)
                return nil
            }
            return Target(device)
        }
        let users = Set(refreshed.targets.map(\.userID))
        let settings = users.map { ($0, self.settings(of: $0, in: group.cause.channel?.id)) }
        return RefreshedGroup(
            group: refreshed,
            gone: gone,
            settings: Dictionary(uniqueKeysWithValues: settings),
            networkToggles: networkToggles,
            withdrawal: withdrawal(of: group),
            readPoint: readPoint
        )
    }

    /// Why a group is taken back.
    private func withdrawal(of group: DeliveryGroup) -> Withdrawal? {
        if withdrawnGroups.contains(group.id) { return .withdrawn }
        guard !group.isRelay, let at = group.cause.message.flatMap({ deletedMessages[$0] }) else { return nil }
        return group.cause.receivedAt <= at ? .deleted : nil
    }

    /// Writes down what happened to a group.
    mutating func settle(
        _ settlement: Settlement,
        at now: Timestamp,
        ids: UUIDv7Generator,
        isBraked: Bool
    ) {
        let group = settlement.group
        if group.isRelay { logMessages(settlement, at: now) }
        tell(settlement, at: now, ids: ids)
        for record in settlement.records where !group.isRelay {
            note(record, of: group, at: now, ids: ids)
            guard let effect = record.effect, !isBraked || !effect.putsOutOfUse else { continue }
            apply(effect, to: record.deviceID, of: record.userID, at: now, ids: ids)
        }
        for target in settlement.remainders.flatMap(\.targets) where !group.isRelay {
            guard let error = settlement.troubles[target.deviceID] else { continue }
            apply(.noteError(error), to: target.deviceID, of: target.userID, at: now, ids: ids)
        }
        let former = groups[group.id]?.group
        groups[group.id] = nil
        for (index, remainder) in settlement.remainders.enumerated() where !remainder.targets.isEmpty {
            var rest = group
            if index > 0 { rest.id = ids.next() }
            if withdrawnGroups.contains(group.id) { withdrawnGroups.insert(rest.id) }
            rest.targets = remainder.targets
            if index > 0, rest.isRelay { rest.splitOff(livingUntil: former?.expiresAt) }
            if index == 0, rest.isRelay { rest.cause.relay = former?.cause.relay ?? rest.cause.relay }
            rest.attempt = remainder.attempt
            rest.leased = remainder.delay == nil
            groups[rest.id] = MemoryGroupRow(
                group: rest,
                runAt: now + (remainder.delay ?? leaseDuration),
                laneReason: remainder.laneReason
            )
        }
    }

    private mutating func giveUp(_ group: DeliveryGroup, at now: Timestamp, ids: UUIDv7Generator) {
        groups[group.id] = nil
        if group.isRelay {
            let records = group.targets.map {
                DeviceRecord(
                    deviceID: $0.deviceID,
                    userID: $0.userID,
                    state: .dead,
                    attempts: group.attempt,
                    reason: "crash loop",
                    at: now
                )
            }
            return logMessages(Settlement(group: group, records: records, remainders: []), at: now)
        }
        for target in group.targets {
            let record = DeviceRecord(
                deviceID: target.deviceID,
                userID: target.userID,
                state: .dead,
                attempts: group.attempt,
                reason: "crash loop",
                at: now
            )
            note(record, of: group, at: now, ids: ids)
            tell(Settlement(group: group, records: [record], remainders: []), at: now, ids: ids)
        }
    }

    /// Appends to the outcome log.
    mutating func log(_ record: DeviceRecord, in lane: Lane, of event: EventID, at now: Timestamp) {
        recordCount += 1
        let place = FailurePlace(microseconds: now.milliseconds * 1000, number: recordCount, entry: 0)
        records[event, default: []].append(MemoryRecord(lane: lane, place: place, record: record))
    }

    private mutating func note(
        _ record: DeviceRecord,
        of group: DeliveryGroup,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) {
        var logged = record
        logged.effect = nil
        log(logged, in: group.lane, of: group.cause.eventID, at: now)
        guard record.state == .dead else { return }
        let letter = DeadLetter(
            id: ids.next(),
            eventID: group.cause.eventID,
            eventType: group.cause.eventType,
            lane: group.lane,
            record: logged
        )
        deadLetters[letter.id] = MemoryDeadLetter(
            letter: letter,
            cause: group.cause,
            push: group.push,
            deviceCounts: group.deviceCounts
        )
    }

    /// Those with several devices of whom a settlement, which is noted, stopped the last one.
    func usersStopped(by settlement: Settlement) -> [StoppedUser] {
        let group = settlement.group
        let stopped = Set(settlement.records.filter { $0.state == .suppressed }.map(\.userID))
        return stopped.compactMap { user in
            let all = (records[group.cause.eventID] ?? []).filter {
                $0.record.userID == user && $0.record.state == .suppressed
            }
            let first = all.min { $0.record.deviceID < $1.record.deviceID }
            guard let first, let count = group.deviceCounts?[user], all.count == count else { return nil }
            return StoppedUser(
                networkID: group.lane.networkID,
                cause: group.cause,
                level: first.record.suppressingLevel,
                devices: Dictionary(grouping: all, by: \.provider).mapValues(\.count)
            )
        }
    }

    /// Notes something about a device, if it is still that user's.
    private mutating func apply(
        _ effect: DeviceEffect,
        to id: DeviceID,
        of user: UserID,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) {
        guard var device = devices[id], device.userID == user, device.state != .unregistered else { return }
        switch effect {
        case .clearError: device.error = nil
        case .noteError(let error): device.error = error
        case .unregister(let moment, let since, let error)
        where device.registeredAt < moment && since.map { obtainedAt(device) < $0 } ?? true:
            (device.state, device.error) = (.unregistered, error)
        case .quarantine(let moment, let error) where device.registeredAt < moment:
            (device.state, device.error) = (.quarantined, error)
        case .unregister, .quarantine: return
        }
        if device.state != devices[id]?.state {
            newChanges.append(user)
            outOfUse[id] = now
            let words = device.error ?? ""
            tell(
                [news(device.state == .unregistered ? .unregistered(words) : .quarantined(words), of: device)],
                at: now,
                ids: ids
            )
        }
        devices[id] = device
    }
}

extension DeviceEffect {
    fileprivate var putsOutOfUse: Bool {
        switch self {
        case .unregister, .quarantine: true
        case .clearError, .noteError: false
        }
    }
}

extension Lane {
    /// The lane that a device is reached through.
    init(networkID: NetworkID, _ device: Device) {
        self.init(networkID: networkID, provider: device.address.provider, appID: device.address.appID)
    }
}
