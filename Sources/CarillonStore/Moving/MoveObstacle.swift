import CarillonCore
import Postgres

/// Somebody holds what a move needs, for longer than that is waited for.
struct MoveObstacle: TransientError, CustomStringConvertible {
    /// What is held.
    enum Subject: Equatable {
        case table(String)
        case rows(of: String)
        /// The row of the network.
        case network

        fileprivate var table: String {
            switch self {
            case .table(let table), .rows(let table): table
            case .network: "networks"
            }
        }

        fileprivate var words: String {
            switch self {
            case .table(let table): "table \(table)"
            case .rows(let table): "rows of the network in table \(table)"
            case .network: "the network's row in table networks"
            }
        }
    }

    /// Somebody who works with the table, and may be in the way.
    struct Holder: Equatable {
        var process: Int32
        /// What it calls itself, or what it is where it is one of PostgreSQL's own; empty where that may not be known.
        var name: String
        /// For how many seconds its transaction has lasted; `nil` where that may not be known.
        var seconds: Int64?

        fileprivate var words: String {
            let name = name.isEmpty ? "" : " (\(name))"
            return "process \(process)\(name)" + (seconds.map { " for \($0) s" } ?? "")
        }
    }

    let subject: Subject
    let holders: [Holder]

    var isTransient: Bool { true }

    /// Looks who is in the way: who has worked with the table for longest.
    init(_ subject: Subject, in pool: PostgresPool) async {
        let holders = try? await pool.query(
            """
            SELECT a.pid, coalesce(nullif(a.application_name, ''), a.backend_type, ''),
                extract(epoch FROM clock_timestamp() - a.xact_start)::bigint
            FROM pg_stat_activity a
            WHERE a.pid <> pg_backend_pid() AND a.pid IN (
                SELECT l.pid FROM pg_locks l
                WHERE l.granted AND l.locktype = 'relation'
                    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                    AND (l.relation = to_regclass(\(subject.table))
                         OR l.relation IN (SELECT i.inhrelid FROM pg_inherits i
                                           WHERE i.inhparent = to_regclass(\(subject.table)))))
            ORDER BY a.xact_start NULLS LAST LIMIT 3
            """
        ) { row in Holder(process: try row.decode(0), name: try row.decode(1), seconds: try row.decode(2)) }
        self.subject = subject
        self.holders = holders ?? []
    }

    var description: String {
        guard let first = holders.first else {
            return "\(subject.words): others hold a lock there; move the network again when they have ended"
        }
        let list = holders.map(\.words).joined(separator: ", ")
        return """
            \(subject.words): others hold a lock there; at work with the table: \(list); wait for them, or end them as by \
            SELECT pg_terminate_backend(\(first.process)), and move the network again
            """
    }
}
