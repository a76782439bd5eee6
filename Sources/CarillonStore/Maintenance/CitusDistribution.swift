package import Postgres

/// What has to be done once so that a schema's tables are kept on a server of Citus's choice. Each step looks whether it is done: whoever is
/// cut off does it again.
package struct CitusDistribution: Sendable {
    /// A step that the server refused, and what for.
    package struct Refusal: Error, CustomStringConvertible {
        package let step: String
        package let error: PostgresError

        package var description: String {
            switch error.sqlState {
            case .insufficientPrivilege?:
                """
                \(step): \(error). It takes a superuser, or the owner of the extension and of the schema: name one with \
                --coordinator postgres://…
                """
            case .lockNotAvailable?:
                "\(step): somebody works on the tables (\(error)): stop the service, and try again"
            default: "\(step): \(error)"
            }
        }
    }

    /// At the server that hands statements on, whoever may do this there.
    private let pool: PostgresPool
    private let schema: String
    private let role: String

    /// A schema that sessions of a role use; the pool's statements have no limit of time.
    package init(of schema: String, usedBy role: String, _ pool: PostgresPool) {
        self.pool = pool
        self.schema = schema
        self.role = role
    }

    /// Does what is not done yet, and says what that was.
    /// - Throws: ``Refusal``.
    package func run() async throws -> [String] {
        // Settings first: whoever connects from now on has them.
        try await giveSettings() + distribute() + makeFunctionsKnown() + raiseSequences()
    }

    private func giveSettings() async throws -> [String] {
        let wanted = PostgresConfiguration.settingsOfRole
        let given = try await attempt("settings of the role \(role)") { session in
            try session.query(
                .unprepared(
                    """
                    SELECT unnest(s.setconfig) FROM pg_catalog.pg_db_role_setting s
                    JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase AND d.datname = current_database()
                    JOIN pg_catalog.pg_roles r ON r.oid = s.setrole AND r.rolname = \(role)
                    """
                )
            ) { row in try row.decode(0, as: String.self) }
        }
        let lacking = wanted.keys.sorted().filter { name in !given.contains("\(name)=\(wanted[name] ?? "")") }
        for name in lacking {
            try await attempt("ALTER ROLE \(role) SET \(name)") { session in
                let database = try session.first(.unprepared("SELECT current_database()::text"), as: String.self)
                try session.script(
                    """
                    ALTER ROLE \(identifier: role) IN DATABASE \(identifier: database ?? "")
                    SET \(sql: SQL(trusted: name)) TO \(sql: SQL(trusted: "'\(wanted[name] ?? "")'"))
                    """
                )
            }
        }
        return lacking.isEmpty ? [] : ["gave the role \(role) \(lacking.joined(separator: ", "))"]
    }

    private func distribute() async throws -> [String] {
        guard try await CitusSchema.look(pool, at: schema)?.isDistributed == false else { return [] }
        try await attempt("citus_schema_distribute") { session in
            // This setting is for nobody else.
            defer { session.retire() }
            try session.script("SET citus.enable_unsafe_triggers = on")
            try session.execute(
                .unprepared(
                    "SELECT pg_catalog.citus_schema_distribute(oid) FROM pg_catalog.pg_namespace WHERE nspname = \(schema)"
                )
            )
        }
        let node = try await CitusSchema.look(pool, at: schema)?.node
        return ["distributed the schema \(schema), which is on \(node ?? "no server") now"]
    }

    private func makeFunctionsKnown() async throws -> [String] {
        let unknown = try await attempt("functions") { session in
            try session.query(
                .unprepared(
                    """
                    SELECT p.oid::bigint, p.proname::text FROM pg_catalog.pg_proc p
                    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND n.nspname = \(schema)
                    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_dist_object o
                                      WHERE o.classid = 'pg_catalog.pg_proc'::regclass AND o.objid = p.oid)
                        AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
                                        WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid
                                            AND d.deptype = 'e')
                    ORDER BY p.proname
                    """
                )
            ) { row in (id: try row.decode(0, as: Int64.self), name: try row.decode(1, as: String.self)) }
        }
        for (id, name) in unknown {
            try await attempt("create_distributed_function of \(name)") { session in
                try session.execute(
                    .unprepared("SELECT pg_catalog.create_distributed_function(\(id)::oid::regprocedure)")
                )
            }
        }
        return unknown.isEmpty ? [] : ["made known everywhere \(unknown.map(\.name).joined(separator: ", "))"]
    }

    /// Each server counts in a range of its own: who went straight to one, and goes by way of the coordinator now, goes on behind it.
    private func raiseSequences() async throws -> [String] {
        var raised: [String] = []
        for sequence in SQL.sequences {
            let isBehind = try await attempt("the sequence \(sequence)") { session in
                let name: SQL = "\(identifier: schema).\(identifier: sequence)"
                let elsewhere = try session.queryFirst(
                    .unprepared(
                        """
                        SELECT max(result::bigint)
                        FROM run_command_on_workers(\("SELECT last_value FROM \(name.text) WHERE is_called"))
                        WHERE success AND result ~ '^[0-9]+$'
                        """
                    )
                ) { row in try row.decode(0, as: Int64?.self) }
                guard let elsewhere = elsewhere ?? nil else { return false }
                return try session.queryFirst(
                    .unprepared(
                        """
                        SELECT setval(\(name.text)::text::regclass, \(elsewhere)) FROM \(sql: name)
                        WHERE last_value < \(elsewhere)
                        """
                    )
                ) { _ in true } ?? false
            }
            if isBehind { raised.append(sequence) }
        }
        return raised.isEmpty ? [] : ["raised \(raised.joined(separator: ", "))"]
    }

    @discardableResult
    private func attempt<Value: Sendable>(
        _ step: String,
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        do {
            return try await pool.withConnection(body)
        } catch let error as PostgresError {
            throw Refusal(step: step, error: error)
        }
    }
}
