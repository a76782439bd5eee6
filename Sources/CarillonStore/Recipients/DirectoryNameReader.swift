import CarillonCore
import Postgres

/// What the directory knows of the channels and people that texts about events name.
struct DirectoryNameReader {
    private var channels: [ChannelKey: String] = [:]
    private var people: [UserKey: String] = [:]
    private var roles: [UserKey: [String]] = [:]

    init(_ queries: [RecipientQuery], _ session: borrowing PostgresSession) throws {
        try readChannels(Set(queries.compactMap(\.channelKey)).sorted(), session)
        try readPeople(Set(queries.flatMap(\.named)).sorted(), session)
    }

    func names(for query: RecipientQuery) -> DirectoryNames {
        var names = DirectoryNames(channel: query.channelKey.flatMap { channels[$0] })
        for key in query.named {
            names.people[key.user] = people[key]
            names.roles[key.user] = roles[key]
        }
        return names
    }

    private mutating func readChannels(_ keys: [ChannelKey], _ session: borrowing PostgresSession) throws {
        guard !keys.isEmpty else { return }
        try session.forEach(
            """
            SELECT n.network_id, n.channel_id, c.display_name
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.channel.rawValue))) AS n (network_id, channel_id)
            CROSS JOIN LATERAL (
                SELECT c.display_name FROM channels c
                WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id AND c.display_name IS NOT NULL
                LIMIT 1
            ) AS c
            """
        ) { row in
            channels[ChannelKey(network: try row.id(0), channel: try row.id(1))] = try row.decode(2, as: String.self)
        }
    }

    private mutating func readPeople(_ keys: [UserKey], _ session: borrowing PostgresSession) throws {
        guard !keys.isEmpty else { return }
        try session.forEach(
            """
            SELECT n.network_id, n.user_id, u.display_name, u.roles
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.user.rawValue))) AS n (network_id, user_id)
            CROSS JOIN LATERAL (
                SELECT u.display_name, u.roles FROM users u
                WHERE u.network_id = n.network_id AND u.user_id = n.user_id
                LIMIT 1
            ) AS u
            """
        ) { row in
            let key = UserKey(network: try row.id(0), user: try row.id(1))
            people[key] = try row.decode(2, as: String?.self)
            roles[key] = try row.decode(3, as: String?.self).flatMap(StoredRoles.roles)
        }
    }
}

extension RecipientQuery {
    /// The channel that the event happened in.
    var channelKey: ChannelKey? { event.channel.map { ChannelKey(network: networkID, channel: $0.id) } }

    /// The people whose names a text can hold: the actor and the first of the members.
    fileprivate var named: [UserKey] {
        [event.actor?.id, event.members.first?.id].compactMap(\.self).map { UserKey(network: networkID, user: $0) }
    }
}
