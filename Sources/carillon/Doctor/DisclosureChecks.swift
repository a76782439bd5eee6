import Postgres

/// Who else may see what people write: other roles of the database, and whoever reads PostgreSQL's own log. Says nothing where all is well.
enum DisclosureChecks {
    private static let logSettings = [
        "log_statement", "log_min_duration_statement", "log_min_duration_sample", "log_parameter_max_length",
    ]

    /// What is found in a database with all of its tables.
    static func findings(_ pool: PostgresPool) async throws -> [Finding] {
        let roles = try await pool.query(
            """
            SELECT DISTINCT coalesce(r.rolname::text, 'PUBLIC') AS role
            FROM pg_class c
            CROSS JOIN LATERAL aclexplode(c.relacl) AS a
            LEFT JOIN pg_roles r ON r.oid = a.grantee
            WHERE c.oid IN (
                    SELECT t::oid
                    FROM unnest(ARRAY['api_keys', 'devices', 'inbox', 'deliveries', 'dead_letters', 'message_texts', 'users',
                                      'channels']::regclass[]) AS t
                    UNION ALL
                    SELECT p.relid::oid FROM unnest(ARRAY['events', 'relayed']::regclass[]) AS t, pg_partition_tree(t) AS p)
                AND a.grantee <> c.relowner
                AND a.grantee <> (SELECT oid FROM pg_roles WHERE rolname = current_user)
                AND (a.grantee = 0 OR NOT pg_has_role(a.grantee, c.relowner, 'USAGE'))
            ORDER BY role
            """
        ) { row in try row.decode(0, as: String.self) }
        let log = try await pool.query("SELECT name, setting FROM pg_settings WHERE name = ANY (\(logSettings))") {
            row in
            (try row.decode(0, as: String.self), try row.decode(1, as: String.self))
        }
        return [finding(ofRoles: roles), finding(ofLog: Dictionary(log) { first, _ in first })].compactMap(\.self)
    }

    static func finding(ofRoles roles: [String]) -> Finding? {
        guard !roles.isEmpty else { return nil }
        return .warn(
            "privileges",
            "\(roles.joined(separator: ", ")) may use Carillon's tables, where keys, devices and texts are: REVOKE what nobody but Carillon needs, "
                + "and where default privileges give it (ALTER DEFAULT PRIVILEGES), those first, or each day's new tables have it again"
        )
    }

    static func finding(ofLog settings: [String: String]) -> Finding? {
        let logsSome = ["log_min_duration_statement", "log_min_duration_sample"].contains {
            settings[$0] ?? "-1" != "-1"
        }
        let logsAll = ["mod", "all"].contains(settings["log_statement"])
        guard logsSome || logsAll, settings["log_parameter_max_length"] != "0" else { return nil }
        return .warn(
            "PostgreSQL's log",
            "gets the parameters of statements, people's texts and devices' tokens among them: set log_parameter_max_length = 0"
        )
    }
}
