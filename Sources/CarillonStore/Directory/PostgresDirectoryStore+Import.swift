package import CarillonCore
import Postgres

extension PostgresDirectoryStore {
    /// Applies records in their order in one transaction, reading them in batches of bounded size.
    ///
    /// The transaction may wait as long as the caller's sender needs for the next batch.
    package func apply(
        _ next: @escaping @Sendable () throws -> [ImportRecord]?,
        in network: NetworkID
    ) async throws {
        try await pool.withTransaction(TransactionOptions(statementTimeout: .seconds(120))) { session in
            try session.execute("SET LOCAL idle_in_transaction_session_timeout = '5min'")
            try session.script(.planningEachTime)
            while let records = try next() {
                let batch = ImportBatch(records, network: network)
                try batch.devices.lock(session)
                try session.put(batch.people, in: network)
                try session.put(batch.channels, in: network)
                try session.mention(users: batch.mentionedUsers, in: network)
                try session.mention(channels: batch.mentionedChannels, in: network)
                try session.makeMembers(batch.members)
                try batch.devices.write(session)
            }
        }
    }
}

/// The records of one batch by kind, the last of each key, in the order in which rows are locked.
private struct ImportBatch {
    let people: [Person]
    let channels: [Channel]
    let members: [MemberKey]
    let devices: DeviceRegistration

    var mentionedUsers: [UserID] { members.map(\.user) + devices.users }
    var mentionedChannels: Set<ChannelID> { Set(members.map(\.channel)) }

    init(_ records: [ImportRecord], network: NetworkID) {
        var people: [UserID: Person] = [:]
        var channels: [ChannelID: Channel] = [:]
        var members: Set<MemberKey> = []
        var devices: [Device] = []
        for record in records {
            switch record {
            case .user(let person): people[person.id] = person
            case .channel(let channel): channels[channel.id] = channel
            case .member(let channel, let user):
                members.insert(MemberKey(network: network, channel: channel, user: user))
            case .device(let device): devices.append(device)
            }
        }
        self.people = people.values.sorted { $0.id < $1.id }
        self.channels = channels.values.sorted { $0.id < $1.id }
        self.members = members.sorted()
        self.devices = DeviceRegistration(devices, in: network)
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
}
