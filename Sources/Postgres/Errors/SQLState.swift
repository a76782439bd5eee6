/// A five-character code by which PostgreSQL names what went wrong.
///
/// Compare with the static members; unknown codes are kept as they came.
/// - SeeAlso: PostgreSQL documentation, appendix A "PostgreSQL Error Codes"
public struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code, for example `23505`.
    public let rawValue: String

    /// Wraps a code as it came from the server.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The first two characters: the class of the error, for example `23` for integrity constraints.
    public var errorClass: String { String(rawValue.prefix(2)) }

    /// The code itself.
    public var description: String { rawValue }

    /// `0A000`: the server does not do this; also raised when a prepared plan's result type has changed.
    public static let featureNotSupported = SQLState(rawValue: "0A000")
    /// `23505`: a second row with the same key.
    public static let uniqueViolation = SQLState(rawValue: "23505")
    /// `23514`: a CHECK constraint says no.
    public static let checkViolation = SQLState(rawValue: "23514")
    /// `28P01`: the password is wrong.
    public static let invalidPassword = SQLState(rawValue: "28P01")
    /// `3D000`: no database of that name.
    public static let invalidCatalogName = SQLState(rawValue: "3D000")
    /// `42501`: the role may not do this.
    public static let insufficientPrivilege = SQLState(rawValue: "42501")
    /// `25001`: not allowed inside a transaction.
    public static let activeSQLTransaction = SQLState(rawValue: "25001")
    /// `25006`: a write on a read-only transaction or a standby.
    public static let readOnlySQLTransaction = SQLState(rawValue: "25006")
    /// `25P01`: there is no transaction to end.
    public static let noActiveSQLTransaction = SQLState(rawValue: "25P01")
    /// `25P02`: an earlier statement of the transaction failed.
    public static let inFailedSQLTransaction = SQLState(rawValue: "25P02")
    /// `26000`: no prepared statement of that name.
    public static let invalidSQLStatementName = SQLState(rawValue: "26000")
    /// `40001`: a serializable or repeatable-read transaction met another one; run it again.
    public static let serializationFailure = SQLState(rawValue: "40001")
    /// `40P01`: chosen as the victim of a deadlock; run it again.
    public static let deadlockDetected = SQLState(rawValue: "40P01")
    /// `42703`: no column of that name.
    public static let undefinedColumn = SQLState(rawValue: "42703")
    /// `42P01`: no table of that name.
    public static let undefinedTable = SQLState(rawValue: "42P01")
    /// `42P04`: the database exists already.
    public static let duplicateDatabase = SQLState(rawValue: "42P04")
    /// `42P07`: the table exists already.
    public static let duplicateTable = SQLState(rawValue: "42P07")
    /// `53100`: there is no room on the disk.
    public static let diskFull = SQLState(rawValue: "53100")
    /// `55P03`: a lock was not granted within the lock timeout.
    public static let lockNotAvailable = SQLState(rawValue: "55P03")
    /// `57014`: cancelled, by a client or by the statement timeout.
    public static let queryCanceled = SQLState(rawValue: "57014")
    /// `57P01`: the server or an administrator ended the session.
    public static let adminShutdown = SQLState(rawValue: "57P01")
    /// `57P02`: another backend crashed and the server restarts.
    public static let crashShutdown = SQLState(rawValue: "57P02")
    /// `57P03`: the server is starting up or shutting down.
    public static let cannotConnectNow = SQLState(rawValue: "57P03")
    /// `XX000`: something that nobody expected.
    public static let internalError = SQLState(rawValue: "XX000")
}
