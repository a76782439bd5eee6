import ArgumentParser
import Testing

@testable import carillon

@Suite struct TokenCommandTests {
    @Test(arguments: [("90s", 90), ("15m", 900), ("1h", 3_600), ("2d", 172_800)])
    func `takes a time as people write it`(text: String, seconds: Int) throws {
        let parsed = try Carillon.parseAsRoot(["token", "--network", "acme", "--user", "bob", "--for", text])
        #expect(try #require(parsed as? TokenCommand).lifetime?.seconds == seconds)
    }

    @Test(arguments: ["", "h", "1", "0s", "-1h", "1 h", "1w", "9223372036854775807d"])
    func `refuses what is no time`(text: String) {
        #expect(throws: (any Error).self) {
            _ = try Carillon.parseAsRoot(["token", "--network", "acme", "--user", "bob", "--for", text])
        }
    }

    @Test func `speaks for users only`() {
        #expect(throws: (any Error).self) {
            _ = try Carillon.parseAsRoot(["token", "--network", "acme", "--user", "me"])
        }
    }
}
