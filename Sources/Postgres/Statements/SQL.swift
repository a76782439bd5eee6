/// The text of a statement with its parameters bound to it.
///
/// A literal becomes text and every interpolated value a parameter, so that a value can never be read as SQL:
///
/// ```swift
/// try session.execute("DELETE FROM devices WHERE id = \(id)")        // … WHERE id = $1
/// ```
///
/// A `String` does not convert to `SQL`; concatenation with one does not compile.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    // One more than there are parameters: the parameters stand between them. Numbering is left to `text`, so that
    // composing statements renumbers by itself.
    private var fragments: [String]
    private(set) var parameters = ParameterList()
    private(set) var isPrepared = true

    /// Makes a statement from a literal.
    public init(stringLiteral value: String) {
        fragments = [value]
    }

    /// Makes a statement from a literal with bound values.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    /// Takes text as it is, for migration files and generated definitions. Nothing that came from outside may be part of it.
    public init(trusted: String) {
        fragments = [trusted]
    }

    /// The statement as it is sent, with `$1`, `$2`, … for its parameters.
    public var text: String {
        guard fragments.count > 1 else { return fragments[0] }
        var text = fragments[0]
        for (index, fragment) in fragments.enumerated().dropFirst() {
            text += "$\(index)"
            text += fragment
        }
        return text
    }

    /// Whether it only reads, as far as its first word says.
    var isSelect: Bool {
        fragments[0].utf8.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.starts(with: "SELECT ".utf8)
    }

    /// The same statement, planned at each execution with its values in sight instead of prepared once.
    ///
    /// For rare statements whose best plan depends on the values.
    public static func unprepared(_ sql: SQL) -> SQL {
        var sql = sql
        sql.isPrepared = false
        return sql
    }

    /// Joins two statements; the parameters of the second are numbered on.
    public static func + (lhs: SQL, rhs: SQL) -> SQL {
        var sql = lhs
        sql.append(rhs)
        return sql
    }

    /// Appends another statement; its parameters are numbered on.
    public static func += (lhs: inout SQL, rhs: SQL) {
        lhs.append(rhs)
    }

    private mutating func append(_ other: SQL) {
        append(text: other.fragments[0])
        fragments.append(contentsOf: other.fragments.dropFirst())
        parameters.append(other.parameters)
        isPrepared = isPrepared && other.isPrepared
    }

    private mutating func append(text: String) {
        fragments[fragments.count - 1] += text
    }

    private mutating func append(_ value: some PostgresEncodable) {
        parameters.append(value)
        fragments.append("")
    }

    /// Collects the pieces of an interpolated literal.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var sql = SQL(trusted: "")

        /// Starts an empty statement.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.fragments.reserveCapacity(interpolationCount + 1)
        }

        /// Appends text of the literal.
        public mutating func appendLiteral(_ literal: String) {
            sql.append(text: literal)
        }

        /// Binds a value as the next parameter.
        public mutating func appendInterpolation(_ value: some PostgresEncodable) {
            sql.append(value)
        }

        /// Binds a value, or NULL, as the next parameter.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            sql.append(value)
        }

        /// Inserts the name of a table, column or other object, quoted.
        public mutating func appendInterpolation(identifier: String) {
            sql.append(text: SQL.quoted(identifier: identifier))
        }

        /// Inserts another statement with its parameters.
        public mutating func appendInterpolation(sql fragment: SQL) {
            sql.append(fragment)
        }
    }

    // A C string ends at U+0000, so a name is cut there rather than left with an open quote.
    static func quoted(identifier: String) -> String {
        let escaped = identifier.prefix { $0 != "\0" }.split(separator: "\"", omittingEmptySubsequences: false)
        return "\"\(escaped.joined(separator: "\"\""))\""
    }
}
