import CarillonTesting
import Testing

@testable import Postgres

@Suite struct DistributedSettingsTests {
    /// A database of its own, which says that it has the extension, or does not.
    private func configuration(isDistributed: Bool) async throws -> PostgresConfiguration {
        let name = try await TestDatabase.create(from: nil)
        var configuration = try await TestDatabase.configuration(of: name)
        configuration.distributedSettings = nil
        if isDistributed {
            try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
                try await pool.withConnection { session in
                    try session.script(
                        """
                        INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
                        VALUES (99999, 'citus', 10, 'pg_catalog'::regnamespace, false, '13.2-1')
                        """
                    )
                }
            }
        }
        configuration.sessionSettings = ["jit": "off", "work_mem": "3MB"]
        configuration.distributedSettings = DistributedSettings(["work_mem": "5MB"])
        return configuration
    }

    private func shown(_ name: String, _ pool: PostgresPool) async throws -> String? {
        try await pool.first("SELECT current_setting(\(name))", as: String.self)
    }

    @Test func `sessions with a plain server have none of them, and the server is asked once`() async throws {
        let configuration = try await configuration(isDistributed: false)
        #expect(configuration.distributedSettings?.areInForce == nil)
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) {
            pool async throws in
            #expect(try await shown("work_mem", pool) == "3MB")
        }
        #expect(configuration.distributedSettings?.areInForce == false)
        #expect(!configuration.handsOnSettings)
        #expect(configuration.wantedSettings.contains { $0.name == "work_mem" && $0.value == "3MB" })
        // Who shares the value does not ask again, and would find it otherwise.
        configuration.distributedSettings?.note(true)
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) {
            pool async throws in
            #expect(try await shown("work_mem", pool) == "5MB")
        }
    }

    @Test func `sessions with one that hands statements on have them from the first on`() async throws {
        let configuration = try await configuration(isDistributed: true)
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) {
            pool async throws in
            #expect(try await shown("work_mem", pool) == "5MB")
            #expect(try await shown("jit", pool) == "off")
            #expect(try await pool.readSessionSettings().lacking.isEmpty)
            // Limits are told by commands of their own, in a transaction that is opened first, however it is sent.
            let options = TransactionOptions(statementTimeout: .milliseconds(4_321), lockTimeout: .milliseconds(1_234))
            @Sendable func limits(_ session: borrowing PostgresSession, _ sql: SQL) throws -> String? {
                try session.first(sql, as: String.self)
            }
            let question: SQL = "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')"
            let opened = try await pool.withTransaction(options) { session in try limits(session, question) }
            #expect(opened == "1234ms 4321ms")
            let alone = try await pool.withTransaction(options) { session in
                try session.commit(after: [question]).first?.map { row in try row.decode(0, as: String.self) }.first
            }
            #expect(alone == "1234ms 4321ms")
            let scripted = try await pool.withTransaction(options) { session in
                try session.script("SELECT 1; SELECT 2")
                return try limits(session, question)
            }
            #expect(scripted == "1234ms 4321ms")
            #expect(try await shown("lock_timeout", pool) == "5s")
        }
        #expect(configuration.handsOnSettings)
    }

    @Test func `limits are one statement here, and commands there`() {
        let options = TransactionOptions(statementTimeout: .seconds(1), lockTimeout: .milliseconds(5))
        #expect(
            options.statements.map(\.text) == [
                "BEGIN ISOLATION LEVEL READ COMMITTED",
                "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)",
            ]
        )
        #expect(
            options.commands == [
                "BEGIN ISOLATION LEVEL READ COMMITTED", "SET LOCAL statement_timeout = 1000",
                "SET LOCAL lock_timeout = 5",
            ]
        )
        #expect(TransactionOptions().statements.count == 1 && TransactionOptions().limitStatements.isEmpty)
    }

    @Test func `a server that has lost the one it handed a write on to knows no more than nobody`() {
        for state in ["08006", "XX000"] {
            let error = PostgresError(.server(SQLState(rawValue: state)))
            #expect(error.ofWriteElsewhere.isOutcomeUnknown && !error.ofWrite.isOutcomeUnknown)
        }
        #expect(!PostgresError(.server(.checkViolation)).ofWriteElsewhere.isOutcomeUnknown)
        #expect(PostgresError(.connectionLost).ofWriteElsewhere.isOutcomeUnknown)
    }
}
