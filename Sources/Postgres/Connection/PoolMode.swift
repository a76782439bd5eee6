/// What stands between this process and PostgreSQL, as far as it can be seen from here.
public enum PoolMode: Sendable, Equatable {
    /// Nothing: the process that was connected to answers.
    case none
    /// A pooler or proxy whose connections have a session each, as PgBouncer's `session` mode and the proxies of managed hosts do.
    case session
    /// A pooler that hands sessions out by transaction; and whether a statement that was prepared under a name is there for the next
    /// transaction, `nil` where that could not be seen.
    case transaction(keepsStatements: Bool?)

    /// How often it is tried to see what becomes of sessions and statements: others may use the sessions, too.
    private static let rounds = 5
    /// How many connections are looked with: a pooler may be several processes, of which each connection meets one.
    private static let mostConnections = 8

    /// Whether what a connection is given is for one transaction alone: settings, locks and announcements are not its own then.
    public var sharesSessions: Bool {
        if case .transaction = self { true } else { false }
    }

    /// Looks with connections of its own, which are closed then: with one where there is nothing in between.
    ///
    /// - Throws: `PostgresError` when there is no connection, or the server says something unexpected.
    static func look(_ configuration: PostgresConfiguration) async throws -> PoolMode {
        let first = PostgresConnection(configuration: configuration)
        defer { first.close() }
        try await first.open()
        guard try await first.lend({ try $0.isPooled }) else { return .none }
        let others = (1..<mostConnections).map { _ in PostgresConnection(configuration: configuration) }
        defer { for connection in others { connection.close() } }
        guard try await areSessionsShared([first] + others) else { return .session }
        do {
            for _ in 0..<rounds {
                guard let answer = try await keepsStatements(first, others[0]) else { continue }
                return .transaction(keepsStatements: answer)
            }
        } catch let error as PostgresError where error.kind == .connectionLost {
            // The pooler has a single session, which the other connection holds: there is no other to look from.
        }
        return .transaction(keepsStatements: nil)
    }

    /// Whether a connection is given the session that another one had, or another one than it had. The first one is open.
    private static func areSessionsShared(_ connections: [PostgresConnection]) async throws -> Bool {
        var sessions: [Int32?] = Array(repeating: nil, count: connections.count)
        var count = connections.count
        for round in 0..<rounds {
            for number in 0..<count {
                let session: Int32?
                do {
                    if round == 0, number > 0 { try await connections[number].open() }
                    session = try await connections[number].lend { try $0.process() }
                } catch let error as PostgresError
                    where number > 1 && [.connectionFailed, .connectionLost].contains(error.kind)
                {
                    // There are not so many sessions.
                    count = number
                    break
                }
                if let former = sessions[number], former != session { return true }
                if sessions[..<count].indices.contains(where: { $0 != number && sessions[$0] == session }) {
                    return true
                }
                sessions[number] = session
            }
        }
        return false
    }

    /// Whether a statement of the first connection is there while the second holds the session in which it was prepared.
    private static func keepsStatements(
        _ first: PostgresConnection,
        _ second: PostgresConnection
    ) async throws -> Bool? {
        let name = "carillon_survey_\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let former = try await first.lend { try $0.prepareProbe(name) }
        try await second.lend { try $0.script("BEGIN") }
        let answer: Bool?
        do {
            // Where the second has taken another session, the statement is there anyway.
            answer = try await first.lend { try $0.runProbe(name) } == former ? nil : true
        } catch let error as PostgresError where error.sqlState == .invalidSQLStatementName {
            answer = false
        }
        try await second.lend { try $0.script("ROLLBACK") }
        return answer
    }
}

extension PostgresConnection {
    /// Lends what runs statements, and leaves it as it is afterwards.
    fileprivate func lend<Value: Sendable>(_ body: @Sendable (StatementExecutor) throws -> Value) throws -> Value {
        guard let executor else { throw PostgresError(.connectionLost) }
        return try body(executor)
    }
}

extension StatementExecutor {
    /// How long a pooler may have no session to give.
    private static let patience = Duration.seconds(5)
    private static let statement = "SELECT pg_backend_pid()"

    fileprivate var isPooled: Bool {
        get throws { try process() != serverProcessID }
    }

    /// The process that answers.
    fileprivate func process() throws -> Int32? {
        try Self.process(in: handle.run(.unprepared(text: Self.statement, ParameterList()), timeout: Self.patience))
    }

    /// Prepares the statement and runs it in one transaction, and so in one session.
    fileprivate func prepareProbe(_ name: String) throws -> Int32? {
        try script("BEGIN")
        _ = try handle.prepare(name, text: Self.statement, types: [], timeout: Self.patience)
        let process = try runProbe(name)
        try script("COMMIT")
        return process
    }

    fileprivate func runProbe(_ name: String) throws -> Int32? {
        try Self.process(in: handle.run(.prepared(name: name, ParameterList()), timeout: Self.patience))
    }

    fileprivate func script(_ text: String) throws {
        _ = try handle.run(script: text, timeout: Self.patience)
    }

    private static func process(in answer: StatementResult) throws -> Int32? {
        try answer.first { row in try row.decode(0, as: Int32.self) }
    }
}
