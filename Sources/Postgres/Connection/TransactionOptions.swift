/// How a transaction is opened, and what happens when it meets another one.
public struct TransactionOptions: Sendable {
    /// What a transaction sees of others that run beside it.
    public enum Isolation: String, Sendable, CaseIterable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        /// As if the transactions had run one after the other; expect ``SQLState/serializationFailure``.
        case serializable = "SERIALIZABLE"
    }

    /// What the transaction sees of others.
    public var isolation: Isolation
    /// Whether the server refuses writes.
    public var readOnly: Bool
    /// How many more times the transaction is run after a serialization failure or a deadlock. Its closure then runs
    /// again from the start, so it may have no effects outside the database.
    public var retries: Int
    /// The limit of a single statement here, instead of the configuration's; zero means none.
    public var statementTimeout: Duration?
    /// The limit of waiting for a lock here, instead of the configuration's; zero means none.
    public var lockTimeout: Duration?

    /// Describes a transaction.
    public init(
        isolation: Isolation = .readCommitted,
        readOnly: Bool = false,
        retries: Int = 0,
        statementTimeout: Duration? = nil,
        lockTimeout: Duration? = nil
    ) {
        self.isolation = isolation
        self.readOnly = readOnly
        self.retries = retries
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
    }

    /// What opens it, as commands without parameters: a server that hands statements on hands on these alone, each sent by itself.
    var commands: [String] {
        [beginning] + limits.map { "SET LOCAL \($0.setting) = \($0.milliseconds)" }
    }

    /// The same as statements that can be prepared.
    var statements: [SQL] { [SQL(trusted: beginning)] + limitStatements }

    /// The statement that sets its limits, if it has any of its own: one for both.
    var limitStatements: [SQL] {
        let calls = limits.map { "set_config('\(sql: SQL(trusted: $0.setting))', \($0.milliseconds), true)" as SQL }
        guard let first = calls.first else { return [] }
        return [calls.dropFirst().reduce("SELECT " + first) { $0 + ", " + $1 }]
    }

    private var beginning: String {
        // Whether others may write is the server's to say: whoever moves a database forbids it by `default_transaction_read_only`.
        "BEGIN ISOLATION LEVEL \(isolation.rawValue)\(readOnly ? " READ ONLY" : "")"
    }

    private var limits: [(setting: String, milliseconds: String)] {
        [("statement_timeout", statementTimeout), ("lock_timeout", lockTimeout)].compactMap { setting, limit in
            limit.map { (setting, "\($0.roundedUpMilliseconds)") }
        }
    }

    var hasLimits: Bool { statementTimeout != nil || lockTimeout != nil }
}
