import Postgres

/// What an operator can do about a database that refuses to be used, by what it answered: one sentence with the command that helps.
struct DatabaseAdvice: CustomStringConvertible {
    /// The sentence, without a full stop.
    let description: String

    /// Advice on an error; `nil` where it says all that there is to say.
    init?(_ error: any Error, at configuration: PostgresConfiguration) {
        guard let error = error as? PostgresError else { return nil }
        let role = configuration.user ?? "carillon"
        let database = configuration.database ?? role
        switch (error.refusal, error.sqlState) {
        case (.noDatabase?, _), (_, .invalidCatalogName?):
            description = """
                the database \(database) does not exist (3D000): create it: createdb --owner \(role.shellWord) \
                \(database.shellWord)
                """
        case (.noRole?, _):
            description = """
                the role \(role) does not exist (28000): create it: createuser --pwprompt \(role.shellWord)
                """
        case (.wrongPassword?, _), (_, .invalidPassword?):
            description = """
                the password in CARILLON_DATABASE_URL is not that of the role \(role) (28P01): correct it there, or set another: \
                psql -d postgres -c \("\\password \(role.sqlName)".shellWord)
                """
        case (.noSettings?, _):
            description = """
                the pooler does not take the settings that CARILLON_DATABASE_URL gives as options: leave them out there, and give them to \
                the role (ALTER ROLE … SET …); carillon doctor shows which are in force
                """
        case (_, .insufficientPrivilege?):
            description = """
                the role \(role) may not do this in the database \(database) (42501): as a superuser make it the owner: \
                psql -d postgres -c \("ALTER DATABASE \(database.sqlName) OWNER TO \(role.sqlName)".shellWord)
                """
        case (_, .duplicateTable?):
            description = """
                the database \(database) has tables of the same names that Carillon did not make (42P07): give it a database of its own: \
                createdb --owner \(role.shellWord) NAME, and that name in CARILLON_DATABASE_URL
                """
        case (_, .featureNotSupported?):
            description = """
                the server lacks what Carillon needs (0A000): it has to be PostgreSQL itself, 15 or later; what it is says \
                psql -d \(database.shellWord) -c 'SELECT version()'
                """
        default: return nil
        }
    }
}

extension String {
    /// As a word of a shell's command.
    fileprivate var shellWord: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789_-.".unicodeScalars.contains(scalar))
        }
        return isPlain && !isEmpty ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }

    fileprivate var sqlName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }
}
