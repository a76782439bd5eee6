import CarillonCore
import Foundation
import Postgres

/// Knows which devices are reached by addresses that notifications name, and adds those that nobody has registered.
///
/// Such a device is transient: it belongs to nobody, is in no list, and is forgotten when nothing is sent to it any more.
struct AddressRegistry {
    /// How long rows are waited for that somebody else holds: those of one network, and of several, who wait for each other.
    private static let lockWait = Duration.seconds(1)
    private static let sharedLockWait = Duration.milliseconds(50)

    let pool: PostgresPool

    /// What one query names at one position.
    private struct Entry {
        var network: NetworkID
        var device: AddressedDevice

        var id: DeviceID { DeviceID(reachedAt: device.address) }

        var transient: Device {
            Device(
                id: id,
                userID: .nobody,
                address: device.address,
                locale: device.locale,
                error: Device.firstError,
                registeredAt: Timestamp(milliseconds: 0)
            )
        }
    }

    /// The devices that queries name by their addresses, by the queries' positions, each in the order in which they are
    /// named.
    func devices(reachedBy queries: [RecipientQuery]) async throws -> [Int: [DeviceID]] {
        var entries: [Entry] = []
        var ranges: [Int: Range<Int>] = [:]
        for (position, query) in queries.enumerated() where query.only == nil {
            guard case .addresses(let devices) = query.audience else { continue }
            // Several addresses may be one device's: of those the first counts.
            var seen: Set<DeviceID> = []
            let named = devices.map { Entry(network: query.networkID, device: $0) }.filter {
                seen.insert($0.id).inserted
            }
            ranges[position] = entries.count..<entries.count + named.count
            entries += named
        }
        guard !entries.isEmpty else { return [:] }
        var known = try await find(entries)
        let missing = entries.indices.filter { known[$0] == nil }
        let changed = entries.indices.filter { known[$0]?.isOutdated == true }
        let lockWait = Set(queries.map(\.networkID)).count > 1 ? Self.sharedLockWait : Self.lockWait
        if !changed.isEmpty { try await update(changed.map { entries[$0] }, lockWait) }
        if !missing.isEmpty {
            try await add(missing.map { entries[$0] }, lockWait)
            // Somebody may have registered one of them meanwhile.
            for (index, device) in try await find(missing.map { entries[$0] }) { known[missing[index]] = device }
        }
        return ranges.mapValues { range in range.map { known[$0]?.id ?? .none } }
    }

    /// Those that there are, by their positions. Where many may share an address, the one that came with a notification. What
    /// nobody registered is outdated when it is reached in another way now, or was not named for a day.
    private func find(_ entries: [Entry]) async throws -> [Int: (id: DeviceID, isOutdated: Bool)] {
        let addresses = entries.map(\.device.address)
        // Comparisons of rows that one index alone can serve in order, see `docs/decisions/0009`.
        let found = try await pool.query(
            """
            SELECT n.position, d.device_id,
                   d.transient AND (d.seen_at < now() - interval '1 day'
                                    OR (d.app_id, d.environment, d.p256dh, d.auth)
                                        IS DISTINCT FROM (n.app_id, n.environment, n.p256dh, n.auth))
            FROM unnest(\(entries.map(\.network.rawValue)), \(addresses.map(\.uniqueHash)),
                        \(entries.map(\.id.rawValue)), \(addresses.map(\.provider.rawValue)),
                        \(addresses.map(\.text)), \(addresses.map(\.appID)),
                        \(addresses.map(\.environment?.rawValue)), \(addresses.map(\.keys?.p256dh)),
                        \(addresses.map(\.keys?.auth)))
                WITH ORDINALITY AS n (network_id, address_hash, device_id, provider, address, app_id, environment, p256dh, auth,
                      position)
            CROSS JOIN LATERAL (
                (SELECT d.* FROM devices d
                 WHERE n.address_hash IS NOT NULL
                     AND (d.network_id, d.address_hash) >= (n.network_id, n.address_hash) AND d.address_hash IS NOT NULL
                 ORDER BY d.network_id, d.address_hash
                 LIMIT 1)
                UNION ALL
                (SELECT d.* FROM devices d
                 WHERE n.address_hash IS NULL AND (d.network_id, d.device_id) >= (n.network_id, n.device_id)
                 ORDER BY d.network_id, d.device_id
                 LIMIT 1)
            ) AS d
            WHERE d.network_id = n.network_id
                AND CASE WHEN n.address_hash IS NOT NULL THEN d.address_hash = n.address_hash
                         ELSE d.device_id = n.device_id AND d.provider = n.provider AND d.address = n.address END
            """
        ) { row in
            (
                try row.decode(0, as: Int.self) - 1,
                (id: try row.id(1) as DeviceID, isOutdated: try row.decode(2, as: Bool.self))
            )
        }
        return Dictionary(found) { first, _ in first }
    }

    private func update(_ entries: [Entry], _ lockWait: Duration) async throws {
        let entries = Self.inOrder(entries)
        let addresses = entries.map(\.device.address)
        try await pool.write(
            .unprepared(
                """
                UPDATE devices d
                SET app_id = n.app_id, environment = n.environment, p256dh = n.p256dh, auth = n.auth, seen_at = now()
                FROM unnest(\(entries.map(\.network.rawValue)), \(entries.map(\.id.rawValue)),
                            \(addresses.map(\.appID)), \(addresses.map(\.environment?.rawValue)),
                            \(addresses.map(\.keys?.p256dh)), \(addresses.map(\.keys?.auth)))
                    AS n (network_id, device_id, app_id, environment, p256dh, auth)
                WHERE d.network_id = n.network_id AND d.device_id = n.device_id AND d.transient
                """
            ),
            lockWait: lockWait
        )
    }

    /// Adds devices. Webhooks on more servers than the network may have are left out: they count as people without a device.
    private func add(_ entries: [Entry], _ lockWait: Duration) async throws {
        let webhooks = Dictionary(
            grouping: entries.filter { $0.device.address.provider == .webhook },
            by: \.network
        )
        let others = entries.filter { $0.device.address.provider != .webhook }
        if !others.isEmpty { try await pool.write(lockWait: lockWait) { session in try Self.insert(others, session) } }
        for (network, entries) in webhooks {
            do {
                try await add(webhooks: entries, in: network, lockWait)
            } catch is LimitReached {
                // Those on servers that the network has already are not to wait for the others.
                for entry in Self.inOrder(entries) {
                    do {
                        try await add(webhooks: [entry], in: network, lockWait)
                    } catch is LimitReached { continue }
                }
            }
        }
    }

    private func add(webhooks entries: [Entry], in network: NetworkID, _ lockWait: Duration) async throws {
        try await pool.write(lockWait: lockWait) { session in
            let registration = DeviceRegistration(entries.map(\.transient), in: network)
            try registration.lock(session)
            let addsHosts = try registration.addsWebhookHosts(session)
            try Self.insert(entries, session)
            if addsHosts { try registration.checkWebhookHosts(session) }
        }
    }

    /// Adds what nothing can be sent to.
    func quarantine(_ addresses: [DeviceAddress], because error: String, in network: NetworkID) async throws {
        guard !addresses.isEmpty else { return }
        let entries = addresses.map { Entry(network: network, device: AddressedDevice(address: $0)) }
        try await pool.write { session in try Self.insert(entries, session, state: .quarantined, error) }
    }

    private static func insert(
        _ entries: [Entry],
        _ session: borrowing PostgresSession,
        state: DeviceState = .active,
        _ error: String = Device.firstError
    ) throws {
        let entries = inOrder(entries)
        let addresses = entries.map(\.device.address)
        let since: SQL = state == .active ? "NULL" : "now()"
        try session.execute(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, environment, p256dh, auth,
                                 address_hash, locale, state, error, state_at, registered_at, obtained_at, obtained_for,
                                 transient)
            SELECT n.network_id, n.device_id, '', n.provider, n.app_id, n.address, n.environment, n.p256dh, n.auth,
                   n.address_hash, n.locale, \(state.rawValue), \(error), \(sql: since), now(), n.obtained_at, now(),
                   true
            FROM unnest(\(entries.map(\.network.rawValue)), \(entries.map(\.id.rawValue)),
                        \(addresses.map(\.provider.rawValue)), \(addresses.map(\.appID)), \(addresses.map(\.text)),
                        \(addresses.map(\.environment?.rawValue)), \(addresses.map(\.keys?.p256dh)),
                        \(addresses.map(\.keys?.auth)), \(addresses.map(\.uniqueHash)),
                        \(entries.map(\.device.locale)), \(entries.map { $0.device.obtainedAt?.stored }))
                AS n (network_id, device_id, provider, app_id, address, environment, p256dh, auth, address_hash, locale,
                      obtained_at)
            ON CONFLICT DO NOTHING
            """
        )
    }

    /// In one order, so that two who write the same do not wait for each other; each once.
    private static func inOrder(_ entries: [Entry]) -> [Entry] {
        let sorted = entries.sorted { ($0.network, $0.id) < ($1.network, $1.id) }
        return sorted.enumerated().filter { index, entry in
            index == 0 || sorted[index - 1].network != entry.network || sorted[index - 1].id != entry.id
        }.map(\.element)
    }
}

extension DeviceID {
    /// Names no device: an id that cannot come from outside.
    fileprivate static let none = DeviceID(trusted: "")
}
