import CarillonCore
import Foundation
import Logging
import Testing

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

    @Test func `a variable wins over the file`() throws {
        let settings = try settings(#"{"dataDir": "/file", "logLevel": "debug"}"#, ["CARILLON_DATA_DIR": "/variable"])
        #expect(settings.dataDirectory == "/variable")
        #expect(settings.logLevel == .debug)
    }

    @Test(
        arguments: [
            (#"{"listn": "x"}"#, "listn is unknown; did you mean listen?"),
            (#"{"listen": 8080}"#, "listen must be a string"),
            (#"{"listen": "x"}"#, "listen is \"x\""), (#"{"egressAllow": [1]}"#, "an array of strings"),
            (#"{"configFile": "x"}"#, "configFile is unknown"), ("[]", "must hold a JSON object"),
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
