import CarillonCore
import Postgres

/// Whether there is anything for a look at a queue to find. Mostly there is not, and this is all that is asked.
///
/// A look is planned anew each time, since what it reads depends on how full the queue is; this is planned once for each connection, which leaves
/// no choice: each part of it is a piece of one index, or pages by their numbers.
struct DueGlance: Sendable {
    /// The database's time, and of how many pages the table is: see ``TableWalk/went(on:pages:)``.
    let now: Timestamp
    let pages: Int64
    /// Whether a look would find something.
    let isAny: Bool
    /// How long it is until the first of the others becomes due.
    let next: Duration?

    /// Asks for what a look takes in that goes on with `walk`, and for what becomes due within `limit` after it.
    static func cast(
        at table: String,
        where condition: SQL,
        _ walk: TableWalk,
        within limit: Duration,
        in pool: PostgresPool
    ) async throws -> DueGlance {
        let next: SQL = """
            (SELECT (extract(epoch FROM t.run_at - clock_timestamp()) * 1000)::bigint FROM \(identifier: table) t
             WHERE \(sql: condition) AND greatest(t.run_at) > now()
                 AND greatest(t.run_at) <= now() + \(limit.wholeMilliseconds) * interval '1 millisecond'
             ORDER BY greatest(t.run_at) LIMIT 1)
            """
        let answer = try await pool.queryFirst(
            """
            SELECT \(sql: TableWalk.position(in: table)), \(sql: next),
                \(sql: walk.isAny(of: table, dueBy: "greatest(t.run_at)", "t.run_at", where: condition))
            """
        ) { row in
            DueGlance(
                now: try row.timestamp(0),
                pages: try row.decode(1),
                isAny: try row.decode(3),
                // So that its time has come by then.
                next: try row.decode(2, as: Int64?.self).map { .milliseconds(max(0, $0) + 2) }
            )
        }
        guard let answer else { throw StoreError.unreadable("moment") }
        return answer
    }
}
