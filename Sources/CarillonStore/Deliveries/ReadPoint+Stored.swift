import CarillonCore
import Postgres

extension ReadPoint {
    /// Where the transaction that runs stands: its snapshot, in all statements of a repeatable read the same, and the time.
    ///
    /// The notation is what PostgreSQL calls a `pg_snapshot`.
    static func current(_ session: borrowing PostgresSession) throws -> ReadPoint {
        let point = try session.queryFirst("SELECT pg_current_snapshot()::text, now()") { row in
            ReadPoint(try row.decode(0), moment: try row.timestamp(1))
        }
        guard let point else { throw StoreError.unreadable("snapshot") }
        return point
    }

    /// So long ago that everything may have changed since.
    static let longAgo = ReadPoint("1:1:", moment: Timestamp(milliseconds: 0))

    /// Whether it is in the notation of this store.
    var isSnapshot: Bool {
        rawValue.utf8.count { $0 == UInt8(ascii: ":") } == 2
            && rawValue.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: ":")).contains($0) || $0 == UInt8(ascii: ",")
            }
    }
}
