import CarillonCore
import Foundation
import Postgres

extension RemovalSweep {
    struct RemovedTag: Sendable {
        var network: NetworkID
        var tag: TagID
        var wipedAt: UUID
    }

    static let tags = Kind(table: "tags", key: "tag", columns: "t.wiped_at") { row in
        RemovedTag(network: try row.id(0), tag: try row.id(1), wipedAt: try row.decode(2))
    }

    func sweep(_ removed: RemovedTag) async throws {
        var after: Subscriber?
        repeat {
            let last = try await pool.withTaskLock(on: "removals") { [after, listeners] in
                try $0.sweep(removed, after: after, telling: listeners)
            }
            guard let last else { return }
            after = last
        } while after != nil
        try await finish(removed)
    }

    /// Unless it was removed again meanwhile. What is not declared has nothing left to say: later subscriptions count in any
    /// case.
    private func finish(_ removed: RemovedTag) async throws {
        try await pool.write { session in
            let isSame: SQL = """
                network_id = \(removed.network.rawValue) AND tag = \(removed.tag.rawValue)
                    AND wiped_at = \(removed.wipedAt)
                """
            try session.execute("DELETE FROM tags WHERE \(sql: isSame) AND NOT declared")
            try session.execute("UPDATE tags SET unswept = false WHERE \(sql: isSame) AND declared")
        }
    }
}

extension PostgresSession {
    /// Sweeps the next of a tag's subscriptions; answers up to which one, `nil` behind the last one.
    fileprivate func sweep(
        _ removed: RemovalSweep.RemovedTag,
        after: Subscriber?,
        telling listeners: FeedbackListeners
    ) throws -> Subscriber? {
        let start = (kind: after?.kind.rawValue ?? "", id: after?.id ?? "")
        let page: SQL = """
            SELECT s.kind, s.subject_id FROM subscriptions s
            WHERE s.network_id = \(removed.network.rawValue) AND s.tag = \(removed.tag.rawValue)
                AND (s.kind, s.subject_id) > (\(start.kind), \(start.id))
            ORDER BY s.kind, s.subject_id LIMIT \(RemovalSweep.batchSize)
            """
        let last = try queryFirst(
            "SELECT p.kind, p.subject_id FROM (\(sql: page)) AS p ORDER BY p.kind DESC, p.subject_id DESC LIMIT 1"
        ) { row in Subscriber(try row.choice(0), trusted: try row.decode(1)) }
        guard let last else { return nil }
        let ended = try query(
            """
            DELETE FROM subscriptions s
            WHERE s.network_id = \(removed.network.rawValue) AND s.tag = \(removed.tag.rawValue)
                AND (s.kind, s.subject_id) > (\(start.kind), \(start.id))
                AND (s.kind, s.subject_id) <= (\(last.kind.rawValue), \(last.id)) AND s.since <= \(removed.wipedAt)
            RETURNING s.kind, s.subject_id
            """
        ) { row in
            let subscriber = Subscriber(try row.choice(0), trusted: try row.decode(1))
            return DirectoryChange.subscription(SubscriptionChange(subscriber, removed.tag, over: .tagDeleted))
        }
        try listeners.tell(ended, in: removed.network, self)
        return last
    }

    /// Sweeps some of what a user subscribed to; answers how many rows.
    func sweepSubscriptions(
        of removed: RemovalSweep.RemovedUser,
        telling listeners: FeedbackListeners
    ) throws -> Int {
        let ended = try query(
            """
            DELETE FROM subscriptions s
            USING (SELECT p.tag FROM subscriptions p
                   WHERE p.network_id = \(removed.network.rawValue) AND p.kind = 'user'
                       AND p.subject_id = \(removed.user.rawValue) AND p.user_wipes < \(removed.wipes)
                   ORDER BY p.tag LIMIT \(RemovalSweep.batchSize)) AS part
            WHERE s.network_id = \(removed.network.rawValue) AND s.tag = part.tag AND s.kind = 'user'
                AND s.subject_id = \(removed.user.rawValue) AND s.user_wipes < \(removed.wipes)
            RETURNING s.tag
            """
        ) { row in
            DirectoryChange.subscription(
                SubscriptionChange(.user(removed.user), try row.id(0), over: .userDeleted)
            )
        }
        try listeners.tell(ended, in: removed.network, self)
        return ended.count
    }
}
