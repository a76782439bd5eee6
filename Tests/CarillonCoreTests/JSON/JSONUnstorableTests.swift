import CarillonCore
import Testing

/// What users write into texts that others send: a value that cannot be stored is left out, and the rest is read.
@Suite struct JSONUnstorableTests {
    private static let limits = JSONLimits(depth: 8, unstorable: .leftOut(cleaning: ["name"]))

    private func read(_ text: String) throws -> JSONValue { try JSONValue(parsing: text, limits: Self.limits) }

    @Test(arguments: [
        #""a\u0000b""#, "\"a\u{0}b\"", #""half \ud800""#, #""half \udc00 of a pair""#, #""\ud800\u0041""#,
        String(repeating: "9", count: 400), "1e400", "-" + String(repeating: "9", count: 400) + ".5",
    ])
    func `is left out of objects and arrays, and all around it is read`(value: String) throws {
        let text = #"{"before":1,"bad":\#(value),"after":[true,\#(value) ,2]}"#
        let limits = JSONLimits(depth: 2, unstorable: .leftOut(cleaning: []))
        #expect(try JSONValue(parsing: text, limits: limits) == ["before": 1, "after": [true, 2]])
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
    }

    @Test(arguments: ["[", #"{"a":"#])
    func `is what stands too deep in what does not`(opening: String) throws {
        let ending = opening == "[" ? "]" : "}"
        let deep = String(repeating: opening, count: 7) + "%" + String(repeating: ending, count: 7)
        let inner =
            String(repeating: opening, count: 100) + #"["]", {"x":"}\""}]"# + String(repeating: ending, count: 100)
        let expected = try read(#"{"deep":\#(deep.replacing("%", with: opening == "[" ? "" : "{}")),"after":1}"#)
        #expect(try read(#"{"deep":\#(deep.replacing("%", with: inner)),"after":1}"#) == expected)
    }

    @Test func `leaves members of some objects out entirely`() throws {
        let limits = JSONLimits(depth: 8, unstorable: .leftOut(cleaning: [], entirely: ["content"]))
        let text = #"""
            {"content":{"a":{"b":["\u0000",1],"content":{}},"c":{"d":1},"e":"\ud800"},"other":{"f":{"g":"\u0000"}}}
            """#
        #expect(try JSONValue(parsing: text, limits: limits) == ["content": ["c": ["d": 1]], "other": ["f": [:]]])
    }

    @Test func `leaves the innermost member out`() throws {
        #expect(try read(#"{"a":{"b":["x\u0000",1],"c":2}}"#) == ["a": ["b": [1], "c": 2]])
    }

    @Test func `cleans what people are shown by`() throws {
        #expect(try read(#"{"name":"A\u0000lic\ud800e 😀\ud83d\ude00"}"#) == ["name": "Alice 😀😀"])
        #expect(try read(#"{"name":"\ud83d\u0041"}"#) == ["name": "A"])
        // Only of strings: what is inside of anything else is not a name.
        #expect(try read(#"{"name":["A\u0000"]}"#) == ["name": []])
    }

    @Test func `leaves members out that have such a name`() throws {
        #expect(try read(#"{"a\u0000" : {"b":[1]} ,"a":2,"\ud800":"\u0000","b":3}"#) == ["a": 2, "b": 3])
        #expect(throws: JSONSyntaxError.self) { try read(#"{"a":1,"a":2}"#) }
    }

    @Test(arguments: [
        #"{"a":"\u0000}"#, #"{"a":"\u0000""#, #"{"a":[[[[[[[[[[1]}"#, #"{"a":[[[[[[[[[["x]]]]]]]]]]}"#, #"{"a":1.}"#,
        #"{"a":"\x"}"#, "{\"a\":\"\u{1}\"}", #"{"a":"\u0000"} x"#, #"{"a":"\u0000" "b":1}"#,
    ])
    func `what is no JSON is refused as ever`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try read(text) }
    }

    @Test func `says where a text is that is nothing else`() throws {
        let error = try #require(throws: JSONSyntaxError.self) { try read("\n \"\\u0000\"") }
        #expect(error.reason == .nul && error.line == 2)
    }

    /// Quadratic work for so many of them would take minutes rather than a moment.
    @Test(.timeLimit(.minutes(1)))
    func `leaves out a hundred thousand values`() throws {
        let bad = Array(repeating: #""\u0000""#, count: 100_000).joined(separator: ",")
        let deep = String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000)
        #expect(try read("[\(bad),1,\(deep)]") == [1, [[[[[[[]]]]]]]])
    }
}
