/// Where PostgreSQL is and how it is used.
///
/// Its descriptions hold no password.
public struct PostgresConfiguration: Sendable {
    /// How many connections there are unless it is said.
    public static let defaultPoolSize = 6

    /// How many connections there are at most; each has a thread. More than twice the cores rarely helps.
    public var poolSize = defaultPoolSize
    /// How many callers may wait for a connection; one more is turned away at once.
    public var maxWaiters = 4096
    /// How long a caller waits for a connection.
    public var acquireTimeout: Duration = .seconds(2)
    /// How long one attempt to connect may take for each host, in whole seconds, at least two.
    public var connectTimeout: Duration = .seconds(3)
    /// How long the server works on one statement; zero means no limit. To go beyond it in one transaction, use
    /// ``TransactionOptions/statementTimeout``: the client stops waiting some seconds after this limit has passed.
    public var statementTimeout: Duration = .seconds(15)
    /// How long a statement waits for a lock; zero means no limit.
    public var lockTimeout: Duration = .seconds(5)
    /// How long a transaction may stay open without a statement; zero means no limit.
    public var idleInTransactionTimeout: Duration = .seconds(10)
    /// How long sent data may go without an acknowledgement before the connection counts as lost.
    public var tcpUserTimeout: Duration = .seconds(10)
    /// How long a silent connection stays unprobed; three probes, five seconds apart, then end it.
    public var keepaliveIdle: Duration = .seconds(15)
    /// What the server's activity views show.
    public var applicationName = "carillon"
    /// The wait after the first failed attempt to connect; it doubles with each further one.
    public var reconnectBase: Duration = .milliseconds(50)
    /// The longest wait between two attempts to connect.
    public var reconnectLimit: Duration = .seconds(1)
    /// Whether statements are prepared under a name and kept, or sent whole each time. A pooler that hands out sessions by transaction
    /// has to know of names: PgBouncer does from 1.21 on, with `max_prepared_statements`.
    public var preparesStatements = true
    /// How many prepared statements each connection keeps; once it has given up as many, it is replaced.
    public var statementCacheCapacity = 256
    /// Further settings of each session, such as `jit` or `work_mem`; they win over those above.
    ///
    /// A pooler may take none of these: then they are the role's, see ``SessionSettings``.
    public var sessionSettings: [String: String] = [:]
    /// Further settings where the database hands statements on to other servers; `nil` asks no server whether it does.
    public var distributedSettings: DistributedSettings?
    /// Told how long each caller waited for a connection, in vain or not; called on the caller's task.
    public var onWait: (@Sendable (Duration) -> Void)?
    /// Asked on the caller's task, at the beginning of each call, by when that has to be answered; `nil` leaves it to the
    /// limits above. What the server does not answer by then is given up, COMMIT too.
    public var deadline: (@Sendable () -> ContinuousClock.Instant?)?
    /// Told on the caller's task when something was written, or may have been: see ``PostgresError/isOutcomeUnknown``. A
    /// statement outside of a transaction counts as a write unless it begins with SELECT.
    public var onWrite: (@Sendable () -> Void)?
    /// Asked on the caller's task whether it gets a connection before others who wait for one without precedence.
    public var hasPrecedence: (@Sendable () -> Bool)?

    private(set) var connectionInfo: ConnectionInfo
    /// How much longer than the server's own limit a statement may take before the server counts as frozen.
    var replyGrace: Duration = .seconds(5)
    /// How much longer than until the deadline an answer is waited for: the server cancels a statement then, and says so.
    var deadlineGrace: Duration = .milliseconds(250)

    /// Reads where PostgreSQL is from a connection string.
    ///
    /// What the string leaves open, libpq takes from its environment variables and password file. A server that refuses
    /// writes is not used, and of several hosts the first that accepts them, unless `target_session_attrs` says otherwise.
    /// Settings in the string win over those of this type.
    ///
    /// A URL may have `coordinator=host:port` among its parameters, which libpq does not know: see ``atCoordinator``.
    ///
    /// - Parameter url: A `postgresql://` URL or libpq's `key=value` pairs.
    /// - Throws: `invalidConfiguration`, without quoting the string.
    /// - SeeAlso: PostgreSQL documentation, section 34.1.1 "Connection Strings"
    public init(url: String) throws(PostgresError) {
        connectionInfo = try ConnectionInfo(parsing: url)
    }
}

extension PostgresConfiguration {
    /// The role that the string names.
    public var user: String? { connectionInfo.values["user"] }

    /// The database that the string names.
    public var database: String? { connectionInfo.values["dbname"] }

    /// The same database by way of the server that hands statements on to the one that is named, where the URL says so; for what only
    /// that one can do, such as making tables.
    public var atCoordinator: PostgresConfiguration? {
        guard let info = connectionInfo.atCoordinator else { return nil }
        var configuration = self
        configuration.connectionInfo = info
        return configuration
    }

    /// Whether limits of a transaction are told in statements of their own, which are handed on.
    var handsOnSettings: Bool { distributedSettings?.areInForce == true }

    /// The connection string with everything that a session needs.
    var sessionInfo: ConnectionInfo {
        var info = infoWithoutSettings
        info.prependSessionSettings(ownSettings)
        return info
    }

    /// The same without settings of the session, for a pooler that takes none.
    var infoWithoutSettings: ConnectionInfo {
        var info = connectionInfo
        // What the string says wins, but for the encoding, in which it has no say.
        let defaults: [String: String] = [
            "application_name": applicationName,
            "connect_timeout": String(max(2, connectTimeout.roundedUpSeconds)),
            "keepalives": "1",
            "keepalives_idle": String(max(1, keepaliveIdle.roundedUpSeconds)),
            "keepalives_interval": "5",
            "keepalives_count": "3",
            "tcp_user_timeout": String(tcpUserTimeout.roundedUpMilliseconds),
            "target_session_attrs": "read-write",
        ]
        info.values.merge(defaults) { given, _ in given }
        info.values["client_encoding"] = "UTF8"
        return info
    }

    /// What sessions are to have, each setting once; what the string says of one wins.
    var wantedSettings: [(name: String, value: String)] {
        let all = ownSettings + connectionInfo.settings
        return all.enumerated().filter { index, setting in
            !all[(index + 1)...].contains { $0.name.lowercased() == setting.name.lowercased() }
        }.map(\.element)
    }

    private var ownSettings: [(name: String, value: String)] {
        [
            ("statement_timeout", String(statementTimeout.roundedUpMilliseconds)),
            ("lock_timeout", String(lockTimeout.roundedUpMilliseconds)),
            ("idle_in_transaction_session_timeout", String(idleInTransactionTimeout.roundedUpMilliseconds)),
            ("default_transaction_isolation", "read committed"),
            ("TimeZone", "UTC"),
        ]
            + sessionSettings.merging(handsOnSettings ? distributedSettings?.settings ?? [:] : [:]) { $1 }
            .sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    var backoff: Backoff { Backoff(base: reconnectBase, limit: reconnectLimit) }

    /// How long to wait for an answer before the server counts as frozen: longer than it may take by its own limit.
    func replyTimeout(forStatementTimeout statementTimeout: Duration) -> Duration? {
        statementTimeout > .zero ? statementTimeout + replyGrace : nil
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Where PostgreSQL is, without the password.
    public var description: String { connectionInfo.redacted }

    /// Where PostgreSQL is, without the password.
    public var debugDescription: String { description }

    /// Hides the connection string from `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
