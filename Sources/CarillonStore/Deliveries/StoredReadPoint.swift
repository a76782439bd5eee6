import CarillonCore
import Postgres

/// A read point as this store writes it: the transaction snapshot, `@`, and when it was taken, in milliseconds since 1970.
struct StoredReadPoint {
    /// What PostgreSQL calls a `pg_snapshot`.
    let snapshot: String
    /// When it was taken by the database's clock.
    let moment: Timestamp

    /// The snapshot of the transaction that runs; the same in all statements of a repeatable read.
    static func current(_ session: borrowing PostgresSession) throws -> ReadPoint {
        let text = try session.queryFirst(
            """
            SELECT pg_current_snapshot()::text || '@' || floor(extract(epoch FROM now()) * 1000)::bigint::text
            """
        ) { row in try row.decode(0, as: String.self) }
        return ReadPoint(text ?? "")
    }

    /// Reads a point; one that is not in this notation is so old that everything may have changed since.
    init(_ point: ReadPoint) {
        let parts = point.rawValue.split(separator: "@")
        guard parts.count == 2, let milliseconds = Int64(parts[1]) else {
            snapshot = "1:1:"
            moment = Timestamp(milliseconds: 0)
            return
        }
        snapshot = String(parts[0])
        moment = Timestamp(milliseconds: milliseconds)
    }
}
