package import CarillonCore
import Postgres

extension PostgresTagStore {
    package func subscribe(
        _ subscriber: Subscriber,
        to tag: TagID,
        in network: NetworkID,
        ifOwnedBy owner: UserID?,
        by writer: Writer
    ) async throws -> Bool {
        let database = try await databases.toWrite(network)
        let listeners = try await database.feedback.listeners(in: network)
        return try await database.pool.write { session in
            if writer == .user { try session.checkTags(of: subscriber, adding: tag, in: network) }
            switch subscriber {
            case .user(let user): try session.mention(users: [user], in: network)
            case .device(let id):
                guard try session.hasDevice(id, of: owner, in: network) else {
                    try session.refuseDeparted(network)
                    return false
                }
            }
            try session.subscribe([(subscriber, tag)], in: network, telling: listeners)
            return true
        }
    }

    package func unsubscribe(
        _ subscriber: Subscriber,
        from tag: TagID,
        in network: NetworkID,
        ifOwnedBy owner: UserID?
    ) async throws {
        let device: DeviceID? = if case .device(let id) = subscriber { id } else { nil }
        let database = try await databases.toWrite(network)
        let listeners = try await database.feedback.listeners(in: network)
        try await database.pool.write { session in
            let ended = try session.queryFirst(
                """
                DELETE FROM subscriptions s
                WHERE network_id = \(network.rawValue) AND tag = \(tag.rawValue)
                    AND kind = \(subscriber.kind.rawValue) AND subject_id = \(subscriber.id)
                    AND (\(device == nil || owner == nil)
                         OR EXISTS (SELECT FROM devices d
                                    WHERE d.network_id = \(network.rawValue)
                                        AND d.device_id = \(device?.rawValue as String?)
                                        AND d.user_id = \(owner?.rawValue as String?) AND \(sql: .isOfTheLiving)))
                RETURNING \(sql: .isInForce)
                """
            ) { row in try row.decode(0, as: Bool?.self) }
            guard let ended else { return try session.refuseDeparted(network) }
            guard ended == true else { return }
            let change = SubscriptionChange(subscriber, tag, over: .unsubscribed)
            try listeners.tell([.subscription(change)], in: network, session)
        }
    }

    package func unsubscribe(_ subscriptions: [Subscription], in network: NetworkID) async throws {
        let rows = Set(subscriptions).sorted()
        guard !rows.isEmpty else { return }
        let database = try await databases.toWrite(network)
        let listeners = try await database.feedback.listeners(in: network)
        try await database.pool.write { session in
            // By its key each, in the order of the keys, as whoever begins several at once locks them.
            let ended = try session.query(
                .unprepared(
                    """
                    WITH held AS MATERIALIZED (
                        SELECT n.network_id, n.tag, n.kind, n.subject_id
                        FROM (SELECT n.* FROM unnest(\(rows.map { _ in network.rawValue }), \(rows.map(\.tag.rawValue)),
                                                     \(rows.map(\.subscriber.kind.rawValue)), \(rows.map(\.subscriber.id)))
                                  AS n (network_id, tag, kind, subject_id)
                              ORDER BY n.tag COLLATE "C", n.kind COLLATE "C", n.subject_id COLLATE "C") AS n
                        CROSS JOIN LATERAL (
                            SELECT FROM subscriptions k
                            WHERE k.network_id = n.network_id AND k.tag = n.tag AND k.kind = n.kind
                                AND k.subject_id = n.subject_id
                            LIMIT 1
                            FOR UPDATE
                        ) AS k
                    )
                    DELETE FROM subscriptions s USING held n
                    WHERE s.network_id = n.network_id AND s.tag = n.tag AND s.kind = n.kind
                        AND s.subject_id = n.subject_id
                    RETURNING s.kind, s.subject_id, s.tag, \(sql: .isInForce)
                    """
                )
            ) { row -> DirectoryChange? in
                guard try row.decode(3, as: Bool?.self) == true else { return nil }
                let subscriber = Subscriber(try row.choice(0), trusted: try row.decode(1))
                return .subscription(SubscriptionChange(subscriber, try row.id(2), over: .unsubscribed))
            }
            if ended.isEmpty { try session.refuseDeparted(network) }
            try listeners.tell(ended.compactMap(\.self), in: network, session)
        }
    }

    package func subscribers(
        of tag: TagID,
        in network: NetworkID,
        after: Subscriber?,
        limit: Int
    ) async throws -> [Subscriber] {
        try await databases.of(network).pool.query(
            """
            SELECT s.kind, s.subject_id FROM subscriptions s
            WHERE s.network_id = \(network.rawValue) AND s.tag = \(tag.rawValue)
                AND (s.kind, s.subject_id) > (\(after?.kind.rawValue ?? ""), \(after?.id ?? ""))
                AND \(sql: .isInForce)
            ORDER BY s.kind, s.subject_id LIMIT \(limit)
            """
        ) { row in Subscriber(try row.choice(0), trusted: try row.decode(1)) }
    }

    package func tags(
        of subscriber: Subscriber,
        in network: NetworkID,
        selfService: Bool,
        after: TagID?,
        limit: Int
    ) async throws -> [TagID] {
        try await databases.of(network).pool.query(
            """
            SELECT s.tag FROM subscriptions s
            WHERE s.network_id = \(network.rawValue) AND s.kind = \(subscriber.kind.rawValue)
                AND s.subject_id = \(subscriber.id) AND s.tag > \(after?.rawValue ?? "") AND \(sql: .isInForce)
                AND (NOT \(selfService)
                     OR EXISTS (SELECT FROM tags t
                                WHERE t.network_id = s.network_id AND t.tag = s.tag AND t.self_service))
            ORDER BY s.tag LIMIT \(limit)
            """
        ) { row in try row.id(0) }
    }
}

extension SQL {
    /// Whether subscription `s` counts: nothing of what it hangs on was removed, or changed hands, since it was made.
    static let isInForce: SQL = """
        (s.since <= (SELECT t.wiped_at FROM tags t WHERE t.network_id = s.network_id AND t.tag = s.tag)) IS NOT TRUE
        AND CASE s.kind
            WHEN 'user' THEN s.user_wipes = (SELECT u.wipes FROM users u
                                             WHERE u.network_id = s.network_id AND u.user_id = s.subject_id)
            ELSE EXISTS (SELECT FROM devices d
                         WHERE d.network_id = s.network_id AND d.device_id = s.subject_id
                             AND (d.owned_since < s.since) IS NOT FALSE AND \(sql: .isOfTheLiving))
        END
        """
}

extension PostgresSession {
    /// Subscribes users, who are in the directory, and devices; those that are unknown are passed over. Who is subscribed stays
    /// so, unless that is over.
    func subscribe(
        _ subscriptions: [(subscriber: Subscriber, tag: TagID)],
        in network: NetworkID,
        telling listeners: FeedbackListeners
    ) throws {
        let latest = Dictionary(grouping: subscriptions, by: \.tag).mapValues { Set($0.map(\.subscriber)) }
        let rows = latest.keys.sorted().flatMap { tag in latest[tag, default: []].sorted().map { (tag, $0) } }
        guard !rows.isEmpty else { return }
        let devices = Set(rows.compactMap { if case .device(let id) = $0.1 { id } else { nil } })
        // From here on nobody else registers them: whoever does so later has the greater mark.
        let holding: SQL = """
            SELECT FROM (SELECT n.device_id FROM unnest(\(devices.sorted().map(\.rawValue))) AS n (device_id)
                         ORDER BY n.device_id COLLATE "C") AS k
            CROSS JOIN LATERAL (
                SELECT FROM devices d
                WHERE d.network_id = \(network.rawValue) AND d.device_id = k.device_id
                LIMIT 1
                FOR SHARE
            ) AS held
            """
        // What is over is held, in the order of the keys. What there is not yet somebody else may begin just now, who goes first then.
        let looking: SQL = """
            SELECT n.position, k.wipes, former.is_in_force IS NOT NULL
            FROM unnest(\(rows.map(\.0.rawValue)), \(rows.map(\.1.kind.rawValue)), \(rows.map(\.1.id)))
                WITH ORDINALITY AS n (tag, kind, subject_id, position)
            CROSS JOIN LATERAL (
                (SELECT u.wipes FROM users u
                 WHERE n.kind = 'user' AND u.network_id = \(network.rawValue) AND u.user_id = n.subject_id
                 LIMIT 1)
                UNION ALL
                (SELECT 0 FROM devices d
                 WHERE n.kind = 'device' AND d.network_id = \(network.rawValue) AND d.device_id = n.subject_id
                     AND \(sql: .isOfTheLiving)
                 LIMIT 1)
            ) AS k (wipes)
            LEFT JOIN LATERAL (
                SELECT coalesce(\(sql: .isInForce), false) AS is_in_force FROM subscriptions s
                WHERE s.network_id = \(network.rawValue) AND s.tag = n.tag AND s.kind = n.kind
                    AND s.subject_id = n.subject_id
                LIMIT 1
                FOR NO KEY UPDATE
            ) AS former ON true
            WHERE former.is_in_force IS NOT TRUE
            """
        let answers = try pipeline((devices.isEmpty ? [] : [holding]) + [TransactionStart.statement(), looking])
        let start = try TransactionStart(answers[answers.count - 2])
        let missing = try answers[answers.count - 1].map { row in
            let (tag, subscriber) = rows[try row.decode(0, as: Int.self) - 1]
            return MissingSubscription(
                tag: tag,
                subscriber: subscriber,
                wipes: try row.decode(1),
                isOver: try row.decode(2)
            )
        }
        let begun = try pipeline(missing.beginning(in: network, with: start.mark)).flatMap { answer in
            try answer.map { row in
                DirectoryChange.subscription(
                    SubscriptionChange(Subscriber(try row.choice(0), trusted: try row.decode(1)), try row.id(2))
                )
            }
        }
        try listeners.tell(begun, in: network, self)
    }

    /// Whether there is such a device, of that owner if one is named; it stays so until the transaction ends.
    fileprivate func hasDevice(_ id: DeviceID, of owner: UserID?, in network: NetworkID) throws -> Bool {
        try first(
            """
            SELECT true FROM devices d
            WHERE d.network_id = \(network.rawValue) AND d.device_id = \(id.rawValue)
                AND d.user_id = coalesce(\(owner?.rawValue as String?), d.user_id) AND \(sql: .isOfTheLiving)
            FOR SHARE
            """,
            as: Bool.self
        ) == true
    }

    /// Lets a user, or a user's device, subscribe to one tag at a time, and to none beyond the network's limit.
    fileprivate func checkTags(of subscriber: Subscriber, adding tag: TagID, in network: NetworkID) throws {
        try lock("subscriptions:\(subscriber.kind.rawValue):\(subscriber.id)", in: network)
        guard let limit = try self.network(network)?.limits[.tagsPerSubscriber] else { throw try absence(of: network) }
        let isOver = try first(
            """
            SELECT count(*) >= \(limit) AND count(*) FILTER (WHERE held.tag = \(tag.rawValue)) = 0
            FROM (SELECT s.tag FROM subscriptions s
                  WHERE s.network_id = \(network.rawValue) AND s.kind = \(subscriber.kind.rawValue)
                      AND s.subject_id = \(subscriber.id) AND \(sql: .isInForce)) AS held
            """,
            as: Bool.self
        )
        if isOver == true { throw LimitReached(.tagsPerSubscriber, limit) }
    }
}

/// A subscription that there is not, or that is over.
private struct MissingSubscription {
    var tag: TagID
    var subscriber: Subscriber
    /// How often the user has been removed.
    var wipes: Int32
    /// Whether there was one; it is held.
    var isOver: Bool
}

extension [MissingSubscription] {
    /// What has them begin; answers those that do.
    fileprivate func beginning(in network: NetworkID, with mark: EventMark) -> [SQL] {
        let (over, new) = (filter(\.isOver), filter { !$0.isOver })
        var statements: [SQL] = []
        if !over.isEmpty {
            statements.append(
                """
                UPDATE subscriptions s SET since = \(mark.rawValue), user_wipes = n.wipes
                FROM \(sql: over.rows(in: network))
                WHERE s.network_id = n.network_id AND s.tag = n.tag AND s.kind = n.kind AND s.subject_id = n.subject_id
                RETURNING s.kind, s.subject_id, s.tag
                """
            )
        }
        if !new.isEmpty {
            statements.append(
                """
                INSERT INTO subscriptions AS s (network_id, tag, kind, subject_id, user_wipes, since)
                SELECT n.network_id, n.tag, n.kind, n.subject_id, n.wipes, \(mark.rawValue)
                FROM \(sql: new.rows(in: network))
                \(sql: .ofNetworks)
                ON CONFLICT (network_id, tag, kind, subject_id) DO NOTHING
                RETURNING s.kind, s.subject_id, s.tag
                """
            )
        }
        return statements
    }

    private func rows(in network: NetworkID) -> SQL {
        """
        unnest(\(map { _ in network.rawValue }), \(map(\.tag.rawValue)), \(map(\.subscriber.kind.rawValue)),
               \(map(\.subscriber.id)), \(map(\.wipes)))
            AS n (network_id, tag, kind, subject_id, wipes)
        """
    }
}
