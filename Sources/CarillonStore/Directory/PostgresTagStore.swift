package import CarillonCore
import Postgres

/// The tags of networks in table `tags`, and who subscribes to them in `subscriptions`.
package struct PostgresTagStore: TagStore, SubscriptionStore {
    let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func putTag(_ tag: Tag, in network: NetworkID) async throws -> (tag: Tag, isNew: Bool) {
        try await databases.toWrite(network).pool.write { session in
            let isNew = try session.declare([tag], in: network).contains(tag.id)
            guard let stored = try session.queryFirst(Self.reading(tag.id, in: network), { row in try row.tag() })
            else {
                throw try session.absence(of: network)
            }
            return (stored, isNew)
        }
    }

    package func tag(_ id: TagID, in network: NetworkID) async throws -> Tag? {
        try await databases.of(network).pool.queryFirst(Self.reading(id, in: network)) { row in try row.tag() }
    }

    package func tags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [Tag] {
        try await databases.of(network).pool.query(
            """
            SELECT \(sql: Row.tagColumns) FROM tags
            WHERE network_id = \(network.rawValue) AND tag > \(after?.rawValue ?? "") AND declared
            ORDER BY tag LIMIT \(limit)
            """
        ) { row in try row.tag() }
    }

    /// Takes no longer the more there are: they are swept by the ``Housekeeper``.
    package func deleteTag(_ id: TagID, in network: NetworkID) async throws {
        try await wipe(
            id,
            in: network,
            where: "OR EXISTS (SELECT FROM tags k WHERE k.network_id = n.network_id AND k.tag = n.tag)",
            setting: "description = NULL, self_service = false, declared = false, updated_at = EXCLUDED.updated_at,"
        )
    }

    package func unsubscribeAll(from tag: TagID, in network: NetworkID) async throws {
        try await wipe(tag, in: network)
    }

    /// Ends all subscriptions to a tag where there are any, or some other condition holds, and changes its declaration.
    private func wipe(
        _ id: TagID,
        in network: NetworkID,
        where orElse: SQL = "",
        setting declaration: SQL = ""
    ) async throws {
        try await databases.toWrite(network).pool.write { session in
            let start = try session.start().start
            let met = try session.execute(
                """
                INSERT INTO tags AS t (network_id, tag, created_at, updated_at, declared, wiped_at, unswept)
                SELECT n.network_id, n.tag, n.at, n.at, false, n.mark, true
                FROM (SELECT \(network.rawValue), \(id.rawValue), \(start.moment), \(start.mark.rawValue))
                    AS n (network_id, tag, at, mark)
                WHERE EXISTS (SELECT FROM subscriptions s WHERE s.network_id = n.network_id AND s.tag = n.tag)
                    \(sql: orElse)
                ON CONFLICT (network_id, tag) DO UPDATE
                SET \(sql: declaration) wiped_at = greatest(t.wiped_at, EXCLUDED.wiped_at), unswept = true
                """
            )
            if met == 0 { try session.refuseDeparted(network) }
        }
    }

    private static func reading(_ id: TagID, in network: NetworkID) -> SQL {
        """
        SELECT \(sql: Row.tagColumns) FROM tags
        WHERE network_id = \(network.rawValue) AND tag = \(id.rawValue) AND declared
        """
    }

    package func subscriptions(
        matching filter: SubscriptionFilter,
        in network: NetworkID,
        after: Subscription?,
        limit: Int
    ) async throws -> [Subscription] {
        let isBehind: SQL =
            if let after {
                """
                AND (s.tag, s.kind, s.subject_id)
                    > (\(after.tag.rawValue), \(after.subscriber.kind.rawValue), \(after.subscriber.id))
                """
            } else { "" }
        let tag: SQL = if let tag = filter.tag { "AND s.tag = \(tag.rawValue)" } else { "" }
        func reading(_ condition: SQL) -> SQL {
            """
            (SELECT s.tag, s.kind, s.subject_id FROM subscriptions s
             WHERE s.network_id = \(network.rawValue) \(sql: tag) \(sql: isBehind) \(sql: condition) AND \(sql: .isInForce)
             ORDER BY s.tag, s.kind, s.subject_id LIMIT \(limit))
            """
        }
        // Each by its own key, for which there is an index in the order of the list.
        let parts = filter.subscribers.map { subscribers in
            Set(subscribers).sorted().map { subscriber in
                reading("AND s.kind = \(subscriber.kind.rawValue) AND s.subject_id = \(subscriber.id)")
            }
        }
        guard let first = parts.map(\.first) ?? reading("") else { return [] }
        let all = (parts ?? []).dropFirst().reduce(first) { all, part in "\(sql: all) UNION ALL \(sql: part)" }
        return try await databases.of(network).pool.query(
            """
            SELECT tag, kind, subject_id FROM (\(sql: all)) AS found
            ORDER BY tag, kind, subject_id LIMIT \(limit)
            """
        ) { row in
            Subscription(tag: try row.id(0), subscriber: Subscriber(try row.choice(1), trusted: try row.decode(2)))
        }
    }

    /// Walks from one to the next, however many subscribers each has.
    package func subscribedTags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [TagID] {
        let areMeant: SQL = """
            s.network_id = \(network.rawValue) AND s.tag > \(after?.rawValue ?? "") AND \(sql: .isInForce)
            """
        return try await databases.of(network).pool.query(
            """
            WITH RECURSIVE walk AS (\(sql: .walk(over: ["tag"], in: "subscriptions", called: "s", where: areMeant)))
            SELECT tag FROM walk LIMIT \(limit)
            """
        ) { row in try row.id(0) }
    }
}

extension PostgresSession {
    /// Declares tags, the last of each id, or replaces their declarations; answers which are new.
    /// - Throws: ``LimitReached``, with which the transaction has to end.
    func declare(_ tags: [Tag], in network: NetworkID) throws -> Set<TagID> {
        let latest = Dictionary(tags.map { ($0.id, $0) }) { $1 }.values.sorted { $0.id < $1.id }
        guard !latest.isEmpty else { return [] }
        try lock("tags", in: network)
        guard let limit = try self.network(network)?.limits[.tags] else { throw try absence(of: network) }
        let ids = latest.map(\.id.rawValue)
        let (start, answers) = try start(with: [
            "SELECT tag FROM tags WHERE network_id = \(network.rawValue) AND tag = ANY (\(ids)) AND declared"
        ])
        let known = try answers.last?.map { row in try row.id(0, of: Tag.self) } ?? []
        try execute(
            """
            INSERT INTO tags AS t (network_id, tag, description, self_service, created_at, updated_at)
            SELECT n.network_id, n.tag, n.description, n.self_service, \(start.moment), \(start.moment)
            FROM unnest(\(latest.map { _ in network.rawValue }), \(ids), \(latest.map(\.description)),
                        \(latest.map(\.isSelfService)))
                AS n (network_id, tag, description, self_service)
            \(sql: .ofNetworks)
            ON CONFLICT (network_id, tag) DO UPDATE
            SET description = EXCLUDED.description, self_service = EXCLUDED.self_service,
                updated_at = EXCLUDED.updated_at,
                created_at = CASE WHEN t.declared THEN t.created_at ELSE EXCLUDED.created_at END, declared = true
            """
        )
        let new = Set(latest.map(\.id)).subtracting(known)
        guard !new.isEmpty else { return [] }
        let count = try first(
            """
            SELECT count(*)
            FROM (SELECT FROM tags WHERE network_id = \(network.rawValue) AND declared LIMIT \(limit + 1)) AS counted
            """,
            as: Int64.self
        )
        guard count ?? 0 <= limit else { throw LimitReached(.tags, limit) }
        return new
    }
}

extension Row {
    fileprivate func tag() throws -> Tag {
        Tag(
            id: try id(0),
            description: try decode(1),
            isSelfService: try decode(2),
            createdAt: try timestamp(3),
            updatedAt: try timestamp(4)
        )
    }

    fileprivate static var tagColumns: SQL { "tag, description, self_service, created_at, updated_at" }
}
