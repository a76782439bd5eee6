/// Which of the settings that this process asks for its sessions have. A pooler does not pass them on; then the role has to give them.
public struct SessionSettings: Sendable {
    /// A setting that is asked for.
    public struct Setting: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// What is asked for, as the server writes it.
        public let wanted: String
        /// What is in force; `nil` where the server knows nothing of that name.
        public let found: String?

        /// Whether sessions can be used with it: a limit of time may be another one, as long as there is one.
        public var isInForce: Bool {
            guard let found else { return false }
            if name.hasSuffix("_timeout"), wanted != "0" { return found != "0" }
            return Self.withoutBlanks(found) == Self.withoutBlanks(wanted)
        }

        private static func withoutBlanks(_ text: String) -> String { text.filter { !$0.isWhitespace } }

        /// What is asked for, as a statement says it; a list is one already.
        fileprivate var literal: String {
            name == "search_path" ? wanted : "'" + wanted.replacing("'", with: "''") + "'"
        }
    }

    /// The server's role.
    public let role: String
    /// The server's database.
    public let database: String
    /// All that is asked for.
    public let settings: [Setting]

    /// What is asked for in vain.
    public var lacking: [Setting] { settings.filter { !$0.isInForce } }

    /// The statements that give the role what lacks, in this database; the role itself may run them.
    public var remedy: [String] {
        lacking.map { setting in
            """
            ALTER ROLE \(SQL.quoted(identifier: role)) IN DATABASE \(SQL.quoted(identifier: database)) \
            SET \(setting.name) TO \(setting.literal);
            """
        }
    }
}

extension PostgresPool {
    /// Looks at what stands between the pool and its server, by connections of its own.
    ///
    /// - Throws: `PostgresError` when there is no connection, or the server says something unexpected.
    public func poolMode() async throws -> PoolMode { try await PoolMode.look(configuration) }

    /// Looks at the settings of a session.
    ///
    /// - Returns: What there is of those that the configuration asks for.
    /// - Throws: As ``withTransaction(_:_:)``; `server` where the server does not know one of them.
    public func readSessionSettings() async throws -> SessionSettings {
        let wanted = configuration.wantedSettings
        let names = wanted.map(\.name)
        return try await withTransaction { session in
            let place = try session.queryFirst(
                .unprepared("SELECT current_user::text, current_database()::text")
            ) { row in (role: try row.decode(0, as: String.self), database: try row.decode(1, as: String.self)) }
            let found = try session.query(
                .unprepared(
                    """
                    SELECT current_setting(name, true) FROM unnest(\(names)) WITH ORDINALITY AS n (name, place)
                    ORDER BY place
                    """
                )
            ) { row in try row.decode(0, as: String?.self) }
            // The server says how it writes a value, which only this transaction has then.
            let values = try wanted.map { name, value in
                try session.first(.unprepared("SELECT set_config(\(name), \(value), true)"), as: String.self) ?? value
            }
            return SessionSettings(
                role: place?.role ?? "",
                database: place?.database ?? "",
                settings: names.indices.map { index in
                    SessionSettings.Setting(name: names[index], wanted: values[index], found: found[index])
                }
            )
        }
    }
}
