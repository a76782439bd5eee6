import CarillonCore
import CarillonTesting
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

    /// Sorting so many marks takes a minute or more, each time a text is compared or hashed.
    @Test(.timeLimit(.minutes(1))) func `texts of many marks are compared and hashed in a moment`() throws {
        let half = 200_000
        let marks = String(repeating: "\u{301}", count: half) + String(repeating: "\u{316}", count: half)
        let limits = JSONLimits(unstorable: .leftOut(cleaning: ["a"]))
        let value = try JSONValue(parsing: Array(#"{"a\#(marks)":"ab\#(marks)","b\#(marks)":2}"#.utf8), limits: limits)
        let (name, member) = try #require(value.object?.members.first)
        #expect(name != "abc")
        #expect(member.text != "abc")
        #expect(try #require(member.text).unicodeScalars.count { $0 != "\u{34F}" } == 2 + 2 * half)
        #expect(PercentEncoding.decode("a\(marks)") == name)
        #expect(Base64URL.text(Base64URL.encode(Array("a\(marks)".utf8))) == name)
    }

    @Test func `texts with as many marks as an id may have are left as they are`() throws {
        func parsed(_ marks: Int) throws -> String? {
            try JSONValue(parsing: "[\"\(String(repeating: "\u{316}", count: marks))\"]").list?.first?.text
        }
        let most = String(repeating: "\u{316}", count: 128)
        #expect(try parsed(128).map { Array($0.utf8) } == Array(most.utf8))
        #expect(try parsed(129).map { Array($0.utf8) } == Array((most + "\u{34F}\u{316}").utf8))
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

@Suite struct JSONRoundTripTests {
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `reads what it wrote`(seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        for _ in 0..<20 {
            let value = generator.value(depth: 0)
            let bytes = value.serialized
            let read = try JSONValue(parsing: bytes)
            #expect(read == value)
            #expect(read.serialized == bytes)
        }
    }

    /// A changed byte may still be JSON; what is accepted must then survive being written and read again.
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `never accepts damaged bytes as something that it cannot write`(seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        let intact = generator.value(depth: 0).serialized
        for _ in 0..<200 {
            var bytes = intact
            let position = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[position] = .random(in: .min ... .max, using: &generator)
            case 1: bytes.remove(at: position)
            default: bytes.insert(.random(in: .min ... .max, using: &generator), at: position)
            }
            guard let value = try? JSONValue(parsing: bytes) else {
                #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
                continue
            }
            #expect(String(validating: bytes, as: UTF8.self) != nil)
            #expect(try JSONValue(parsing: value.serialized) == value)
        }
    }
}

/// JSON of every kind.
extension SplitMix {
    fileprivate mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth < 5 ? 8 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .number(JSONNumber(.random(in: .min ... .max, using: &self)))
        case 3: return JSONNumber(Double(bitPattern: next())).map(JSONValue.number) ?? .null
        case 4, 5: return .string(text())
        case 6: return .array((0..<count()).map { _ in value(depth: depth + 1) })
        default:
            var object = JSONObject()
            for _ in 0..<count() {
                object[text()] = value(depth: depth + 1)
            }
            return .object(object)
        }
    }

    private mutating func count() -> Int {
        Bool.random(using: &self) ? .random(in: 0..<4, using: &self) : .random(in: 0..<24, using: &self)
    }

    private mutating func text() -> String {
        var text = ""
        for _ in 0..<count() {
            let limits: [UInt32] = [0x20, 0x80, 0x800, 0x1_0000, 0x11_0000]
            let limit = limits[Int.random(in: limits.indices, using: &self)]
            let scalar = Unicode.Scalar(UInt32.random(in: 1..<limit, using: &self)) ?? "\\"
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}

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
