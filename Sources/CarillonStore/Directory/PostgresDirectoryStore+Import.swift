package import CarillonCore
import Foundation
import Postgres

extension PostgresDirectoryStore {
    /// Applies records in their order in one transaction, reading them in batches of bounded size.
    ///
    /// The transaction may wait as long as the caller's sender needs for the next batch.
    package func apply(
        _ next: @escaping @Sendable () throws -> [ImportRecord]?,
        in network: NetworkID
    ) async throws {
        let since = ids.next()
        try await pool.withTransaction(TransactionOptions(statementTimeout: .seconds(120))) { session in
            try session.execute("SET LOCAL idle_in_transaction_session_timeout = '5min'")
            try session.script(.planningEachTime)
            while let records = try next() {
                let batch = ImportBatch(records, network: network)
                try session.put(batch.people, in: network)
                try session.put(batch.channels, in: network)
                try session.mention(users: batch.mentionedUsers, in: network)
                try session.mention(channels: batch.mentionedChannels, in: network)
                try session.makeMembers(batch.members, since: since)
                try session.put(batch.devices, in: network)
            }
        }
    }
}

/// The records of one batch by kind, the last of each key, in the order in which rows are locked.
private struct ImportBatch {
    let people: [Person]
    let channels: [Channel]
    let members: [MemberKey]
    let devices: [Device]

    var mentionedUsers: [UserID] { members.map(\.user) + devices.map(\.userID) }
    var mentionedChannels: Set<ChannelID> { Set(members.map(\.channel)) }

    init(_ records: [ImportRecord], network: NetworkID) {
        var people: [UserID: Person] = [:]
        var channels: [ChannelID: Channel] = [:]
        var members: Set<MemberKey> = []
        var devices: [DeviceID: Device] = [:]
        var owners: [[UInt8]: DeviceID] = [:]
        for record in records {
            switch record {
            case .user(let person): people[person.id] = person
            case .channel(let channel): channels[channel.id] = channel
            case .member(let channel, let user):
                members.insert(MemberKey(network: network, channel: channel, user: user))
            case .device(let device):
                // A token is one device's: the last that names it.
                if let hash = device.address.uniqueHash {
                    if let former = owners.updateValue(device.id, forKey: hash), former != device.id {
                        devices[former] = nil
                    }
                }
                devices[device.id] = device
            }
        }
        self.people = people.values.sorted { $0.id < $1.id }
        self.channels = channels.values.sorted { $0.id < $1.id }
        self.members = members.sorted()
        self.devices = devices.values.sorted { $0.id < $1.id }
    }
}

extension PostgresSession {
    /// Replaces descriptions of people.
    fileprivate func put(_ people: [Person], in network: NetworkID) throws {
        guard !people.isEmpty else { return }
        try execute(
            """
            INSERT INTO users AS u (network_id, user_id, display_name, locale, roles, facts_at)
            SELECT \(network.rawValue), n.user_id, n.display_name, n.locale, n.roles, now()
            FROM unnest(\(people.map(\.id.rawValue)), \(people.map(\.displayName)), \(people.map(\.locale)),
                        \(people.map { $0.roles.map(StoredRoles.text) })) AS n (user_id, display_name, locale, roles)
            ON CONFLICT (network_id, user_id) DO UPDATE
            SET display_name = EXCLUDED.display_name, locale = EXCLUDED.locale, roles = EXCLUDED.roles,
                facts_at = greatest(u.facts_at, EXCLUDED.facts_at), deleted = false
            """
        )
    }

    /// Replaces descriptions of channels.
    fileprivate func put(_ channels: [Channel], in network: NetworkID) throws {
        guard !channels.isEmpty else { return }
        try execute(
            """
            INSERT INTO channels AS c (network_id, channel_id, display_name, facts_at)
            SELECT \(network.rawValue), n.channel_id, n.display_name, now()
            FROM unnest(\(channels.map(\.id.rawValue)), \(channels.map(\.displayName))) AS n (channel_id, display_name)
            ON CONFLICT (network_id, channel_id) DO UPDATE
            SET display_name = EXCLUDED.display_name, facts_at = greatest(c.facts_at, EXCLUDED.facts_at), deleted = false
            """
        )
    }

    /// Registers devices, none of which shares id or token with another; their users are in the directory.
    fileprivate func put(_ devices: [Device], in network: NetworkID) throws {
        guard !devices.isEmpty else { return }
        let addresses = devices.map(\.address)
        let hashes = addresses.map(\.uniqueHash)
        try makeRoom(for: devices, in: network)
        try execute(
            """
            INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, environment, p256dh, auth,
                                 address_hash, locale, state, error, registered_at)
            SELECT \(network.rawValue), n.device_id, n.user_id, n.provider, n.app_id, n.address, n.environment, n.p256dh,
                   n.auth, n.address_hash, n.locale, n.state, n.error, n.registered_at
            FROM unnest(\(devices.map(\.id.rawValue)), \(devices.map(\.userID.rawValue)),
                        \(addresses.map(\.provider.rawValue)), \(addresses.map(\.appID)),
                        \(addresses.map(\.storedAddress)), \(addresses.map(\.storedEnvironment)),
                        \(addresses.map(\.storedKeys?.p256dh)), \(addresses.map(\.storedKeys?.auth)), \(hashes),
                        \(devices.map(\.locale)), \(devices.map(\.state.rawValue)), \(devices.map(\.error)),
                        \(devices.map(\.registeredAt.stored)))
                AS n (device_id, user_id, provider, app_id, address, environment, p256dh, auth, address_hash, locale,
                      state, error, registered_at)
            ON CONFLICT (network_id, device_id) DO UPDATE
            SET user_id = EXCLUDED.user_id, provider = EXCLUDED.provider, app_id = EXCLUDED.app_id,
                address = EXCLUDED.address, environment = EXCLUDED.environment, p256dh = EXCLUDED.p256dh,
                auth = EXCLUDED.auth, address_hash = EXCLUDED.address_hash, locale = EXCLUDED.locale,
                state = EXCLUDED.state, error = EXCLUDED.error, registered_at = EXCLUDED.registered_at
            """
        )
    }

    /// Removes the devices whose tokens these take, and notes who loses a device.
    private func makeRoom(for devices: [Device], in network: NetworkID) throws {
        let newOwners = Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0.userID) })
        let hashes = devices.compactMap(\.address.uniqueHash)
        let former = try query(
            """
            SELECT device_id, user_id FROM devices
            WHERE network_id = \(network.rawValue)
                AND (device_id = ANY (\(devices.map(\.id.rawValue))) OR address_hash = ANY (\(hashes)))
            ORDER BY device_id
            FOR UPDATE
            """
        ) { row in (device: try row.id(0, of: Device.self), user: try row.id(1, of: Person.self)) }
        let replaced = former.map(\.device).filter { newOwners[$0] == nil }
        // A token may also move between two devices of the batch: none may hold it while the other gets it.
        try execute(
            """
            UPDATE devices SET address_hash = NULL
            WHERE network_id = \(network.rawValue) AND device_id = ANY (\(former.map(\.device.rawValue)))
                AND address_hash = ANY (\(hashes))
            """
        )
        try execute(
            """
            DELETE FROM devices
            WHERE network_id = \(network.rawValue) AND device_id = ANY (\(replaced.map(\.rawValue)))
            """
        )
        let losers = Set(former.filter { newOwners[$0.device] != $0.user }.map(\.user))
        try recordChanges(of: losers.sorted().map { (network, $0) })
    }
}
