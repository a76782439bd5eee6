import CarillonCore
import Testing

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            ("null", .null),
            (" true ", true),
            ("\t\r\n false", false),
            ("0", 0),
            ("-12", -12),
            (#""""#, ""),
            (#""a\"\\\/b""#, #"a"\/b"#),
            (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"),
            (#""\u0041\u00e9\u0E01\uFFFF""#, "Aéก\u{FFFF}"),
            (#""\ud83d\ude00\uD834\uDD1E""#, "😀𝄞"),
            (#""\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10FFFF}"),
            ("\"é€😀\u{10FFFF}\u{7F}\u{2028}\u{FEFF}\"", "é€😀\u{10FFFF}\u{7F}\u{2028}\u{FEFF}"),
            ("[]", []),
            ("[ ]", []),
            ("[1,[2,[]],{}]", [1, [2, []], [:]]),
            ("{ }", [:]),
            (#"{"a":{"b":[null]},"":""}"#, ["a": ["b": [.null]], "": ""]),
            ("\n{ \"a\" : 1 , \"A\" : 2 }\r", ["a": 1, "A": 2]),
        ] as [(String, JSONValue)]
    )
    func `reads what RFC 8259 allows`(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(arguments: ["0", "-0", "0.0", "1.50", "1E5", "1e+5", "-1.5e-300", "1e-400", "123456789012345678901234567890"])
    func `keeps a number as it was written`(literal: String) throws {
        #expect(try JSONValue(parsing: literal).serializedText == literal)
    }

    @Test(
        arguments: [
            ("10", 10, 10.0), ("10.0", 10, 10), ("1e1", 10, 10), ("-0", 0, 0), ("1.5", nil, 1.5), ("1e300", nil, 1e300),
            ("9223372036854775807", Int.max, 9.223372036854775807e18),
            ("9223372036854775808", nil, 9.223372036854775808e18),
            ("-9223372036854775808", Int.min, -9.223372036854775808e18), ("9007199254740993.0", nil, 9007199254740992),
        ] as [(String, Int?, Double)]
    )
    func `gives numbers as integers only where nothing is lost`(text: String, integer: Int?, double: Double) throws {
        guard case .number(let number) = try JSONValue(parsing: text) else {
            Issue.record("\(text) is a number")
            return
        }
        #expect(number.integer == integer)
        #expect(number.double == double)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func `writes no number that JSON does not have`(double: Double) {
        #expect(JSONNumber(double) == nil)
    }

    @Test(arguments: [0.1, -1.5, 1e300, .leastNonzeroMagnitude, 100, 1e16])
    func `writes floating-point numbers as JSON`(double: Double) throws {
        let number = try #require(JSONNumber(double))
        let value = try JSONValue(parsing: JSONValue.number(number).serialized)
        #expect(value == .number(number))
        #expect(number.double == double)
    }

    @Test func `escapes what must be escaped and nothing else`() {
        let value: JSONValue = ["\"": .string("\\/\n\r\t\u{1}\u{1F}\u{7F}é😀\u{2028}")]
        let expected = #"{"\"":"\\/\n\r\t\u0001\u001f"# + "\u{7F}é😀\u{2028}\"}"
        #expect(value.serializedText == expected)
    }

    @Test func `says which bytes each element of an array takes`() throws {
        let text = Array(" [ {\"a\": 1} ,2,  \"é\" , [ ] ]\n".utf8)
        let elements = try JSONValue.parseElements(of: text)
        let sources = elements.map { String(decoding: text[$0.range], as: UTF8.self) }
        #expect(sources == ["{\"a\": 1}", "2", "\"é\"", "[ ]"])
        #expect(elements.map(\.value) == [["a": 1], 2, "é", []])
        #expect(try JSONValue.parseElements(of: Array("[]".utf8)).isEmpty)
    }

    @Test(
        arguments: [
            ("{}", .notAnArray, ""), ("1", .notAnArray, ""), ("", .empty, ""), ("[1] 2", .trailingContent, ""),
            (#"[1,{"a":}]"#, .valueExpected, "/1/a"), ("[1,2", .unexpectedEnd, ""),
        ] as [(String, JSONSyntaxError.Reason, String)]
    )
    func `takes apart nothing but arrays`(text: String, reason: JSONSyntaxError.Reason, pointer: String) throws {
        let error = try #require(throws: JSONSyntaxError.self) {
            try JSONValue.parseElements(of: Array(text.utf8))
        }
        #expect(error.reason == reason)
        #expect(error.pointer == pointer)
    }
}

@Suite struct JSONObjectTests {
    @Test func `keeps members in the order in which they came`() throws {
        let text = #"{"z":1,"a":{"y":2,"b":3},"m":4}"#
        let value = try JSONValue(parsing: text)
        #expect(value.serializedText == text)
        #expect(value == ["m": 4, "a": ["b": 3, "y": 2], "z": 1], "order does not matter for equality")
        #expect(value != ["m": 4, "a": ["b": 3, "y": 0], "z": 1])
        #expect(value != ["m": 4, "z": 1])
    }

    /// Small objects are searched and large ones hashed; both must behave alike.
    @Test(arguments: [3, 16, 17, 100])
    func `replaces in place, adds at the end, removes with nil`(count: Int) {
        var object = JSONObject()
        for number in 0..<count {
            object["k\(number)"] = .number(JSONNumber(number))
        }
        object["k1"] = "replaced"
        object["k0"] = nil
        object["absent"] = nil
        object["new"] = .some(.null)
        #expect(object.keys == (1..<count).map { "k\($0)" } + ["new"])
        #expect(object["k1"] == "replaced")
        #expect(object["k0"] == nil)
        #expect(!object.contains("k0"))
        #expect(object.contains("new"))
        #expect(object["new"] == .some(.null))
        #expect(object["k\(count - 1)"] == (count == 2 ? "replaced" : .number(JSONNumber(count - 1))))
        #expect(object.count == count)
    }

    @Test func `tells names apart by their bytes, not by Unicode equivalence`() throws {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        let value = try JSONValue(parsing: "{\"\(composed)\":1,\"\(decomposed)\":2}")
        guard case .object(let object) = value else {
            Issue.record("this is an object")
            return
        }
        #expect(object[composed] == 1)
        #expect(object[decomposed] == 2)
        let many = (0..<50).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(throws: Never.self) { try JSONValue(parsing: "{\(many),\"\(composed)\":1,\"\(decomposed)\":2}") }
    }
}

@Suite struct JSONMergePatchTests {
    struct Example: CustomTestStringConvertible, Sendable {
        var original: JSONValue
        var patch: JSONValue
        var result: JSONValue
        var testDescription: String { "\(original.serializedText) + \(patch.serializedText)" }
    }

    /// The table of RFC 7396, appendix A.
    @Test(arguments: [
        Example(original: ["a": "b"], patch: ["a": "c"], result: ["a": "c"]),
        Example(original: ["a": "b"], patch: ["b": "c"], result: ["a": "b", "b": "c"]),
        Example(original: ["a": "b"], patch: ["a": .null], result: [:]),
        Example(original: ["a": "b", "b": "c"], patch: ["a": .null], result: ["b": "c"]),
        Example(original: ["a": ["b"]], patch: ["a": "c"], result: ["a": "c"]),
        Example(original: ["a": "c"], patch: ["a": ["b"]], result: ["a": ["b"]]),
        Example(original: ["a": ["b": "c"]], patch: ["a": ["b": "d", "c": .null]], result: ["a": ["b": "d"]]),
        Example(original: ["a": [["b": "c"]]], patch: ["a": [1]], result: ["a": [1]]),
        Example(original: ["a", "b"], patch: ["c", "d"], result: ["c", "d"]),
        Example(original: ["a": "b"], patch: ["c"], result: ["c"]),
        Example(original: ["a": "foo"], patch: .null, result: .null),
        Example(original: ["a": "foo"], patch: "bar", result: "bar"),
        Example(original: ["e": .null], patch: ["a": 1], result: ["e": .null, "a": 1]),
        Example(original: [1, 2], patch: ["a": "b", "c": .null], result: ["a": "b"]),
        Example(original: [:], patch: ["a": ["bb": ["ccc": .null]]], result: ["a": ["bb": [:]]]),
    ])
    func `merges as the RFC's own examples`(_ example: Example) {
        #expect(example.original.merging(patch: example.patch) == example.result)
    }

    @Test func `keeps the order of members`() {
        let original: JSONValue = ["c": 1, "b": 2, "a": 3]
        let merged = original.merging(patch: ["z": 9, "b": 5, "c": .null, "y": 8])
        #expect(merged.serializedText == #"{"b":5,"a":3,"z":9,"y":8}"#)
    }
}
