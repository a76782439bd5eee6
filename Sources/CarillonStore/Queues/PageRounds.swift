import CarillonCore
import Postgres
import Synchronization

/// Rounds through the table of a queue, some pages at each visit, for what nobody waits for: what a visit costs does not depend on
/// how many dead rows an old snapshot keeps.
final class PageRounds: Sendable {
    private let table: String
    private let walk: Mutex<TableWalk>

    init(through table: String, pagesAtOnce: Int64 = TableWalk.pagesAtFirst) {
        self.table = table
        walk = Mutex(TableWalk(pagesAtOnce: pagesAtOnce))
    }

    /// Asks something of the rows of the next pages.
    func next<Value: Sendable>(
        in pool: PostgresPool,
        _ statement: @Sendable (_ rows: SQL) -> SQL,
        _ decode: @Sendable (borrowing Row) throws -> Value
    ) async throws -> [Value] {
        var walk = walk.withLock(\.self)
        let rows = walk.rowsOfPages(of: table)
        let (values, position) = try await pool.withConnection { session in
            let position = try session.queryFirst("SELECT \(sql: TableWalk.position(in: table))") { row in
                (now: try row.timestamp(0), pages: try row.decode(1, as: Int64.self))
            }
            return (try session.queryQueue(statement(rows), decode), position)
        }
        if let position {
            walk.went(on: position.now, pages: position.pages)
            self.walk.withLock { [walk] in $0 = walk }
        }
        return values
    }
}
