import CarillonCore
import Postgres

/// What a transaction reads first, beside its other first statements: its moment by the database's clock, the same for all that it writes, and a
/// mark.
///
/// Both are parameters of what is written: statements that change rows hold no function whose answer depends on where or when it is asked, see
/// `docs/decisions/0036`.
struct TransactionStart: Sendable {
    /// The transaction's time, as PostgreSQL's `now()` says it.
    let moment: PostgresTimestamp
    /// The first of the marks that are its own, one for each place.
    let block: Int64

    static let statement: SQL = "SELECT now(), nextval('marks')"

    init(_ answer: StatementResult) throws {
        let rows = try answer.map { row in (try row.decode(0, as: PostgresTimestamp.self), try row.decode(1, as: Int64.self)) }
        guard let row = rows.first else { throw StoreError.unreadable("moment") }
        (moment, block) = row
    }

    /// Its only mark, where it needs no more.
    var mark: EventMark { mark(of: 0) }

    /// The mark of a place.
    func mark(of place: Int) -> EventMark { EventMark(block: block, place: place) }
}

extension PostgresSession {
    /// Runs statements in one round trip, after what reads the transaction's start.
    func start(with statements: [SQL] = []) throws -> (start: TransactionStart, answers: ArraySlice<StatementResult>) {
        let answers = try pipeline([TransactionStart.statement] + statements)
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
    static let ofNetworks: SQL = "CROSS JOIN LATERAL (SELECT FROM networks w WHERE w.network_id = n.network_id LIMIT 1) AS w"
}
