import Testing

@testable import Postgres

@Suite struct PostgresErrorTests {
    private static let report = PostgresError.ServerReport(
        sqlState: .uniqueViolation,
        message: "duplicate key value violates unique constraint",
        detail: "Key (email)=(alice@example.com) already exists.",
        hint: "a hint",
        context: "a context",
        schema: "public",
        table: "users",
        constraint: "users_email_key"
    )

    @Test func `the description holds no data`() {
        let error = PostgresError(server: Self.report)
        #expect(error.description == "PostgreSQL: the server answered 23505, constraint users_email_key, table users")
        #expect(!"\(error)".contains("alice"))
    }

    @Test func `the description says what is wrong with the server itself`() {
        let message = #"could not load library "/usr/lib/postgresql/15/lib/plpgsql.so": undefined symbol"#
        for state in ["53100", "58P01", "XX000"] {
            let error = PostgresError(server: .init(sqlState: SQLState(rawValue: state), message: message))
            #expect(error.description == "PostgreSQL: the server answered \(state): \(message)")
        }
    }

    @Test func `the debug description holds everything`() {
        let text = String(reflecting: PostgresError(server: Self.report))
        for part in ["23505", "alice@example.com", "duplicate key value", "a hint", "a context"] {
            #expect(text.contains(part))
        }
    }

    @Test(arguments: [
        (SQLState.serializationFailure, true), (.deadlockDetected, true), (.uniqueViolation, false),
        (.queryCanceled, false), (.lockNotAvailable, false),
    ])
    func `only lost races are worth the same transaction again`(state: SQLState, isRetriable: Bool) {
        #expect(PostgresError(.server(state)).isRetriable == isRetriable)
    }

    @Test(arguments: [
        (PostgresError.Kind.connectionFailed, true), (.connectionLost, true), (.timedOut, true), (.poolExhausted, true),
        (.server(.adminShutdown), true), (.server(.crashShutdown), true), (.server(.cannotConnectNow), true),
        (.server(.tooManyConnections), true), (.server(SQLState(rawValue: "08006")), true),
        (.server(.lockNotAvailable), true), (.server(.queryCanceled), true), (.server(.readOnlySQLTransaction), true),
        (.server(.uniqueViolation), false), (.server(.serializationFailure), false), (.server(.syntaxError), false),
        (.shuttingDown, false), (.cancelled, false), (.decoding, false), (.encoding, false),
        (.invalidConfiguration, false),
    ])
    func `tells a server that is away or overloaded from a mistake`(kind: PostgresError.Kind, isConnectivity: Bool) {
        #expect(PostgresError(kind).isConnectivity == isConnectivity)
    }
}
