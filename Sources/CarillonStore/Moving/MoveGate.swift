import CarillonCore
import Postgres

/// What the row of a network says of its whereabouts (column `away`).
enum MoveGate: String, Sendable {
    case draining
    case out
    case gone
    case arriving = "in"
}

extension MoveFence {
    /// How many rows of a queue become due in one transaction.
    private static let batchSize = 5_000

    /// Has the triggers let through what is let through in another state, once all are through who are at it; `false` where the network is
    /// in none of the states that come before.
    func set(_ gate: MoveGate?, after former: [MoveGate?]) async throws -> Bool {
        let (former, network) = ((former + [gate]).map { $0?.rawValue ?? "" }, network.rawValue)
        return try await asMover { session in
            let isSet =
                try session.execute(
                    """
                    UPDATE networks SET away = \(gate?.rawValue)
                    WHERE network_id = \(network) AND coalesce(away, '') = ANY (\(former))
                    """
                ) > 0
            if isSet {
                try session.countFaceChange()
                if gate == nil { try session.execute("DELETE FROM arrivals WHERE network_id = \(network)") }
            }
            return isSet
        }
    }

    /// Lets everybody into a network, in the place of a fence: what is due becomes due now, in its order, so that it is found at once. What
    /// somebody still holds stays in their hands. Nothing is done where everybody is let in already.
    ///
    /// - Returns: Whether everybody is let in; not where the network is in none of the states that come before.
    func admit(after former: [MoveGate]) async throws -> Bool {
        let gate = try await gate()
        guard let gate, gate.isEmpty || former.contains(where: { $0.rawValue == gate }) else { return false }
        if gate.isEmpty { return true }
        for (queue, key) in [("inbox", "event_id"), ("deliveries", "group_id")] { try await hasten(queue, by: key) }
        return try await set(nil, after: former)
    }

    /// The network's state, empty where it is here and open; `nil` where there is no such network.
    func gate() async throws -> String? {
        try await pool.withConnection { session in try session.moveGate(of: network) }
    }

    private func hasten(_ queue: String, by key: String) async throws {
        let moment = try await pool.withConnection { session in try session.moment() }
        var (rank, count) = (0, Self.batchSize)
        while count == Self.batchSize {
            count = try await asMover(at: .rows(of: queue)) { [rank] session in
                try session.execute(
                    .unprepared(
                        """
                        UPDATE \(identifier: queue) q
                        SET leased = false, lease_token = q.lease_token + 1, run_at = n.run_at
                        FROM (
                            SELECT d.network_id, d.key,
                                \(moment)::timestamptz + (\(rank) + row_number() OVER (ORDER BY d.run_at)) * interval '1 microsecond'
                                    AS run_at
                            FROM (
                                SELECT t.network_id, t.\(identifier: key) AS key, t.run_at FROM \(identifier: queue) t
                                WHERE t.network_id = \(network.rawValue) AND t.run_at <= \(moment)
                                ORDER BY t.run_at LIMIT \(Self.batchSize)
                            ) AS d
                        ) AS n
                        WHERE q.network_id = ANY (ARRAY[n.network_id]) AND q.\(identifier: key) = n.key
                        """
                    )
                )
            }
            rank += count
        }
    }
}

extension PostgresSession {
    /// A network's state, as ``MoveFence/gate()`` answers it; if so told, nobody changes it to the end of the transaction.
    func moveGate(of network: NetworkID, isHeld: Bool = false) throws -> String? {
        try first(
            """
            SELECT coalesce(away, '') FROM networks WHERE network_id = \(network.rawValue) \(sql: isHeld ? "FOR SHARE" : "")
            """,
            as: String.self
        )
    }
}
