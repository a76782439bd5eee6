/// What a statement of a pipeline answered.
public struct StatementResult {
    private let result: QueryResult

    init(_ result: QueryResult) {
        self.result = result
    }

    /// How many rows the statement inserted, updated, deleted or selected.
    public var affectedRows: Int { result.affectedRows }

    /// Visits the rows without collecting anything.
    ///
    /// - Parameter body: Called with each row, in order.
    /// - Throws: What `body` throws, which ends the visit.
    public func forEach(_ body: (borrowing Row) throws -> Void) throws {
        try result.forEach(body)
    }

    /// Decodes all rows.
    ///
    /// - Parameter decode: Turns one row into a value.
    /// - Returns: The values, in the order of the rows.
    /// - Throws: What `decode` throws.
    public func map<Value>(_ decode: (borrowing Row) throws -> Value) throws -> [Value] {
        try result.map(decode)
    }
}
