package import CarillonCore
import Postgres

/// The toggle documents, as JSON beside what they belong to: in `networks`, `users` and `members`.
package struct PostgresToggleStore: ToggleStore {
    let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func toggles(_ scope: ToggleScope, in network: NetworkID) async throws -> Versioned<JSONValue> {
        try await databases.of(network).pool.queryFirst(Self.reading(scope, in: network)) { row in
            try row.toggles(at: 0)
        } ?? .neverSet
    }

    package func updateToggles(
        _ scope: ToggleScope,
        in network: NetworkID,
        by writer: Writer,
        expected: (@Sendable (Int64) -> Bool)?,
        _ change: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) async throws -> Versioned<JSONValue>? {
        try await databases.toWrite(network).pool.write { session in
            if case .channel(let user, let channel) = scope, writer == .user {
                try Self.checkLimit(of: user, adding: channel, in: network, session)
            }
            try Self.makeRow(of: scope, in: network, session)
            let locking = Self.reading(scope, in: network) + " FOR NO KEY UPDATE"
            guard let current = try session.queryFirst(locking, { row in try row.toggles(at: 0) }) else {
                throw try session.absence(of: network)
            }
            if let expected, !expected(current.version) { return nil }
            let document = try change(current.document)
            let writing = Self.writing(scope, in: network, document.serializedText)
            let updatedAt = try session.queryFirst(writing) { row in try row.timestamp(0) }
            // With the commit, so that others who change something in the network wait for no way there and back.
            try session.commit(after: .recordingChanges(of: [(network, scope.user)]))
            return Versioned(document: document, updatedAt: updatedAt, version: current.version + 1)
        }
    }

    package func removeToggles(
        _ scope: ToggleScope,
        in network: NetworkID,
        expected: (@Sendable (Int64) -> Bool)?
    ) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            let locking = Self.reading(scope, in: network) + " FOR NO KEY UPDATE"
            let current = try session.queryFirst(locking) { row in try row.toggles(at: 0) }
            if current == nil { try session.refuseDeparted(network) }
            if let expected, !expected(current?.version ?? Versioned<JSONValue>.neverSet.version) { return false }
            // What somebody sets meanwhile is not what was asked about.
            guard current != nil else { return true }
            let removed = try session.execute(Self.writing(scope, in: network, nil))
            if removed > 0 { try session.recordChange(of: scope.user, in: network) }
            return true
        }
    }

    package func toggles(for user: UserID, channel: ChannelID?, in network: NetworkID) async throws -> (
        network: Versioned<JSONValue>, user: Versioned<JSONValue>, channel: Versioned<JSONValue>
    ) {
        try await databases.of(network).pool.queryFirst(
            """
            SELECT n.toggles, n.toggles_updated_at, n.toggles_version,
                   u.toggles, u.toggles_updated_at, coalesce(u.toggles_version, 0), \(sql: Self.channelColumns)
            FROM (SELECT \(network.rawValue) AS network_id) AS wanted
            LEFT JOIN networks n USING (network_id)
            LEFT JOIN users u ON u.network_id = n.network_id AND u.user_id = \(user.rawValue)
            LEFT JOIN members m ON m.network_id = n.network_id AND m.user_id = \(user.rawValue)
                AND m.channel_id = \(channel?.rawValue as String?)
            """
        ) { row in
            (try row.toggles(at: 0), try row.toggles(at: 3), try row.toggles(at: 6))
        } ?? (.neverSet, .neverSet, .neverSet)
    }

    /// Lets a user begin one document at a time, and none beyond the network's limit.
    private static func checkLimit(
        of user: UserID,
        adding channel: ChannelID,
        in network: NetworkID,
        _ session: borrowing PostgresSession
    ) throws {
        try session.lock("toggles:\(user.rawValue)", in: network)
        guard let limit = try session.network(network)?.limits[.channelsPerUser] else {
            throw try session.absence(of: network)
        }
        let isOver = try session.queryFirst(
            """
            SELECT NOT EXISTS (SELECT FROM members
                               WHERE network_id = \(network.rawValue) AND channel_id = \(channel.rawValue)
                                   AND user_id = \(user.rawValue) AND toggles IS NOT NULL)
                AND \(limit) <= (SELECT count(*)
                                 FROM (SELECT FROM members
                                       WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue)
                                           AND toggles IS NOT NULL
                                       LIMIT \(limit)) AS documents)
            """
        ) { row in try row.decode(0, as: Bool.self) }
        if isOver == true { throw LimitReached(.channelsPerUser, limit) }
    }

    /// The table that holds a document, and in which row.
    private static func place(of scope: ToggleScope, in network: NetworkID) -> (table: String, isMeant: SQL) {
        switch scope {
        case .network:
            ("networks", "network_id = \(network.rawValue)")
        case .user(let user):
            ("users", "network_id = \(network.rawValue) AND user_id = \(user.rawValue)")
        case .channel(let user, let channel):
            (
                "members",
                """
                network_id = \(network.rawValue) AND channel_id = \(channel.rawValue) AND user_id = \(user.rawValue)
                """
            )
        }
    }

    private static func reading(_ scope: ToggleScope, in network: NetworkID) -> SQL {
        let (table, isMeant) = place(of: scope, in: network)
        let columns: SQL =
            if case .channel = scope { channelColumns } else { "toggles, toggles_updated_at, toggles_version" }
        return "SELECT \(sql: columns) FROM \(identifier: table) m WHERE \(sql: isMeant)"
    }

    /// A channel's document as removals have left it.
    static let channelColumns: SQL = """
        CASE WHEN m.facts_at <= \(sql: .wipedUntil) THEN NULL ELSE m.toggles END,
        CASE WHEN m.facts_at <= \(sql: .wipedUntil) THEN NULL ELSE m.toggles_updated_at END,
        coalesce(m.toggles_version, 0)
            + CASE WHEN m.facts_at <= \(sql: .wipedUntil) AND m.toggles IS NOT NULL THEN 1 ELSE 0 END
        """

    /// What writes a document, or removes it. When that was is kept with the version, which is to last longer than what callers remember of
    /// it.
    private static func writing(_ scope: ToggleScope, in network: NetworkID, _ document: String?) -> SQL {
        let (table, isMeant) = place(of: scope, in: network)
        return """
            UPDATE \(identifier: table)
            SET toggles = \(document), toggles_updated_at = now(), toggles_version = toggles_version + 1
            WHERE \(sql: isMeant) \(sql: document == nil ? "AND toggles IS NOT NULL" : "") RETURNING toggles_updated_at
            """
    }

    /// Adds the row that carries the document; a relation to a channel that is no membership yet is one too.
    private static func makeRow(
        of scope: ToggleScope,
        in network: NetworkID,
        _ session: borrowing PostgresSession
    ) throws {
        guard let user = scope.user else { return }
        try session.mention(users: [user], in: network)
        guard case .channel(_, let channel) = scope else { return }
        try session.settleRemovals(of: [MemberKey(network: network, channel: channel, user: user)])
        try session.execute(
            """
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT m.network_id, m.channel_id, m.user_id, false, '00000000-0000-0000-0000-000000000000'::uuid,
                   coalesce(\(sql: .justAfter(.wipedUntil)), 'epoch'::timestamptz)
            FROM (SELECT \(network.rawValue), \(channel.rawValue), \(user.rawValue))
                AS m (network_id, channel_id, user_id)
            ON CONFLICT (network_id, channel_id, user_id) DO NOTHING
            """
        )
    }

    /// Reads all of the user's memberships for each page, but looks only at the page's channels: the index is by user alone, and
    /// a user has thousands at the most. One in their order would have everything by which a channel's members are walked
    /// through, so that a plan could choose it for that, and read the network.
    package func channels(
        of user: UserID,
        in network: NetworkID,
        after: ChannelID?,
        limit: Int
    ) async throws -> [UserChannel]? {
        try await databases.of(network).pool.snapshot { session in
            let wipedAt = try session.first(
                """
                SELECT coalesce(wiped_at, '-infinity') FROM users
                WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue) AND NOT deleted
                """,
                as: PostgresTimestamp.self
            )
            guard let wipedAt else { return nil }
            // The order of the channels would else be read from the network's whole membership.
            return try session.query(
                """
                WITH mine AS MATERIALIZED (
                    SELECT * FROM members
                    WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue) AND is_member
                        AND facts_at > \(wipedAt)
                )
                SELECT m.channel_id, coalesce(nullif(known.display_name, ''), known.fallback_name), known.direct,
                       \(sql: Self.channelColumns)
                FROM (SELECT * FROM mine WHERE channel_id > \(after?.rawValue ?? "") ORDER BY channel_id OFFSET 0) AS m
                CROSS JOIN LATERAL (SELECT k.display_name, k.fallback_name, k.direct, k.emptied_at FROM channels k
                                    WHERE k.network_id = m.network_id AND k.channel_id = m.channel_id AND NOT k.deleted
                                    LIMIT 1) known
                WHERE m.facts_at > coalesce(known.emptied_at, '-infinity')
                ORDER BY m.channel_id LIMIT \(limit)
                """
            ) { row in
                let channel = Channel(
                    id: try row.id(0),
                    displayName: try row.decode(1),
                    isDirect: try row.decode(2)
                )
                return UserChannel(channel: channel, toggles: try row.toggles(at: 3))
            }
        }
    }
}

extension ToggleScope {
    /// Whom the document is about; `nil` for everybody.
    fileprivate var user: UserID? {
        switch self {
        case .network: nil
        case .user(let user), .channel(let user, _): user
        }
    }
}

extension Versioned<JSONValue> {
    fileprivate static var neverSet: Versioned<JSONValue> {
        Versioned(document: .object(JSONObject()), updatedAt: nil, version: 0)
    }
}

extension Row {
    /// Reads a document and the two columns behind it.
    func toggles(at column: Int) throws -> Versioned<JSONValue> {
        guard let version = try decode(column + 2, as: Int64?.self) else { return .neverSet }
        let text = try decode(column, as: String?.self)
        do {
            return Versioned(
                document: try text.map { try JSONValue(parsing: $0) } ?? .object(JSONObject()),
                updatedAt: text == nil ? nil : try timestampIfAny(column + 1),
                version: version
            )
        } catch is JSONSyntaxError {
            throw StoreError.unreadable("toggle document")
        }
    }
}
