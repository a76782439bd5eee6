import CarillonCore
import Postgres

/// Where a replica goes on looking through the table of a queue for what is due.
///
/// A look takes in what has become due since the last one, by the index of times, and the next pages of the table, in turn. On
/// those is what was committed long after its time, or had been due before this replica came. What a look costs does not depend
/// on how many dead rows an old snapshot keeps, see `docs/decisions/0031`.
struct TableWalk: Sendable, Equatable {
    /// How long after its time a row may be committed to be found at once: a transaction that writes to a queue is short.
    private static let margin = Duration.seconds(2)
    /// How many pages are read at once in the first round: of what was due before this replica came it knows nothing.
    static let pagesAtFirst: Int64 = 8_192

    private let pagesAtOnce: Int64
    private var seen: Timestamp?
    private var page: Int64 = 0
    private var isInFirstRound = true
    /// How many looks the next one stands for.
    private var looks: Int64 = 1

    private var lastPage: Int64 { page + (isInFirstRound ? Self.pagesAtFirst : pagesAtOnce * looks) }

    /// A walk that reads so many pages at once behind its first round.
    init(pagesAtOnce: Int64 = 256) {
        self.pagesAtOnce = pagesAtOnce
    }

    /// The rows, called `t`, whose time has come since the last look, and that fulfil a condition; `time` says it as an index does.
    func rowsOfLate(of table: String, dueBy time: SQL, where condition: SQL = "true", _ columns: SQL, limit: Int? = nil)
        -> SQL
    {
        """
        (SELECT \(sql: columns) FROM \(identifier: table) t
         WHERE \(sql: condition) AND \(sql: time) <= now() AND \(sql: time) > \(sql: beginning)
         ORDER BY \(sql: time) LIMIT \(limit))
        """
    }

    /// The moment from which on a look takes in what has become due.
    var beginning: SQL {
        """
        (least(\(seen?.stored)::timestamptz, now()) - \(Self.margin.wholeMilliseconds) * interval '1 millisecond')
        """
    }

    /// The rows of the next pages, whether their time has come or not.
    func rowsOfPages(of table: String) -> SQL {
        let pages = SQL(trusted: "t.ctid >= '(\(page),0)'::tid AND t.ctid < '(\(lastPage),0)'::tid")
        // What is asked of them stands outside, or the planner would look for it in an index.
        return "(SELECT t.ctid, t.* FROM \(identifier: table) t WHERE \(sql: pages) OFFSET 0)"
    }

    /// Whether there is a row in either part of a look that is due and fulfils a condition, for statements that are planned once. `time` says it as
    /// an index does, `column` as no index does.
    func isAny(of table: String, dueBy time: SQL, _ column: SQL, where condition: SQL) -> SQL {
        let (first, last) = ("(\(page),0)", "(\(lastPage),0)")
        return """
            EXISTS (SELECT FROM \(identifier: table) t
                    WHERE \(sql: condition) AND \(sql: time) <= now() AND \(sql: time) > \(sql: beginning))
            OR EXISTS (SELECT FROM (SELECT t.* FROM \(identifier: table) t
                                    WHERE t.ctid >= \(first)::tid AND t.ctid < \(last)::tid OFFSET 0) AS t
                       WHERE \(sql: condition) AND \(sql: column) <= now())
            """
    }

    /// The database's time, and of how many pages a table is.
    static func position(in table: String) -> SQL {
        "now(), \(sql: .bytes(of: table)) / current_setting('block_size')::bigint"
    }

    /// Has the next look go as far as looks at the usual pace would have in a while in which there are none.
    mutating func rest(for length: Duration, insteadOf interval: Duration) {
        looks = max(1, length.wholeMilliseconds / interval.wholeMilliseconds)
    }

    /// Notes that all rows of a look have been taken in, by what ``position(in:)`` was.
    mutating func went(on now: Timestamp, pages: Int64) {
        seen = now
        page = lastPage
        looks = 1
        guard page >= pages else { return }
        page = 0
        isInFirstRound = false
    }
}
