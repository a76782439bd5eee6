import Postgres

/// What an operator has to do about a pooler between the service and PostgreSQL.
enum PoolerAdvice {
    /// What keeps the service from working through it, by connections as the service has them: a sentence without a full stop;
    /// `nil` where nothing does, or there is none.
    /// - Throws: `PostgresError` when the database is away.
    static func onStart(_ pool: PostgresPool, preparesStatements: Bool) async throws -> String? {
        let lacking = try await pool.readSessionSettings().lacking
        guard lacking.isEmpty else {
            return """
                sessions lack settings that Carillon cannot do without, since a pooler does not pass them on: \
                \(lacking.map(\.name).joined(separator: ", ")); carillon doctor shows the statements that give them to the role
                """
        }
        guard preparesStatements, try await pool.poolMode() == .transaction(keepsStatements: false) else { return nil }
        return lostStatements
    }

    /// What to do where a session of a later transaction does not know what was prepared.
    static let lostStatements = """
        prepared statements are lost between transactions, as the pooler gives each another session: set \
        CARILLON_PREPARED_STATEMENTS=off, or max_prepared_statements of PgBouncer 1.21 or later
        """

    /// What to do where that could not be seen.
    static let unseenStatements = """
        are prepared once; whether the pooler finds them again was not to be seen: it does where each connection has a session of its \
        own, otherwise set CARILLON_PREPARED_STATEMENTS=off
        """

    /// What to do where announcements go through a pooler.
    static let lostAnnouncements = """
        replicas do not hear of each other's changes through a pooler, and find them some seconds later: set \
        CARILLON_ANNOUNCEMENTS_URL to the same database without it
        """

    /// What to do where even those that have a way of their own do.
    static let pooledAnnouncements = """
        CARILLON_ANNOUNCEMENTS_URL leads through a pooler, which has to give each connection a session of its own
        """

    static func lackingSettings(_ session: SessionSettings) -> String {
        let found = session.lacking.map { "\($0.name) is \($0.found.map { $0.isEmpty ? "empty" : $0 } ?? "unknown")" }
        return """
            \(found.joined(separator: ", ")): a pooler does not pass on what Carillon asks for, so give it to the role, in \
            the database \(session.database), and have the pooler connect anew (RECONNECT in PgBouncer's console): \
            \(session.remedy.joined(separator: " "))
            """
    }
}
