package import CarillonCore
import Postgres

extension PostgresDeviceStore {
    /// A part of the devices of a selection in the order of their ids, and how many there are.
    package func devices(
        _ selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<Device> {
        let tag: SQL =
            if let tag = selection.tag {
                """
                AND EXISTS (SELECT FROM subscriptions s
                            WHERE s.network_id = d.network_id AND s.tag = \(tag.rawValue) AND s.kind = 'device'
                                AND s.subject_id = d.device_id AND \(sql: .isInForce))
                """
            } else { "" }
        let isMeant: SQL = "\(sql: selection.condition(in: network)) \(sql: tag)"
        return try await pool.snapshot { session in
            CountedPage(
                items: try session.query(
                    """
                    SELECT \(sql: Row.deviceColumns) FROM devices d WHERE \(sql: isMeant)
                    ORDER BY d.device_id OFFSET \(offset) LIMIT \(limit)
                    """
                ) { row in try row.device() },
                total: try session.countUpTo(
                    CountedPage<Device>.maximumTotal,
                    "SELECT FROM devices d WHERE \(sql: isMeant)"
                )
            )
        }
    }

    /// Has a device take part in what is sent to everyone, or not; `false` when there is none.
    package func setBroadcasts(
        _ takesPart: Bool,
        of id: DeviceID,
        ifOwnedBy owner: UserID?,
        in network: NetworkID
    ) async throws -> Bool {
        try await pool.write { session in
            try session.execute(
                """
                UPDATE devices d SET broadcasts = \(takesPart)
                WHERE d.network_id = \(network.rawValue) AND d.device_id = \(id.rawValue)
                    AND d.user_id = coalesce(\(owner?.rawValue as String?), d.user_id) AND \(sql: .isOfTheLiving)
                """
            ) > 0
        }
    }
}

extension PostgresTagStore {
    /// A part of what the devices of a selection subscribe to by themselves, by tag and device, and how much it is.
    package func subscriptions(
        of selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<DeviceSubscription> {
        let tag: SQL = if let tag = selection.tag { "AND s.tag = \(tag.rawValue)" } else { "" }
        let isMeant: SQL = """
            FROM subscriptions s
            JOIN devices d ON d.network_id = s.network_id AND d.device_id = s.subject_id
            WHERE s.network_id = \(network.rawValue) AND s.kind = 'device' \(sql: tag)
                AND \(sql: selection.condition(in: network)) AND \(sql: .isInForce)
            """
        return try await pool.snapshot { session in
            CountedPage(
                items: try session.query(
                    """
                    SELECT s.subject_id, s.tag \(sql: isMeant)
                    ORDER BY s.tag, s.subject_id OFFSET \(offset) LIMIT \(limit)
                    """
                ) { row in DeviceSubscription(device: try row.id(0), tag: try row.id(1)) },
                total: try session.countUpTo(
                    CountedPage<DeviceSubscription>.maximumTotal,
                    "SELECT \(sql: isMeant)"
                )
            )
        }
    }
}

extension DeviceSelection {
    /// Whether device `d` is meant, as far as its own row tells.
    fileprivate func condition(in network: NetworkID) -> SQL {
        var conditions: [SQL] = [
            "d.network_id = \(network.rawValue) AND NOT d.transient AND \(sql: .isOfTheLiving)",
            """
            EXISTS (SELECT FROM unnest(\(apps.map(\.provider.rawValue)), \(apps.map(\.appID))) AS a (provider, app_id)
                    WHERE a.provider = d.provider AND a.app_id = d.app_id)
            """,
        ]
        if let device { conditions.append("d.device_id = \(device.rawValue)") }
        if let owner { conditions.append("d.user_id = \(owner.rawValue)") }
        if let broadcasts { conditions.append("d.broadcasts = \(broadcasts)") }
        return conditions.dropFirst().reduce(conditions[0]) { "\(sql: $0) AND \(sql: $1)" }
    }
}

extension PostgresSession {
    /// How many rows a query has, counted so far.
    fileprivate func countUpTo(_ limit: Int, _ query: SQL) throws -> Int {
        try queryFirst("SELECT count(*) FROM (\(sql: query) LIMIT \(limit)) AS counted") { row in
            Int(try row.decode(0, as: Int64.self))
        } ?? 0
    }
}
