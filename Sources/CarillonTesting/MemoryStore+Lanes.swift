package import CarillonCore

/// What is wrong with a lane, and which devices answered while its brake is on.
struct MemoryLane {
    var condition = LaneCondition()
    var gone: Set<DeviceID> = []
    var delivered: Set<DeviceID> = []
}

extension MemoryStore: LaneBook {
    /// The lanes that something is wrong with, of one network or of all.
    package func laneConditions(of network: NetworkID?) async throws -> LaneConditions {
        let now = clock.now()
        return try withState { state in
            let lanes = state.lanes.filter { lane, _ in network.map { $0 == lane.networkID } ?? true }
            return LaneConditions(moment: now, lanes: lanes.mapValues(\.condition))
        }
    }

    /// Changes lanes, those that are well only where one is named; answers what they are then.
    package func apply(_ change: LaneChange, to lanes: LaneSelection) async throws -> LaneConditions {
        let now = clock.now()
        return try withState { state in
            let named = lanes.appID.map { Lane(networkID: lanes.networkID, provider: lanes.provider, appID: $0) }
            let changed = named.map { [$0] } ?? state.lanes.keys.filter(lanes.contains)
            var conditions = LaneConditions(moment: now, lanes: [:])
            for lane in changed { state.apply([change], to: lane, &conditions, ids) }
            return conditions
        }
    }

    /// Changes lanes one after the other, all at one moment; answers what they are then.
    package func apply(_ changes: [ChangedLane]) async throws -> LaneConditions {
        let now = clock.now()
        return try withState { state in
            var conditions = LaneConditions(moment: now, lanes: [:])
            for (lane, entries) in Dictionary(grouping: changes, by: \.lane) {
                state.apply(entries.map(\.change), to: lane, &conditions, ids)
            }
            return conditions
        }
    }

    /// Makes what waits for lanes due now, but for those that are paused.
    package func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws {
        let now = clock.now()
        try withNetwork(lanes.networkID) { network in
            for (id, row) in network.groups where lanes.contains(row.group.lane) && !row.group.leased {
                guard row.laneReason != nil, !paused.contains(row.group.lane) else { continue }
                network.groups[id]?.runAt = min(row.runAt, now)
                network.groups[id]?.laneReason = nil
            }
        }
    }

    /// Makes what waits for these lanes due now.
    package func makeDue(_ lanes: [Lane]) async throws {
        for lane in lanes { try await makeDue(LaneSelection(lane)) }
    }
}

extension MemoryState {
    /// Changes a lane, which is well where it has no row, and notes what it is then.
    fileprivate mutating func apply(
        _ changes: [LaneChange],
        to lane: Lane,
        _ conditions: inout LaneConditions,
        _ ids: UUIDv7Generator
    ) {
        guard var row = lanes[lane] ?? (changes.allSatisfy(\.isOfPausedLanes) ? nil : MemoryLane()) else { return }
        let (former, now) = (row.condition, conditions.moment)
        for change in changes { row.condition.apply(change, at: now) }
        networks[lane.networkID]?.tell(lane, from: former, to: row.condition, at: now, ids: ids)
        if row.condition.brakedSince == nil { (row.gone, row.delivered) = ([], []) }
        conditions.lanes[lane] = row.condition
        if row.condition != former { conditions.changed.insert(lane) }
        lanes[lane] = row.condition.isWell(at: now) ? nil : row
    }

    /// Counts what was answered in a lane; answers what it is then, if anything is wrong with it.
    mutating func note(_ answers: DeviceReports.Answers, of lane: Lane, at now: Timestamp) -> LaneCondition? {
        guard var row = lanes[lane] ?? (answers.gone.isEmpty ? nil : MemoryLane()) else { return nil }
        if row.condition.brakedSince != nil {
            row.gone.formUnion(answers.gone)
            row.delivered.subtract(answers.gone)
            let delivered = Set(answers.delivered).subtracting(answers.gone)
            row.gone.subtract(delivered)
            row.delivered.formUnion(delivered)
        }
        let turn = row.condition.note(answers, proven: (row.gone.count, row.delivered.count), at: now)
        if turn == .off { (row.gone, row.delivered) = ([], []) }
        lanes[lane] = row.condition.isWell(at: now) ? nil : row
        return row.condition
    }
}
