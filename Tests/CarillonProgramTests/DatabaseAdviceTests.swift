import Postgres
import Testing

@testable import CarillonStore
@testable import carillon

@Suite struct DatabaseAdviceTests {
    private func advice(_ error: PostgresError, _ url: String = "postgres://chat:hush@db/push") throws -> String? {
        DatabaseAdvice(error, at: try PostgresConfiguration(url: url))?.description
    }

    private static func refused(_ words: String) -> PostgresError {
        PostgresError(.connectionFailed, reason: "connection to server at \"db\", port 5432 failed: FATAL:  \(words)")
    }

    @Test(arguments: [
        (PostgresError(.server(.insufficientPrivilege)), #"ALTER DATABASE "push" OWNER TO "chat""#),
        (PostgresError(.server(.duplicateTable)), "createdb --owner chat NAME"),
        (PostgresError(.server(.featureNotSupported)), "psql -d push -c 'SELECT version()'"),
        (refused(#"database "push" does not exist"#), "createdb --owner chat push"),
        (refused(#"role "chat" does not exist"#), "createuser --pwprompt chat"),
        (refused(#"password authentication failed for user "chat""#), #"psql -d postgres -c '\password "chat"'"#),
    ])
    func `an answer that is final comes with the command that helps`(error: PostgresError, command: String) throws {
        let text = try #require(try advice(error))
        #expect(text.contains(command), "\(text)")
        #expect(!text.contains("hush"))
    }

    @Test func `what passes by itself needs no advice`() throws {
        #expect(try advice(PostgresError(.connectionFailed, reason: "connection refused")) == nil)
        #expect(try advice(PostgresError(.connectionLost)) == nil)
    }

    @Test func `names are quoted for the shell`() throws {
        let error = Self.refused(#"database "it's" does not exist"#)
        let text = try #require(try advice(error, "user='a b' dbname='it\\'s'"))
        #expect(text.hasSuffix(#"createdb --owner 'a b' 'it'\''s'"#), "\(text)")
    }

    @Test func `versions before 15 are too old`() throws {
        #expect(ServerTooOld(versionNumber: 150_000) == nil)
        #expect(ServerTooOld(versionNumber: 170_005) == nil)
        #expect(try #require(ServerTooOld(versionNumber: 140_019)).description.contains("pg_upgradecluster 14 main"))
    }
}
