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
            var conditions = try LaneRows.read(
                """
                WHERE network_id = \(lanes.networkID.rawValue) AND provider = \(lanes.provider.rawValue) \(sql: app)
                ORDER BY app_id FOR UPDATE
                """,
                session
            )
            let former = conditions.lanes
            for lane in conditions.lanes.keys { conditions.lanes[lane]?.apply(change, at: conditions.moment) }
            conditions.changed = Set(former.keys.filter { former[$0] != conditions.lanes[$0] })
            try LaneRows.write(conditions, session)
            let messages = conditions.lanes.sorted { $0.key < $1.key }.compactMap { lane, condition in
                lane.feedback(from: former[lane], to: condition, for: told, at: conditions.moment, ids: ids)
            }
            try session.insert(messages)
            return conditions
        }
    }

    /// Makes what waits for lanes due now, but for those that are paused; in transactions of bounded size, so that nothing of
    /// the queue is locked for long.
    package func makeDue(_ lanes: LaneSelection, excluding paused: [Lane]) async throws {
        let app: SQL = if let appID = lanes.appID { "AND d.app_id = \(appID)" } else { "" }
        let others = paused.filter(lanes.contains).map(\.appID)
        var count = Self.batchSize
        while count == Self.batchSize {
            count = try await pool.write { session in
                try session.executeOnQueue(
                    """
                    WITH picked AS MATERIALIZED (
                        SELECT d.network_id, d.group_id FROM deliveries d
                        WHERE d.network_id = \(lanes.networkID.rawValue) AND d.provider = \(lanes.provider.rawValue)
                            \(sql: app) AND d.app_id <> ALL (\(others)) AND d.lane_reason IS NOT NULL AND NOT d.leased
                            AND d.run_at > now()
                        LIMIT \(Self.batchSize)
                        FOR UPDATE SKIP LOCKED
                    )
                    UPDATE deliveries d SET run_at = least(d.run_at, now()), lane_reason = NULL
                    FROM picked p WHERE d.network_id = p.network_id AND d.group_id = p.group_id
                    """
                )
            }
        }
    }
}

extension Lane {
    /// The lane that a selection names.
    fileprivate init(_ lanes: LaneSelection) {
        self.init(networkID: lanes.networkID, provider: lanes.provider, appID: lanes.appID ?? "")
    }
}
