package import CarillonCore
import Postgres

extension PostgresDeviceStore {
    package func devices(reachedAt keys: [AddressKey]) async throws -> [ReachedDevice?] {
        guard let network = keys.first?.networkID else { return [] }
        // A comparison of rows that one index alone can serve in order, see `docs/decisions/0009`.
        let found = try await databases.of(network).pool.query(
            """
            SELECT n.position, d.device_id, d.provider, d.app_id, d.locale, d.state, d.state_at,
                   d.registered_at, \(sql: .obtainedAt), d.transient
            FROM unnest(\(keys.map(\.networkID.rawValue)), \(keys.map(\.address.uniqueHash)))
                WITH ORDINALITY AS n (network_id, address_hash, position)
            CROSS JOIN LATERAL (
                SELECT d.* FROM devices d
                WHERE n.address_hash IS NOT NULL
                    AND (d.network_id, d.address_hash) >= (n.network_id, n.address_hash) AND d.address_hash IS NOT NULL
                ORDER BY d.network_id, d.address_hash
                LIMIT 1
            ) AS d
            WHERE d.network_id = n.network_id AND d.address_hash = n.address_hash AND \(sql: .isOfTheLiving)
            """
        ) { row in
            let device = ReachedDevice(
                id: try row.id(1),
                provider: try row.choice(2),
                appID: try row.decode(3),
                locale: try row.decode(4),
                state: try row.choice(5),
                outOfUseSince: try row.timestampIfAny(6),
                registeredAt: try row.timestamp(7),
                obtainedAt: try row.timestamp(8),
                isTransient: try row.decode(9)
            )
            return (try row.decode(0, as: Int.self) - 1, device)
        }
        var devices = [ReachedDevice?](repeating: nil, count: keys.count)
        for (position, device) in found { devices[position] = device }
        return devices
    }

    package func renewDevices(_ obtained: [DeviceID: Timestamp], in network: NetworkID) async throws {
        let rows = obtained.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return }
        let database = try await databases.toWrite(network)
        let listeners = try await database.feedback.listeners(in: network)
        try await database.pool.write { session in
            let renewed = try session.query(
                .unprepared(
                    """
                    WITH target AS (
                        SELECT d.device_id, d.state AS former, greatest(\(sql: .obtainedAt), n.obtained_at) AS obtained_at
                        FROM (SELECT device_id, at, least(at, now()) AS obtained_at
                              FROM unnest(\(rows.map(\.key.rawValue)), \(rows.map(\.value.stored))) AS n (device_id, at)) AS n
                        CROSS JOIN LATERAL (
                            SELECT d.device_id, d.state, d.state_at, d.registered_at, d.obtained_at, d.obtained_for, d.transient
                            FROM devices d
                            WHERE d.network_id = \(network.rawValue) AND d.device_id = n.device_id
                            LIMIT 1
                            FOR NO KEY UPDATE
                        ) AS d
                        WHERE CASE WHEN d.state = 'active' THEN \(sql: .obtainedAt) < n.obtained_at ELSE d.state_at < n.at END
                    )
                    UPDATE devices d
                    SET state = 'active', state_at = NULL, error = CASE WHEN t.former = 'active' THEN d.error END,
                        registered_at = greatest(d.registered_at, t.obtained_at), obtained_at = t.obtained_at,
                        obtained_for = greatest(d.registered_at, t.obtained_at)
                    FROM target t WHERE d.network_id = \(network.rawValue) AND d.device_id = t.device_id
                    RETURNING d.device_id, d.user_id, d.provider, d.app_id, t.former
                    """
                )
            ) { row -> DirectoryChange? in
                let former: DeviceState = try row.choice(4)
                return former == .active ? nil : try row.change(.registered(.restored), in: network)
            }
            try listeners.tell(renewed.compactMap(\.self), in: network, session)
        }
    }

    package func makeRoom(for addresses: [DeviceAddress], in network: Network, ofStrangers: Bool) async throws {
        let (hashes, limit) = (addresses.compactMap(\.uniqueHash), network.limits[.ownerlessDevices])
        let pool = try await databases.toWrite(network.id).pool
        // Nothing is written where there is room, as there nearly always is.
        let missing = try await pool.withConnection { session in
            try session.missingRoom(for: hashes, upTo: limit, in: network.id)
        }
        guard missing > 0 else { return }
        try await pool.write { session in
            try session.makeRoom(
                for: hashes,
                upTo: limit,
                in: network.id,
                unseenFor: OwnerlessRoom.age,
                unreachedFor: OwnerlessRoom.patience(withStrangers: ofStrangers)
            )
        }
    }

    package func addQuarantined(
        _ addresses: [DeviceAddress],
        because error: String,
        in network: NetworkID
    ) async throws {
        let registry = AddressRegistry(pool: try await databases.toWrite(network).pool)
        try await registry.quarantine(addresses, because: error, in: network)
    }
}
