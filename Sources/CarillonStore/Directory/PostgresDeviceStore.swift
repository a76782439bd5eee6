package import CarillonCore
import Postgres

package struct PostgresDeviceStore: DeviceStore, AddressStore, DeviceListStore {
    /// How many devices are restored in one transaction.
    private static let batchSize = 2_000

    let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func putDevice(
        _ device: Device,
        replacing former: ReplaceableDevice,
        in network: NetworkID,
        by writer: Writer
    ) async throws -> Bool {
        let registration = DeviceRegistration([device], in: network, replacing: former)
        let database = try await databases.toWrite(network)
        let listeners = try await database.feedback.listeners(in: network)
        return try await database.pool.write { session in
            try registration.lock(session)
            try session.mention(users: registration.users, in: network)
            return try registration.write(session, by: writer, telling: listeners).contains(device.id)
        }
    }

    package func device(_ id: DeviceID, in network: NetworkID) async throws -> Device? {
        try await databases.of(network).pool.withConnection { session in try session.device(id, in: network) }
    }

    package func known(among devices: Set<DeviceID>, in network: NetworkID) async throws -> Set<DeviceID> {
        guard !devices.isEmpty else { return [] }
        let known = try await databases.of(network).pool.query(
            """
            SELECT n.device_id
            FROM unnest(\(devices.sorted().map(\.rawValue))) AS n (device_id)
            CROSS JOIN LATERAL (
                SELECT FROM devices d
                WHERE d.network_id = \(network.rawValue) AND d.device_id = n.device_id AND \(sql: .isOfTheLiving)
                LIMIT 1
            ) AS known
            """
        ) { row in try row.id(0, of: Device.self) }
        return Set(known)
    }

    package func deleteDevice(_ id: DeviceID, ifOwnedBy user: UserID?, in network: NetworkID) async throws -> Bool {
        let database = try await databases.toWrite(network)
        let listeners = try await database.feedback.listeners(in: network)
        return try await database.pool.write { session in
            let deleted = try session.queryFirst(
                """
                DELETE FROM devices d
                WHERE network_id = \(network.rawValue) AND device_id = \(id.rawValue)
                    AND user_id = coalesce(\(user?.rawValue as String?), user_id)
                RETURNING device_id, user_id, provider, app_id, \(sql: .isOfTheLiving)
                """
            ) { row -> (owner: UserID, change: DirectoryChange?) in
                let isOfTheLiving = try row.decode(4, as: Bool.self)
                return (
                    owner: try row.id(1, of: Person.self),
                    change: try row.change(.deleted(isOfTheLiving ? .deleted : .userDeleted), in: network)
                )
            }
            guard let deleted else {
                try session.refuseDeparted(network)
                return false
            }
            try listeners.tell([deleted.change].compactMap(\.self), in: network, session)
            try session.recordChange(of: deleted.owner, in: network)
            return true
        }
    }

    package func devices(
        of user: UserID,
        in network: NetworkID,
        after: DeviceID?,
        limit: Int
    ) async throws -> [Device] {
        try await databases.of(network).pool.query(
            """
            SELECT \(sql: Row.deviceColumns) FROM devices d
            WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue)
                AND device_id > \(after?.rawValue ?? "") AND \(sql: .isOfTheLiving)
            ORDER BY device_id LIMIT \(limit)
            """
        ) { row in try row.device() }
    }

    package func registeredDevices(
        through providers: Set<ProviderName>,
        of user: UserID?,
        in network: NetworkID,
        after: DeviceID?,
        limit: Int
    ) async throws -> [Device] {
        func range(_ condition: SQL) -> SQL {
            """
            (SELECT d.* FROM devices d
             WHERE network_id = \(network.rawValue) AND device_id > \(after?.rawValue ?? "") AND \(sql: condition)
                 AND provider = ANY (\(providers.map(\.rawValue).sorted())) AND NOT transient AND \(sql: .isOfTheLiving)
             ORDER BY device_id LIMIT \(limit))
            """
        }
        let ranges: SQL
        if let user {
            ranges = range("user_id = \(user.rawValue)")
        } else {
            // Those that came with notifications all have ids that begin alike, and may be millions: an index of its own finds the
            // few among them that somebody registered.
            ranges = """
                \(sql: range("device_id < 't-'")) UNION ALL
                \(sql: range("device_id >= 't-' AND device_id < 't.'")) UNION ALL
                \(sql: range("device_id >= 't.'"))
                """
        }
        return try await databases.of(network).pool.query(
            """
            SELECT \(sql: Row.deviceColumns) FROM (\(sql: ranges)) AS found ORDER BY device_id LIMIT \(limit)
            """
        ) { row in try row.device() }
    }

    package func hasBrowsers(in network: NetworkID) async throws -> Bool {
        // Two indexes, each of which has no other devices behind it.
        func exist(_ condition: SQL) -> SQL {
            """
            EXISTS (SELECT FROM devices d
                    WHERE d.network_id = \(network.rawValue) AND d.provider = 'webpush' AND \(sql: condition) AND \(sql: .isOfTheLiving))
            """
        }
        let question: SQL = """
            SELECT \(sql: exist("NOT d.transient")) OR \(sql: exist("d.transient AND d.state = 'active'"))
            """
        return try await databases.of(network).pool.first(question) ?? false
    }

    /// Takes devices of an app back into use that its provider, or we because of it, put out of use in a window of time; in
    /// transactions of bounded size, as there may be more than one statement has time for.
    ///
    /// Devices are found in the order of the index, which need not be sorted anew for each transaction, and locked in that
    /// of their key, as everywhere.
    package func restoreDevices(
        _ provider: ProviderName,
        appID: String?,
        since: Timestamp,
        until: Timestamp,
        in network: NetworkID
    ) async throws -> Int {
        let app: SQL = if let appID { "AND d.app_id = \(appID)" } else { "" }
        let isMeant: SQL = """
            d.network_id = \(network.rawValue) AND d.provider = \(provider.rawValue) \(sql: app)
                AND d.state <> 'active' AND d.state_at >= \(since.stored) AND d.state_at < \(until.stored)
            """
        let database = try await databases.toWrite(network)
        let listeners = try await database.feedback.listeners(in: network)
        let isHeard = listeners.want([.deviceRegistered], in: network)
        var total = 0
        var count = 0
        repeat {
            count = try await database.pool.write { session in
                let restoring: SQL =
                    .unprepared(
                        """
                        WITH picked AS MATERIALIZED (
                            SELECT d.device_id FROM devices d WHERE \(sql: isMeant)
                            ORDER BY d.app_id, d.state_at LIMIT \(Self.batchSize)
                        ), locked AS MATERIALIZED (
                            SELECT d.device_id FROM devices d
                            WHERE \(sql: isMeant) AND d.device_id IN (SELECT device_id FROM picked)
                            ORDER BY d.device_id
                            FOR UPDATE
                        )
                        UPDATE devices d SET state = 'active', error = NULL, state_at = NULL
                        FROM locked l WHERE d.network_id = \(network.rawValue) AND d.device_id = l.device_id
                        """
                    )
                let restored: Int
                if isHeard {
                    let changes = try session.query(
                        restoring + " RETURNING d.device_id, d.user_id, d.provider, d.app_id"
                    ) { row in try row.change(.registered(.restored), in: network) }
                    try listeners.tell(changes.compactMap(\.self), in: network, session)
                    restored = changes.count
                } else {
                    restored = try session.execute(restoring)
                }
                if restored == 0 { try session.refuseDeparted(network) }
                return restored
            }
            total += count
        } while count > 0
        return total
    }
}

extension PostgresSession {
    func device(_ id: DeviceID, in network: NetworkID) throws -> Device? {
        try queryFirst(
            """
            SELECT \(sql: Row.deviceColumns) FROM devices d
            WHERE network_id = \(network.rawValue) AND device_id = \(id.rawValue) AND \(sql: .isOfTheLiving)
            """
        ) { row in try row.device() }
    }
}
