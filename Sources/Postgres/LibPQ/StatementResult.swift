import CLibPQ

/// What a statement answered: the one owner of a `PGresult`.
public final class StatementResult {
    private let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { PQclear(pointer) }

    var status: ExecStatusType { PQresultStatus(pointer) }

    /// How many rows the statement inserted, updated, deleted or selected.
    public var affectedRows: Int {
        PQcmdTuples(pointer).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// What the server says it did, for example `COMMIT`.
    var commandTag: String {
        PQcmdStatus(pointer).map { String(cString: $0) } ?? ""
    }

    var rowCount: Int { Int(PQntuples(pointer)) }

    /// Visits the rows, in their order, without collecting anything.
    ///
    /// - Throws: What `body` throws, which ends the visit.
    public func forEach(_ body: (borrowing Row) throws -> Void) throws {
        for index in 0..<PQntuples(pointer) {
            try body(Row(result: pointer, index: index))
        }
    }

    func first<Value>(_ transform: (borrowing Row) throws -> Value) throws -> Value? {
        guard rowCount > 0 else { return nil }
        return try transform(Row(result: pointer, index: 0))
    }

    /// Decodes all rows, in their order.
    public func map<Value>(_ decode: (borrowing Row) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(rowCount)
        try forEach { row in values.append(try decode(row)) }
        return values
    }

    var failure: PostgresError? {
        switch PQresultStatus(pointer) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY:
            return nil
        default:
            // Without a code it is libpq itself that speaks: the connection broke before an answer came.
            guard let sqlState = field("C") else {
                let message = PQresultErrorMessage(pointer).map { String(cString: $0) } ?? ""
                return PostgresError(
                    .connectionLost,
                    reason: message.split(whereSeparator: \.isNewline).joined(separator: "; ")
                )
            }
            return PostgresError(
                server: PostgresError.ServerReport(
                    sqlState: SQLState(rawValue: sqlState),
                    message: field("M"),
                    detail: field("D"),
                    hint: field("H"),
                    context: field("W"),
                    position: field("P"),
                    schema: field("s"),
                    table: field("t"),
                    column: field("c"),
                    constraint: field("n"),
                    isFatal: field("V") != "ERROR"
                )
            )
        }
    }

    // The PG_DIAG_… macros are character literals, which Swift does not import.
    private func field(_ code: Unicode.Scalar) -> String? {
        PQresultErrorField(pointer, Int32(code.value)).map { String(cString: $0) }
    }
}
