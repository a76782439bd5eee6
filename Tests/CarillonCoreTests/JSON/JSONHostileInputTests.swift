import CarillonCore
import Testing

/// Inputs that are made to exhaust a parser: refused or read in time that grows with their length only.
@Suite struct JSONHostileInputTests {
    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func `refuses ten thousand levels without exhausting the stack`(opening: String) throws {
        let text = String(repeating: opening, count: 10_000)
        let error = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
        #expect(error.reason == .tooDeep)
        #expect(error.byteOffset < 64 * opening.utf8.count + 8)
    }

    @Test func `takes 64 levels and not one more`() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(64)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: nested(65)) }
        #expect(throws: Never.self) { try JSONValue.parseElements(of: Array(nested(64).utf8)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue.parseElements(of: Array(nested(65).utf8)) }
        let mixed = String(repeating: "{\"a\":[", count: 32) + "1" + String(repeating: "]}", count: 32)
        #expect(throws: Never.self) { try JSONValue(parsing: mixed) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: "[\(mixed)]") }
    }

    @Test func `limits are the caller's, within what the stack bears`() throws {
        let text = Array((String(repeating: "[", count: 513) + String(repeating: "]", count: 513)).utf8)
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: "[[1]]", limits: JSONLimits(depth: 1)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: "123", limits: JSONLimits(numberDigits: 2)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text, limits: JSONLimits(depth: .max)) }
        #expect(throws: Never.self) { try JSONValue(parsing: Array(text[1..<1025]), limits: JSONLimits(depth: .max)) }
    }

    /// Quadratic work on so many names would take minutes rather than a moment.
    @Test(.timeLimit(.minutes(1)))
    func `reads an object of a hundred thousand names`() throws {
        let members = (0..<100_000).map { "\"name-\($0)\":\($0)" }
        let value = try JSONValue(parsing: "{" + members.joined(separator: ",") + "}")
        guard case .object(let object) = value else {
            Issue.record("this is an object")
            return
        }
        #expect(object.count == 100_000)
        #expect(object["name-99999"] == 99_999)
        #expect(object["name-100000"] == nil)
        #expect(value.merging(patch: value) == value)
    }

    @Test func `finds a name used twice among a hundred thousand`() throws {
        let names = (0..<100_000).map { "\"name-\($0)\":0" } + ["\"name-50000\":0"]
        let error = try #require(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: "{" + names.joined(separator: ",") + "}")
        }
        #expect(error.reason == .duplicateName)
        #expect(error.pointer == "/name-50000")
    }

    @Test func `reads a string of a megabyte, plain and escaped`() throws {
        let plain = String(repeating: "สวัสดี ", count: 50_000)
        #expect(try JSONValue(parsing: "\"\(plain)\"") == .string(plain))
        let escaped = String(repeating: #"\u0e2a\n"#, count: 125_000)
        #expect(try JSONValue(parsing: "\"\(escaped)\"") == .string(String(repeating: "ส\n", count: 125_000)))
    }

    @Test func `reads an array of a million elements`() throws {
        let text = "[0" + String(repeating: ",0", count: 999_999) + "]"
        #expect(try JSONValue.parseElements(of: Array(text.utf8)).count == 1_000_000)
    }
}
