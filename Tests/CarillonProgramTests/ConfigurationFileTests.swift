import CarillonCore
import Foundation
import Logging
import Postgres
import Testing

@testable import CarillonStore
@testable import carillon

@Suite struct ConfigurationFileTests {
    /// Settings of a file with this text, and of these variables.
    private func settings(_ text: String, _ environment: [String: String] = [:]) throws -> Settings {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let all = environment.merging(["CARILLON_CONFIG_FILE": path]) { $1 }
        return try Settings(environment: all, for: .database)
    }

    @Test func `holds every setting by its name in camel case`() throws {
        let settings = try settings(
            """
            {"listen": "[::1]:0", "managementListen": "127.0.0.1:1", "dataDir": "/d", "logLevel": "debug",
             "logFormat": "json", "egressAllow": ["10.0.0.0/8", "fd00::/8"]}
            """
        )
        #expect(settings.listen == ListenAddress(host: "::1", port: 0))
        #expect(settings.managementListen.port == 1)
        #expect(settings.dataDirectory == "/d")
        #expect(settings.logLevel == .debug)
        #expect(settings.logFormat == .json)
        #expect(settings.egressAllow.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
    }

    @Test func `numbers and switches need no quotes`() throws {
        let settings = try settings(#"{"poolSize": 6, "console": false}"#)
        #expect(settings.poolSize == 6)
        #expect(settings.console == nil)
    }

    @Test func `a variable wins over the file`() throws {
        let settings = try settings(#"{"dataDir": "/file", "logLevel": "debug"}"#, ["CARILLON_DATA_DIR": "/variable"])
        #expect(settings.dataDirectory == "/variable")
        #expect(settings.logLevel == .debug)
    }

    @Test(
        arguments: [
            (#"{"listn": "x"}"#, "listn is unknown; did you mean listen?"),
            (#"{"listen": {}}"#, "listen must be a string, a number, true or false"),
            (#"{"listen": 8080}"#, "listen is \"8080\""),
            (#"{"listen": "x"}"#, "listen is \"x\""), (#"{"egressAllow": [1]}"#, "an array of strings"),
            (#"{"configFile": "x"}"#, "configFile is unknown"), ("[]", "must hold a JSON object"),
            (#"{"logLevel": "debug",}"#, "is no JSON: line 1, column 22: the name of a member"),
            ("{", "is no JSON: line 1"), (#"{"dataDir": "a", "dataDir": "b"}"#, "is no JSON"),
        ]
    )
    func `a mistake names the file and what is wrong`(text: String, expected: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try settings(text) }
        #expect(error.mistakes.count == 1)
        #expect(error.mistakes.first?.contains(expected) == true, "\(error)")
        #expect(error.mistakes.first?.contains(".json") == true)
    }
}

@Suite struct ListenAddressTests {
    @Test(
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:0", "::1", 0), ("0.0.0.0:65535", "0.0.0.0", 65535),
            ("localhost:80", "localhost", 80), ("[::]:1", "::", 1), ("my-host.example:9090", "my-host.example", 9090),
        ]
    )
    func `reads host and port, and writes them as they were`(text: String, host: String, port: Int) throws {
        let address = try ListenAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.description == text)
    }

    @Test(
        arguments: [
            "", ":", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
            "127.0.0.1: 80", "::1:80", "[127.0.0.1]:80", "[::1]", "[]:80", "a b:80", "http://h:80", "ä:80", "h:٨٠",
        ]
    )
    func `refuses everything else`(text: String) {
        #expect(throws: InvalidSetting.self) { try ListenAddress(text) }
    }
}

@Suite struct DescriptorBudgetTests {
    @Test(arguments: [320, 1_000, 1_024, 4_096, 65_536, 1_048_576, Int.max], [(1, 6), (2, 128), (16, 12)])
    func `what everybody may have together leaves a reserve`(limit: Int, of machine: (loops: Int, connections: Int))
        throws
    {
        let (loops, connections) = machine
        let budget = try DescriptorBudget(limit: limit, databaseConnections: connections, loops: loops)
        let places = [
            budget.publicConnections, budget.managementConnections, budget.webConnections, budget.apnsConnections,
            budget.fcmConnections,
        ]
        #expect(places.allSatisfy { $0 >= 6 })
        #expect(budget.lookups >= 4)
        #expect(budget.relayConnections >= 4)
        #expect(budget.introspectionConnections >= 2)
        let others = budget.lookups + budget.relayConnections + budget.introspectionConnections
        #expect(places.reduce(others, +) <= limit - 90 - connections)
    }

    @Test func `a large limit is not a reason to take connections that memory has no room for`() throws {
        let budget = try DescriptorBudget(limit: 1_048_576, databaseConnections: 6, loops: 2)
        #expect(budget.publicConnections + budget.managementConnections == 8_192)
        let connections = [
            budget.webConnections, budget.relayConnections, budget.apnsConnections, budget.fcmConnections,
            budget.introspectionConnections,
        ]
        #expect(connections.reduce(budget.lookups, +) == 4_096)
    }

    @Test func `below 2,000 the operator is told`() throws {
        #expect(try DescriptorBudget(limit: 2_000, databaseConnections: 6, loops: 2).concern == nil)
        let concern = try #require(try DescriptorBudget(limit: 1_999, databaseConnections: 6, loops: 2).concern)
        #expect(concern.contains("1999") && concern.contains("2000"))
    }

    @Test(arguments: [(65_536, Finding.Verdict.ok), (1_024, .warn), (64, .fail)])
    func `doctor speaks up when there are few`(limit: Int, verdict: Finding.Verdict) {
        #expect(FileChecks.descriptors(limit: limit, databaseConnections: 6).verdict == verdict)
    }

    @Test func `a limit that is too small to work with stops the start`() {
        let error = #expect(throws: StartError.self) {
            try DescriptorBudget(limit: 64, databaseConnections: 6, loops: 2)
        }
        #expect(error.map { "\($0)".contains("64") && "\($0)".contains("172") } == true)
    }
}

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
        (refused("unsupported startup parameter: options"), "ALTER ROLE"),
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
