import CarillonCore
import Crypto
import Postgres

/// Keeps a network in one placement from all who write in it, but for the mover: triggers on all its tables, made for it alone (migration
/// 0063). What they let through is said by the network's row.
struct MoveFence: Sendable {
    /// For how long a trigger waits for those who write at that moment; who comes behind it waits as well.
    private static let lockWait = Duration.milliseconds(500)
    private static let attempts = 60
    private static let pause = Duration.milliseconds(200)

    let network: NetworkID
    let pool: PostgresPool

    private var name: String {
        let digest = SHA256.hash(data: Array(network.rawValue.utf8))
        return "moving_" + digest.prefix(12).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// A literal: statements that define something take no parameters.
    private var literal: String {
        "'" + network.rawValue.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }

    /// Makes the triggers that are missing, each as soon as nobody writes in its table who began without it.
    func raise() async throws {
        let tables = try await pool.withConnection { session in try session.movedTables().filter(\.isFenced) }
        let fenced = try await fencedTables()
        for table in tables where !fenced.contains(table.name) {
            let table = SQL(trusted: "\"\(table.name)\"")
            try await define { session in
                for (kind, row) in [("INSERT", "NEW"), ("UPDATE OR DELETE", "OLD")] {
                    let definition = """
                        CREATE TRIGGER \(name)_\(row.lowercased()) BEFORE \(kind) ON \(table.text) FOR EACH ROW
                        WHEN (\(row).network_id = \(literal)) EXECUTE FUNCTION keep_moving_network(\(literal))
                        """
                    try session.execute(.unprepared(SQL(trusted: definition)))
                }
            }
        }
    }

    /// Removes the triggers.
    func lower() async throws {
        for table in try await fencedTables() {
            try await define { session in
                for row in ["new", "old"] {
                    try session.execute(
                        .unprepared("DROP TRIGGER IF EXISTS \(identifier: "\(name)_\(row)") ON \(identifier: table)")
                    )
                }
            }
        }
    }

    private func fencedTables() async throws -> [String] {
        try await pool.withConnection { session in
            try session.query(
                """
                SELECT DISTINCT c.relname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition
                    AND t.tgname IN (\(name + "_new"), \(name + "_old"))
                """
            ) { row in try row.decode(0, as: String.self) }
        }
    }

    /// Does something that has to wait for all who write in a table, a moment at a time.
    private func define(_ body: @Sendable (borrowing PostgresSession) throws -> Void) async throws {
        for attempt in 1...Self.attempts {
            do {
                return try await pool.withTransaction(TransactionOptions(lockTimeout: Self.lockWait)) { try body($0) }
            } catch let error as PostgresError where error.isContention && attempt < Self.attempts {
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}

/// What the row of a network says of its whereabouts (column `away`).
enum MoveGate: String, Sendable {
    case draining
    case out
    case gone
    case arriving = "in"
}

extension MoveFence {
    /// Runs a transaction that the triggers let through.
    func asMover<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        try await pool.withTransaction(TransactionOptions(retries: 5, lockTimeout: Self.lockWait)) { session in
            try session.passMoveFence()
            return try body(session)
        }
    }

    /// Has the triggers let through what is let through in another state, once all are through who are at it; `false` where the network is
    /// in none of the states that come before.
    func set(_ gate: MoveGate?, after former: [MoveGate?]) async throws -> Bool {
        for attempt in 1... {
            do {
                return try await asMover { session in
                    let isSet = try session.set(gate, after: former, for: network)
                    if isSet { try session.countFaceChange() }
                    return isSet
                }
            } catch let error as PostgresError where error.isContention && attempt < Self.attempts {
                try await Task.sleep(for: Self.pause)
            }
        }
        return false
    }
}

extension PostgresSession {
    fileprivate func set(_ gate: MoveGate?, after former: [MoveGate?], for network: NetworkID) throws -> Bool {
        try execute(
            """
            UPDATE networks SET away = \(gate?.rawValue)
            WHERE network_id = \(network.rawValue)
                AND coalesce(away, '') = ANY (\((former + [gate]).map { $0?.rawValue ?? "" }))
            """
        ) > 0
    }

    /// Lets everybody into a network, in the place of a fence: what is due becomes due now, in its order, so that it is found at once, and what
    /// was held is held no more. Nothing is done where everybody is let in already.
    func admit(_ network: NetworkID, after former: [MoveGate]) throws {
        let gate = try queryFirst(
            "SELECT coalesce(away, '') FROM networks WHERE network_id = \(network.rawValue) FOR UPDATE"
        ) { row in try row.decode(0, as: String.self) }
        guard let gate = gate.flatMap(MoveGate.init), former.contains(gate) else { return }
        for (queue, key) in [("inbox", "event_id"), ("deliveries", "group_id")] {
            try execute(
                .unprepared(
                    """
                    UPDATE \(identifier: queue) q
                    SET leased = false, lease_token = q.lease_token + 1, run_at = n.run_at
                    FROM (
                        SELECT t.\(identifier: key) AS key,
                            now() + row_number() OVER (ORDER BY t.run_at) * interval '1 microsecond' AS run_at
                        FROM \(identifier: queue) t
                        WHERE t.network_id = \(network.rawValue) AND (t.leased OR t.run_at <= now())
                    ) AS n
                    WHERE q.network_id = \(network.rawValue) AND q.\(identifier: key) = n.key
                    """
                )
            )
        }
        _ = try set(nil, after: former, for: network)
        try countFaceChange()
    }
}
