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

    func opening(asCommands: Bool) -> [String] {
        // Whether others may write is the server's to say: whoever moves a database forbids it by `default_transaction_read_only`.
        ["BEGIN ISOLATION LEVEL \(isolation.rawValue)\(readOnly ? " READ ONLY" : "")"]
            + limits(asCommands: asCommands)
    }

    /// The statement that sets its limits, if it has any of its own: one for both. A server that hands statements on hands on commands
    /// alone, each sent by itself.
    func limits(asCommands: Bool) -> [String] {
        let limits = [("statement_timeout", statementTimeout), ("lock_timeout", lockTimeout)].compactMap {
            name,
            limit in
            limit.map { (name: name, value: "\($0.roundedUpMilliseconds)") }
        }
        if asCommands { return limits.map { "SET LOCAL \($0.name) = \($0.value)" } }
        let settings = limits.map { "set_config('\($0.name)', '\($0.value)', true)" }
        return settings.isEmpty ? [] : ["SELECT \(settings.joined(separator: ", "))"]
    }

    var hasLimits: Bool { statementTimeout != nil || lockTimeout != nil }
}
