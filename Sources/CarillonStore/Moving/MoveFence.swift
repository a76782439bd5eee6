import CarillonCore
import Crypto
import Postgres

/// Keeps a network in one placement from all who write in it, but for the mover: triggers on all its tables, made for it alone (migration
/// 0063). What they let through is said by the network's row.
struct MoveFence: Sendable {
    /// For how long somebody who changes a table, or the network's row, waits for those who are at it; who comes behind waits as well.
    private static let lockWait = Duration.milliseconds(100)
    private static let pause = Duration.milliseconds(300)
    /// Some minutes: PostgreSQL's own housekeeping may be at a table for as long, and gives way to nobody who waits so briefly.
    private static let attempts = 600

    let network: NetworkID
    let pool: PostgresPool

    private var name: String {
        let digest = SHA256.hash(data: Array(network.rawValue.utf8))
        return "moving_" + digest.prefix(12).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// A literal: statements that define something take no parameters.
    private var literal: String {
        "'" + network.rawValue.replacing("'", with: "''") + "'"
    }

    /// Makes the triggers that are missing, each as soon as nobody writes in its table who began without it.
    ///
    /// - Parameter hold: Called again and again meanwhile.
    /// - Throws: What `hold` throws, and why a trigger cannot be made.
    func raise(holding hold: () async throws -> Void) async throws {
        let tables = try await pool.withConnection { session in try session.movedTables().filter(\.isFenced) }
        let fenced = try await fencedTables()
        for table in tables where !fenced.contains(table.name) {
            let table: SQL = "\(identifier: table.name)"
            try await hold()
            try await patiently(holding: hold) {
                try await pool.withTransaction(TransactionOptions(lockTimeout: Self.lockWait)) { session in
                    for (kind, row) in [("INSERT", "NEW"), ("UPDATE OR DELETE", "OLD")] {
                        let definition = """
                            CREATE OR REPLACE TRIGGER \(name)_\(row.lowercased()) BEFORE \(kind) ON \(table.text)
                            FOR EACH ROW WHEN (\(row).network_id = \(literal)) EXECUTE FUNCTION keep_moving_network(\(literal))
                            """
                        try session.execute(.unprepared(SQL(trusted: definition)))
                    }
                }
            }
        }
    }

    /// Removes the triggers.
    func lower(holding hold: () async throws -> Void = {}) async throws {
        for table in try await fencedTables() {
            try await patiently(holding: hold) {
                try await pool.withTransaction(TransactionOptions(lockTimeout: Self.lockWait)) { session in
                    for row in ["new", "old"] {
                        try session.execute(
                            .unprepared(
                                "DROP TRIGGER IF EXISTS \(identifier: "\(name)_\(row)") ON \(identifier: table)"
                            )
                        )
                    }
                }
            }
        }
    }

    private func fencedTables() async throws -> [String] {
        try await pool.withConnection { session in
            try session.query(
                """
                SELECT c.relname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition
                    AND t.tgname IN (\(name + "_new"), \(name + "_old"))
                GROUP BY c.relname HAVING count(*) = 2
                """
            ) { row in try row.decode(0, as: String.self) }
        }
    }

    /// Runs a transaction that the triggers let through.
    func asMover<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        try await patiently(attempts: 20) {
            try await pool.withTransaction(TransactionOptions(retries: 5, lockTimeout: Self.lockWait)) { session in
                try session.passMoveFence()
                return try body(session)
            }
        }
    }

    /// Does something that has to wait for others, a moment at a time.
    private func patiently<Value: Sendable>(
        attempts: Int = MoveFence.attempts,
        holding hold: () async throws -> Void = {},
        _ body: () async throws -> Value
    ) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch let error as PostgresError where error.isContention && attempt < attempts {
                attempt += 1
                try await Task.sleep(for: Self.pause)
                try await hold()
            }
        }
    }
}
