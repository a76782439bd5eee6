/// What went wrong between this process and PostgreSQL.
///
/// `description` holds no values of statements or rows and may be logged anywhere. `debugDescription` holds all that the
/// server said, including the values it quotes, and belongs in a developer's terminal only.
public struct PostgresError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The kinds of failure a caller can tell apart.
    public enum Kind: Hashable, Sendable {
        /// The server refused the statement and says why.
        case server(SQLState)
        case connectionFailed
        /// The connection broke, or the server did not answer in time; ``PostgresError/isOutcomeUnknown`` tells whether
        /// something may have been written all the same.
        case connectionLost
        /// No connection became free within the acquire timeout.
        case timedOut
        /// The caller's deadline has passed; nothing of the unfinished statement or transaction took effect.
        case deadlineExceeded
        /// Too many callers are waiting for a connection already.
        case poolExhausted
        case shuttingDown
        /// The caller's task was cancelled; nothing of the unfinished statement or transaction took effect.
        case cancelled
        /// A field does not hold what the caller asked for.
        case decoding
        /// A parameter cannot be sent; nothing was.
        case encoding
        /// The connection string cannot be used.
        case invalidConfiguration
    }

    private var storage: Storage
    private var contents: Contents { storage.contents }

    /// What went wrong.
    public var kind: Kind { contents.kind }

    /// Whether what was to be written may have taken effect all the same: the answer to COMMIT was lost, or that to a
    /// statement outside of a transaction. After every other error nothing has.
    public var isOutcomeUnknown: Bool { contents.isOutcomeUnknown }

    /// The server's code, when the server answered at all.
    public var sqlState: SQLState? {
        if case .server(let state) = kind { return state }
        return contents.server?.sqlState
    }

    /// The constraint that said no, when one did.
    public var constraint: String? { contents.server?.constraint }

    /// The table the server names in its answer, when it names one.
    public var table: String? { contents.server?.table }

    /// Makes an error that carries no answer of a server; `reason`, a sentence without values of statements or rows, becomes
    /// part of `description`.
    public init(_ kind: Kind, reason: String = "") {
        storage = Storage(Contents(kind: kind, reason: reason))
    }

    init(server: ServerReport) {
        storage = Storage(Contents(kind: .server(server.sqlState), server: server))
    }

    /// The client's own words, which quote nothing; empty for what the server has said.
    public var reason: String { contents.reason }

    func reclassified(as kind: Kind) -> PostgresError { changed { $0.kind = kind } }

    private func changed(_ change: (inout Contents) -> Void) -> PostgresError {
        var (error, contents) = (self, contents)
        change(&contents)
        error.storage = Storage(contents)
        return error
    }

    /// Whether the connection is gone with it.
    var endsSession: Bool { kind == .connectionLost || contents.server?.isFatal == true }

    /// The same report of something that was sent to be written: when no answer came, or the server ended the session with
    /// it, nobody knows what became of that.
    var ofWrite: PostgresError {
        endsSession ? withUnknownOutcome : self
    }

    /// The same of a server that had handed on what was to be written, and says that it has lost the other one: nobody knows either.
    var ofWriteElsewhere: PostgresError {
        guard let sqlState, sqlState.errorClass == "08" || sqlState == .internalError else { return ofWrite }
        return withUnknownOutcome
    }

    private var withUnknownOutcome: PostgresError { changed { $0.isOutcomeUnknown = true } }
}

extension PostgresError {
    /// Whether running the same transaction again can succeed: it met another one and was undone, or the server had forgotten
    /// what it was prepared as.
    public var isRetriable: Bool {
        switch kind {
        case .server(.serializationFailure), .server(.deadlockDetected), .server(.invalidSQLStatementName): true
        default: false
        }
    }

    /// Whether PostgreSQL is away or overloaded, so that the same work can succeed later, unchanged.
    public var isConnectivity: Bool {
        switch kind {
        case .connectionFailed, .connectionLost, .timedOut, .deadlineExceeded, .poolExhausted:
            true
        case .server(let state):
            endsSession || Self.connectivityStates.contains(state) || ["08", "53"].contains(state.errorClass)
        case .shuttingDown, .cancelled, .decoding, .encoding, .invalidConfiguration:
            false
        }
    }

    /// Why a server would let nobody in, however often it is asked; `nil` of everything else. libpq has words and no code for that.
    public var refusal: Refusal? {
        guard kind == .connectionFailed else { return nil }
        return Refusal.allCases.first { refusal in refusal.words.contains { $0.allSatisfy(contents.reason.contains) } }
    }

    /// What a server says to whoever it does not let in, in the words that it has where messages are in English.
    public enum Refusal: Sendable, CaseIterable {
        case wrongPassword
        case noRole
        case noDatabase
        /// A pooler does not take settings that come with a connection.
        case noSettings

        /// Words that stand together in what it says, in one way or another.
        fileprivate var words: [[String]] {
            switch self {
            case .wrongPassword: [["password authentication failed"]]
            case .noRole: [[": FATAL:  role \"", "\" does not exist"]]
            case .noDatabase: [[": FATAL:  database \"", "\" does not exist"]]
            // PgBouncer and Amazon's proxy.
            case .noSettings: [["unsupported startup parameter", "options"], ["support command-line options"]]
            }
        }
    }

    /// The same failure to open a transaction that writes, under one name: a standby says of it that it has no such feature.
    var ofOpening: PostgresError {
        kind == .server(.featureNotSupported) ? reclassified(as: .server(.readOnlySQLTransaction)) : self
    }

    static let readOnlyReason = "the server is a standby, or default_transaction_read_only is on"

    private static let connectivityStates: Set<SQLState> = [
        .adminShutdown, .crashShutdown, .cannotConnectNow, .lockNotAvailable, .queryCanceled,
        .readOnlySQLTransaction,
    ]
}

extension PostgresError {
    /// What went wrong, without any value of a statement or row.
    public var description: String {
        var text = "PostgreSQL: \(kind.phrase)"
        if let constraint { text += ", constraint \(constraint)" }
        if let table { text += ", table \(table)" }
        if let trouble = contents.server?.trouble { text += ": \(trouble)" }
        if isOutcomeUnknown { text += ", and what was written may have taken effect" }
        if !contents.reason.isEmpty { text += ": \(contents.reason)" }
        return text
    }

    /// All that is known, including what the server quoted.
    public var debugDescription: String {
        guard let server = contents.server else { return description }
        return "\(description); \(server.details)"
    }
}

extension PostgresError.Kind {
    fileprivate var phrase: String {
        switch self {
        case .server(.readOnlySQLTransaction): "no writes are accepted (25006): \(PostgresError.readOnlyReason)"
        case .server(let state): "the server answered \(state)"
        case .connectionFailed: "no connection could be opened"
        case .connectionLost: "the connection was lost"
        case .timedOut: "no connection became free in time"
        case .deadlineExceeded: "the caller's deadline has passed"
        case .poolExhausted: "too many callers wait for a connection"
        case .shuttingDown: "the pool is shutting down"
        case .cancelled: "cancelled by the caller"
        case .decoding: "a field cannot be decoded"
        case .encoding: "a parameter cannot be encoded"
        case .invalidConfiguration: "the configuration cannot be used"
        }
    }
}

extension PostgresError {
    /// The fields of the server's answer, as far as it sent them.
    struct ServerReport: Sendable {
        var sqlState: SQLState
        var message: String?
        var detail: String?
        var hint: String?
        var context: String?
        var position: String?
        var schema: String?
        var table: String?
        var column: String?
        var constraint: String?
        /// Whether the server ended the session with it.
        var isFatal = false

        /// What it says where it speaks of itself, its files and its libraries, and of no statement's values: what it has no room
        /// for, system errors and internal ones.
        var trouble: String? { ["53", "58", "XX"].contains(sqlState.errorClass) ? message : nil }

        var details: String {
            let fields: [(String, String?)] = [
                ("message", message), ("detail", detail), ("hint", hint), ("context", context),
                ("position", position), ("schema", schema), ("column", column),
            ]
            return fields.compactMap { name, value in value.map { "\(name): \($0)" } }.joined(separator: "; ")
        }
    }

    // Shared by reference: an error that is one word wide costs nothing where none is thrown.
    private final class Storage: Sendable {
        let contents: Contents

        init(_ contents: Contents) { self.contents = contents }
    }

    private struct Contents {
        var kind: Kind
        var reason = ""
        var server: ServerReport?
        var isOutcomeUnknown = false
    }
}
