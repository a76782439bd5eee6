import CarillonCore
import Postgres

/// What a transaction reads before it writes, in the round trip of its first statements: its time by the database's clock, and a number
/// that no other has.
///
/// Both become parameters of what is written: statements that change rows hold no function whose answer depends on where or when it is
/// asked, see `docs/decisions/0036`.
struct TransactionStart: Sendable {
    enum Sequence: String {
        case marks
        case endpointRevisions = "endpoint_revisions"
    }

    /// The transaction's time, as PostgreSQL's `now()` says it.
    let moment: PostgresTimestamp
    /// The number; of `marks` the first of a block.
    let number: Int64

    static func statement(numberedBy sequence: Sequence = .marks) -> SQL {
        "SELECT now(), nextval('\(sql: SQL(trusted: sequence.rawValue))')"
    }

    init(_ answer: StatementResult) throws {
        let rows = try answer.map { row in
            (try row.decode(0, as: PostgresTimestamp.self), try row.decode(1, as: Int64.self))
        }
        guard let row = rows.first else { throw StoreError.unreadable("moment") }
        (moment, number) = row
    }

    /// Its mark, where it needs no more than one.
    var mark: EventMark { mark(of: 0) }

    func mark(of position: Int) -> EventMark { EventMark(block: number, position: position) }
}

extension PostgresSession {
    /// The transaction's time, as PostgreSQL's `now()` says it.
    func moment() throws -> PostgresTimestamp {
        guard let moment = try first("SELECT now()", as: PostgresTimestamp.self) else {
            throw StoreError.unreadable("moment")
        }
        return moment
    }

    /// The same, cut to milliseconds.
    func now() throws -> Timestamp { Timestamp(stored: try moment()) }

    /// Runs statements in one round trip, after what reads the transaction's start.
    func start(
        numberedBy sequence: TransactionStart.Sequence = .marks,
        with statements: [SQL] = []
    ) throws -> (start: TransactionStart, answers: ArraySlice<StatementResult>) {
        let answers = try pipeline([TransactionStart.statement(numberedBy: sequence)] + statements)
        return (try TransactionStart(answers[0]), answers.dropFirst())
    }
}

extension SQL {
    /// A moment and a microsecond. PostgreSQL takes `timestamptz + interval` for a sum that depends on the session's time zone.
    static func justAfter(_ moment: SQL) -> SQL {
        "((\(sql: moment) AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC')"
    }

    /// Leaves out rows `n` whose network there is not. A statement that inserts what it is handed reads a table by this, which lets it run
    /// where that table is.
    static let ofNetworks: SQL = """
        CROSS JOIN LATERAL (SELECT FROM networks w WHERE w.network_id = n.network_id LIMIT 1) AS w
        """
}
