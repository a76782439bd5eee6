package import CarillonCore
import Crypto
package import Postgres

/// The devices of networks in table `devices`.
package struct PostgresDeviceStore: DeviceStore {
    /// How many devices are restored in one transaction.
    private static let batchSize = 2_000

    private let pool: PostgresPool

    /// A store in the database of `pool`.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// Registers a device; the last write wins, by id and by token. `true` when the device id is new.
    ///
    /// Registrations of the same id or token wait for each other, always in the same order.
    package func putDevice(_ device: Device, in network: NetworkID) async throws -> Bool {
        let locks = device.registrationLocks(in: network)
        return try await pool.write { session in
            for lock in locks { try session.execute("SELECT pg_advisory_xact_lock(\(lock))") }
            try session.mention(users: [device.userID], in: network)
            let hash = device.address.uniqueHash
            let former = try session.query(
                """
                SELECT device_id, user_id FROM devices
                WHERE network_id = \(network.rawValue)
                    AND (device_id = \(device.id.rawValue) OR address_hash = \(hash as [UInt8]?))
                ORDER BY device_id
                FOR UPDATE
                """
            ) { row in (device: try row.id(0, of: Device.self), user: try row.id(1, of: Person.self)) }
            for other in former where other.device != device.id {
                try session.execute(
                    """
                    DELETE FROM devices WHERE network_id = \(network.rawValue) AND device_id = \(other.device.rawValue)
                    """
                )
            }
            try Self.write(device, hash: hash, in: network, session)
            // The owner's deliveries in memory have the former address, so they are looked at again as well.
            try session.recordChanges(of: Set(former.map(\.user)).sorted().map { (network, $0) })
            return !former.contains { $0.device == device.id }
        }
    }

    /// A device; `nil` when unknown.
    package func device(_ id: DeviceID, in network: NetworkID) async throws -> Device? {
        try await pool.withConnection { session in
            try session.queryFirst(
                """
                SELECT \(sql: Row.deviceColumns) FROM devices
                WHERE network_id = \(network.rawValue) AND device_id = \(id.rawValue)
                """
            ) { row in try row.device() }
        }
    }

    /// Removes a device: with `user` only while it is theirs; `false` when nothing was removed.
    package func deleteDevice(_ id: DeviceID, ifOwnedBy user: UserID?, in network: NetworkID) async throws -> Bool {
        try await pool.write { session in
            let owner = try session.queryFirst(
                """
                DELETE FROM devices
                WHERE network_id = \(network.rawValue) AND device_id = \(id.rawValue)
                    AND user_id = coalesce(\(user?.rawValue as String?), user_id)
                RETURNING user_id
                """
            ) { row in try row.id(0, of: Person.self) }
            guard let owner else { return false }
            try session.recordChange(of: owner, in: network)
            return true
        }
    }

    /// A user's devices in the order of their ids.
    package func devices(
        of user: UserID,
        in network: NetworkID,
        after: DeviceID?,
        limit: Int
    ) async throws -> [Device] {
        try await pool.withConnection { session in
            try session.query(
                """
                SELECT \(sql: Row.deviceColumns) FROM devices
                WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue)
                    AND device_id > \(after?.rawValue ?? "")
                ORDER BY device_id LIMIT \(limit)
                """
            ) { row in try row.device() }
        }
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
        var total = 0
        var count = 0
        repeat {
            count = try await pool.write { session in
                try session.execute(
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
                )
            }
            total += count
        } while count > 0
        return total
    }

    private static func write(
        _ device: Device,
        hash: [UInt8]?,
        in network: NetworkID,
        _ session: borrowing PostgresSession
    ) throws {
        let address = device.address
        try session.execute(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, environment, p256dh, auth,
                                 address_hash, locale, state, error, registered_at)
            VALUES (\(network.rawValue), \(device.id.rawValue), \(device.userID.rawValue), \(address.provider.rawValue),
                    \(address.appID), \(address.storedAddress), \(address.storedEnvironment as String?),
                    \(address.storedKeys?.p256dh as String?), \(address.storedKeys?.auth as String?),
                    \(hash as [UInt8]?), \(device.locale as String?), \(device.state.rawValue),
                    \(device.error as String?), \(device.registeredAt.stored))
            ON CONFLICT (network_id, device_id) DO UPDATE
            SET user_id = EXCLUDED.user_id, provider = EXCLUDED.provider, app_id = EXCLUDED.app_id,
                address = EXCLUDED.address, environment = EXCLUDED.environment, p256dh = EXCLUDED.p256dh,
                auth = EXCLUDED.auth, address_hash = EXCLUDED.address_hash, locale = EXCLUDED.locale,
                state = EXCLUDED.state, error = EXCLUDED.error, registered_at = EXCLUDED.registered_at, state_at = NULL
            """
        )
    }
}

extension Device {
    /// What registrations of the same id or token have in common, in the order in which they wait for each other.
    fileprivate func registrationLocks(in network: NetworkID) -> [Int64] {
        let names = [Array("id:\(id.rawValue)".utf8), address.uniqueHash].compactMap(\.self)
        let locks = names.map { name in
            let digest = SHA256.hash(data: Array("device:\(network.rawValue):".utf8) + name)
            return digest.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        return locks.sorted()
    }
}
