package import CarillonCore
import Postgres

/// Lists that other systems count (see ``DeviceSelection``): each walks along one index, and looks at a bounded number of rows
/// however large the network is.
struct DeviceListing {
    /// So many devices of an app, or subscriptions, are looked at for one list; what is beyond them is not listed.
    static let reach = 2 * CountedPage<Device>.maximumTotal

    let selection: DeviceSelection
    let network: NetworkID

    /// The columns of a part of the devices, in the order of their ids.
    func devices(offset: Int, limit: Int) -> SQL {
        """
        SELECT \(sql: Row.deviceColumns) \(sql: matchingDevices)
        ORDER BY \(sql: orderOfDevices) OFFSET \(offset) LIMIT \(limit)
        """
    }

    var deviceCount: SQL { count(matchingDevices) }

    /// Device and tag of a part of what the devices subscribe to by themselves, by tag and device.
    func subscriptions(offset: Int, limit: Int) -> SQL {
        """
        SELECT s.subject_id, s.tag \(sql: matchingSubscriptions)
        ORDER BY \(sql: Self.orderOfSubscriptions) OFFSET \(offset) LIMIT \(limit)
        """
    }

    var subscriptionCount: SQL { count(matchingSubscriptions) }

    private static let orderOfSubscriptions: SQL = "s.tag, s.kind, s.subject_id"

    private func count(_ matching: SQL) -> SQL {
        "SELECT count(*) FROM (SELECT \(sql: matching) LIMIT \(CountedPage<Device>.maximumTotal)) AS counted"
    }

    // MARK: Devices

    private var matchingDevices: SQL {
        guard let tag = selection.tag else { return "FROM (\(sql: candidates)) AS d WHERE \(sql: isMeant)" }
        if beginsWithSubscriptions { return matchingSubscriptions }
        return """
            FROM (\(sql: candidates)) AS d
            WHERE \(sql: isMeant)
                AND EXISTS (SELECT FROM subscriptions s
                            WHERE s.network_id = \(network.rawValue) AND s.tag = \(tag.rawValue) AND s.kind = 'device'
                                AND s.subject_id = d.device_id AND \(sql: .isInForce))
            """
    }

    private var orderOfDevices: SQL {
        // The same, in words in which the planner recognises the order of the index.
        selection.tag != nil && beginsWithSubscriptions ? Self.orderOfSubscriptions : "d.device_id"
    }

    /// Devices of which the few that are not meant are still to be sorted out.
    private var candidates: SQL {
        func reading(_ condition: SQL) -> SQL {
            "SELECT * FROM devices d WHERE d.network_id = \(network.rawValue) AND \(sql: condition) LIMIT \(Self.reach)"
        }
        if let device = selection.device { return reading("d.device_id = \(device.rawValue)") }
        if let owner = selection.owner { return reading("d.user_id = \(owner.rawValue)") }
        // Each app by its own key, so that the parts are merged and not sorted.
        let parts = apps.map { app -> SQL in
            let part: SQL = """
                d.provider = \(app.provider.rawValue) AND d.app_id = \(app.appID) AND NOT d.transient ORDER BY d.device_id
                """
            return "(\(sql: reading(part)))"
        }
        guard let first = parts.first else { return reading("false") }
        return parts.dropFirst().reduce(first) { all, part in "\(sql: all) UNION ALL \(sql: part)" }
    }

    /// Whether device `d` is meant, as far as its own row tells.
    private var isMeant: SQL {
        var conditions: [SQL] = [
            "NOT d.transient AND \(sql: .isOfTheLiving)",
            """
            EXISTS (SELECT FROM unnest(\(apps.map(\.provider.rawValue)), \(apps.map(\.appID))) AS a (provider, app_id)
                    WHERE a.provider = d.provider AND a.app_id = d.app_id)
            """,
        ]
        if let owner = selection.owner { conditions.append("d.user_id = \(owner.rawValue)") }
        if let broadcasts = selection.broadcasts { conditions.append("d.broadcasts = \(broadcasts)") }
        return conditions.dropFirst().reduce(conditions[0]) { "\(sql: $0) AND \(sql: $1)" }
    }

    /// The apps, each once and in an order of their own, so that the same list is the same statement.
    private var apps: [DeviceSelection.App] {
        Set(selection.apps).sorted { ($0.provider.rawValue, $0.appID) < ($1.provider.rawValue, $1.appID) }
    }

    // MARK: Subscriptions

    /// Whether more is known of what is subscribed to than of the devices.
    private var beginsWithSubscriptions: Bool { selection.device == nil && selection.owner == nil }

    private var matchingSubscriptions: SQL {
        let reach = Self.reach
        guard beginsWithSubscriptions else {
            let tag: SQL = if let tag = selection.tag { "AND s.tag = \(tag.rawValue)" } else { "" }
            return """
                FROM (\(sql: candidates)) AS d
                CROSS JOIN LATERAL (
                    SELECT * FROM subscriptions s
                    WHERE s.network_id = \(network.rawValue) AND s.kind = 'device' AND s.subject_id = d.device_id \(sql: tag)
                    LIMIT \(reach)
                ) AS s
                WHERE \(sql: isMeant) AND \(sql: .isInForce)
                """
        }
        // A range of the primary key, which no other index serves.
        let range: SQL =
            if let tag = selection.tag {
                """
                (s.tag, s.kind, s.subject_id) > (\(tag.rawValue), 'device', '')
                AND (s.tag, s.kind, s.subject_id) < (\(tag.rawValue), 'user', '')
                """
            } else { "(s.tag, s.kind, s.subject_id) > ('', '', '')" }
        return """
            FROM (SELECT * FROM subscriptions s
                  WHERE s.network_id = \(network.rawValue) AND \(sql: range)
                  ORDER BY \(sql: Self.orderOfSubscriptions) LIMIT \(reach)) AS s
            CROSS JOIN LATERAL (
                SELECT * FROM devices d
                WHERE d.network_id = \(network.rawValue) AND d.device_id = s.subject_id
                LIMIT 1
            ) AS d
            WHERE s.kind = 'device' AND \(sql: isMeant) AND \(sql: .isInForce)
            """
    }
}

extension PostgresDeviceStore {
    package func devices(
        _ selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<Device> {
        let listing = DeviceListing(selection: selection, network: network)
        return try await databases.of(network).pool.page(
            listing.devices(offset: offset, limit: limit),
            counted: listing.deviceCount
        ) { row in try row.device() }
    }

    package func setBroadcasts(
        _ takesPart: Bool,
        of id: DeviceID,
        ifOwnedBy owner: UserID?,
        in network: NetworkID
    ) async throws -> Bool {
        try await databases.toWrite(network).pool.write(
            """
            UPDATE devices d SET broadcasts = \(takesPart)
            WHERE d.network_id = \(network.rawValue) AND d.device_id = \(id.rawValue)
                AND d.user_id = coalesce(\(owner?.rawValue as String?), d.user_id) AND \(sql: .isOfTheLiving)
            """
        ) > 0
    }
}

extension PostgresTagStore {
    package func subscriptions(
        of selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<DeviceSubscription> {
        let listing = DeviceListing(selection: selection, network: network)
        return try await databases.of(network).pool.page(
            listing.subscriptions(offset: offset, limit: limit),
            counted: listing.subscriptionCount
        ) { row in DeviceSubscription(device: try row.id(0), tag: try row.id(1)) }
    }
}

extension PostgresPool {
    /// A part of a list and how long it is, of one moment; planned anew, for the parameters there are.
    fileprivate func page<Item: Sendable>(
        _ part: SQL,
        counted count: SQL,
        _ item: @Sendable (borrowing Row) throws -> Item
    ) async throws -> CountedPage<Item> {
        try await snapshot { session in
            try session.walkAlongIndexes()
            return CountedPage(
                items: try session.query(.unprepared(part), item),
                total: try session.queryFirst(.unprepared(count)) { Int(try $0.decode(0, as: Int64.self)) } ?? 0
            )
        }
    }
}
