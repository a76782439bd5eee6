package import CarillonCore
import Postgres

extension PostgresOutbox {
    /// How many rows become due in one transaction.
    private static let batchSize = 500

    /// The lanes that something is wrong with, of one network or of all.
    package func laneConditions(of network: NetworkID?) async throws -> LaneConditions {
        try await pool.snapshot { session in
            let isMeant: SQL = if let network { "WHERE network_id = \(network.rawValue)" } else { "" }
            return try LaneRows.read(isMeant, session)
        }
    }

    /// Changes lanes, those that are well only where one is named; answers what they are then.
    package func apply(_ change: LaneChange, to lanes: LaneSelection) async throws -> LaneConditions {
        let told = try await endpoints?.endpoints(of: [lanes.networkID])[lanes.networkID] ?? []
        return try await pool.write { session in
            if lanes.appID != nil, !change.isOfPausedLanes { try LaneRows.insert([Lane(lanes)], session) }
            let app: SQL = if let appID = lanes.appID { "AND app_id = \(appID)" } else { "" }
            let conditions = try LaneRows.read(
                """
                WHERE network_id = \(lanes.networkID.rawValue) AND provider = \(lanes.provider.rawValue) \(sql: app)
                ORDER BY app_id FOR UPDATE
                """,
                session
            )
            let changes = conditions.lanes.keys.map { ChangedLane($0, change) }
            return try self.apply(changes, to: conditions, telling: [lanes.networkID: told], session)
        }
    }

    /// Changes lanes one after the other, all at one moment; answers what they are then.
    package func apply(_ changes: [ChangedLane]) async throws -> LaneConditions {
        let told = try await endpoints?.endpoints(of: Set(changes.map(\.lane.networkID))) ?? [:]
        let lanes = Set(changes.map(\.lane)).sorted()
        let new = Set(changes.filter { !$0.change.isOfPausedLanes }.map(\.lane)).sorted()
        return try await pool.write { session in
            if !new.isEmpty { try LaneRows.insert(new, session) }
            return try self.apply(changes, to: LaneRows.lock(lanes, session), telling: told, session)
        }
    }

    /// Applies changes to lanes that are locked.
    private func apply(
        _ changes: [ChangedLane],
        to former: LaneConditions,
        telling told: [NetworkID: [Endpoint]],
        _ session: borrowing PostgresSession
    ) throws -> LaneConditions {
        var conditions = former
        for entry in changes { conditions.lanes[entry.lane]?.apply(entry.change, at: conditions.moment) }
        conditions.changed = Set(former.lanes.keys.filter { former.lanes[$0] != conditions.lanes[$0] })
        try LaneRows.write(conditions, session)
        let messages = conditions.lanes.sorted { $0.key < $1.key }.compactMap { lane, condition in
            let endpoints = told[lane.networkID] ?? []
            return lane.feedback(from: former.lanes[lane], to: condition, for: endpoints, at: former.moment, ids: ids)
        }
        try session.insert(messages)
        return conditions
    }

    /// Makes what waits for lanes due now, but for those that are paused; in transactions of bounded size, so that nothing of
    /// the queue is locked for long.
    package func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws {
        let app: SQL = if let appID = lanes.appID { "AND d.app_id = \(appID)" } else { "" }
        let others = paused.filter(lanes.contains).map(\.appID)
        try await makeDue(
            """
            d.network_id = \(lanes.networkID.rawValue) AND d.provider = \(lanes.provider.rawValue) \(sql: app)
                AND d.app_id <> ALL (\(others))
            """
        )
    }

    package func makeDue(_ lanes: [Lane]) async throws {
        try await makeDue(
            """
            (d.network_id, d.provider, d.app_id) IN (
                SELECT * FROM unnest(\(lanes.map(\.networkID.rawValue)), \(lanes.map(\.provider.rawValue)),
                                     \(lanes.map(\.appID))))
                AND (NOT starts_with(d.lane_reason, \(LaneCondition.brakePrefix))
                     OR d.run_at <= now() + \(DoubtfulReports.pause.wholeMilliseconds) * interval '1 millisecond')
            """
        )
    }

    private func makeDue(_ condition: SQL) async throws {
        var count = Self.batchSize
        while count == Self.batchSize {
            count = try await pool.write { session in
                try session.executeOnQueue(
                    """
                    WITH picked AS MATERIALIZED (
                        SELECT d.network_id, d.group_id FROM deliveries d
                        WHERE \(sql: condition) AND d.lane_reason IS NOT NULL AND NOT d.leased AND d.run_at > now()
                        LIMIT \(Self.batchSize)
                        FOR UPDATE SKIP LOCKED
                    )
                    UPDATE deliveries d SET run_at = least(d.run_at, now()), lane_reason = NULL
                    FROM picked p
                    WHERE \(sql: .hasKey("d", "group_id", of: "p"))
                    """
                )
            }
        }
    }
}

extension Lane {
    fileprivate init(_ lanes: LaneSelection) {
        self.init(networkID: lanes.networkID, provider: lanes.provider, appID: lanes.appID ?? "")
    }
}
