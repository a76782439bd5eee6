import Postgres

/// Several statements that read as one, which costs one execution instead of as many and a transaction around them.
///
/// Each row says by its first column whose it is, and holds nothing in the columns of the others. The parts come in their order, and
/// the rows of each in the order that it asks for.
struct CombinedStatement {
    typealias Part = (sql: SQL, columns: [String])

    let parts: [Part]

    var sql: SQL {
        var all: SQL = ""
        for (number, part) in parts.enumerated() {
            let names = part.columns.indices.map { "c\($0)" }.joined(separator: ", ")
            let columns = parts.enumerated().flatMap { other, part in
                part.columns.enumerated().map { column, type in other == number ? "c\(column)" : "NULL::\(type)" }
            }
            let head = "SELECT \(number)::integer, \(columns.joined(separator: ", ")) FROM"
            all += number == 0 ? "" : "\nUNION ALL\n"
            all += "\(sql: SQL(trusted: head)) (\(sql: part.sql)) AS part (\(sql: SQL(trusted: names)))"
        }
        return all
    }

    func parts(of answer: StatementResult) -> [AnswerPart] {
        var first = 1
        return parts.enumerated().map { number, part in
            defer { first += part.columns.count }
            return AnswerPart(answer: answer, number: Int32(number), first: first)
        }
    }
}

/// The answer to a statement, which may be a part of what a ``CombinedStatement`` answered.
struct AnswerPart {
    private let answer: StatementResult
    private let number: Int32?
    private let first: Int

    fileprivate init(answer: StatementResult, number: Int32, first: Int) {
        (self.answer, self.number, self.first) = (answer, number, first)
    }

    init(_ answer: StatementResult) {
        (self.answer, number, first) = (answer, nil, 0)
    }

    /// Visits its rows, each with the position of its first column.
    func forEach(_ body: (borrowing Row, _ first: Int) throws -> Void) throws {
        try answer.forEach { row in
            if let number, try row.decode(0, as: Int32.self) != number { return }
            try body(row, first)
        }
    }
}
