package import CarillonCore
import Postgres

extension PostgresTagStore {
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
