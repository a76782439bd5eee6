import CarillonCore
import Testing

@Suite struct JSONParserTests {
    struct Refusal: CustomTestStringConvertible, Sendable {
        var text: String
        var reason: JSONSyntaxError.Reason
        var offset: Int
        var pointer = ""
        var testDescription: String { "\(text.prefix(40)) \(reason)" }
    }

    @Test(arguments: [
        Refusal(text: "", reason: .empty, offset: 0),
        Refusal(text: " \n ", reason: .empty, offset: 3),
        Refusal(text: "\u{FEFF}{}", reason: .byteOrderMark, offset: 0),
        Refusal(text: "nul", reason: .unexpectedEnd, offset: 3),
        Refusal(text: "nulL", reason: .valueExpected, offset: 0),
        Refusal(text: "True", reason: .valueExpected, offset: 0),
        Refusal(text: "NaN", reason: .valueExpected, offset: 0),
        Refusal(text: "Infinity", reason: .valueExpected, offset: 0),
        Refusal(text: "'a'", reason: .valueExpected, offset: 0),
        Refusal(text: "true false", reason: .trailingContent, offset: 5),
        Refusal(text: "{}}", reason: .trailingContent, offset: 2),
        Refusal(text: "{} // done", reason: .trailingContent, offset: 3),
        Refusal(text: "[1]\u{C}", reason: .trailingContent, offset: 3),
        Refusal(text: "\u{A0}1", reason: .valueExpected, offset: 0),
        Refusal(text: "é", reason: .valueExpected, offset: 0),
    ])
    func `refuses what is no value`(_ refusal: Refusal) throws {
        try expect(refusal)
    }

    @Test(arguments: [
        Refusal(text: "[", reason: .unexpectedEnd, offset: 1, pointer: "/0"),
        Refusal(text: "[1", reason: .unexpectedEnd, offset: 2),
        Refusal(text: "[1,", reason: .unexpectedEnd, offset: 3, pointer: "/1"),
        Refusal(text: "[1,]", reason: .valueExpected, offset: 3, pointer: "/1"),
        Refusal(text: "[,1]", reason: .valueExpected, offset: 1, pointer: "/0"),
        Refusal(text: "[1 2]", reason: .commaOrBracketExpected, offset: 3),
        Refusal(text: "[1}", reason: .commaOrBracketExpected, offset: 2),
        Refusal(text: "{", reason: .unexpectedEnd, offset: 1),
        Refusal(text: #"{"a""#, reason: .unexpectedEnd, offset: 4, pointer: "/a"),
        Refusal(text: #"{"a" 1}"#, reason: .colonExpected, offset: 5, pointer: "/a"),
        Refusal(text: #"{"a":"#, reason: .unexpectedEnd, offset: 5, pointer: "/a"),
        Refusal(text: #"{"a":}"#, reason: .valueExpected, offset: 5, pointer: "/a"),
        Refusal(text: #"{"a":1"#, reason: .unexpectedEnd, offset: 6),
        Refusal(text: #"{"a":1,}"#, reason: .nameExpected, offset: 7),
        Refusal(text: #"{"a":1 "b":2}"#, reason: .commaOrBraceExpected, offset: 7),
        Refusal(text: #"{"a":1]"#, reason: .commaOrBraceExpected, offset: 6),
        Refusal(text: "{1:2}", reason: .nameExpected, offset: 1),
        Refusal(text: "{a:1}", reason: .nameExpected, offset: 1),
        Refusal(text: #"{"a":1,"b":2,"a":3}"#, reason: .duplicateName, offset: 13, pointer: "/a"),
        Refusal(text: #"{"a":1,"\u0061":2}"#, reason: .duplicateName, offset: 7, pointer: "/a"),
        Refusal(text: #"{"":1,"":2}"#, reason: .duplicateName, offset: 6, pointer: "/"),
    ])
    func `refuses broken arrays and objects`(_ refusal: Refusal) throws {
        try expect(refusal)
    }

    @Test(arguments: [
        Refusal(text: #"""#, reason: .unexpectedEnd, offset: 1),
        Refusal(text: #""abc"#, reason: .unexpectedEnd, offset: 4),
        Refusal(text: #""a\"#, reason: .unexpectedEnd, offset: 3),
        Refusal(text: #""a\u00"#, reason: .unexpectedEnd, offset: 6),
        Refusal(text: #""\x41""#, reason: .malformedEscape, offset: 1),
        Refusal(text: #""\'""#, reason: .malformedEscape, offset: 1),
        Refusal(text: #""\U0041""#, reason: .malformedEscape, offset: 1),
        Refusal(text: #""\u00g0""#, reason: .malformedEscape, offset: 1),
        Refusal(text: #""\u+041""#, reason: .malformedEscape, offset: 1),
        Refusal(text: #""\u００４１""#, reason: .malformedEscape, offset: 1),
        Refusal(text: "\"a\nb\"", reason: .controlCharacter, offset: 2),
        Refusal(text: "\"\\n\u{1F}\"", reason: .controlCharacter, offset: 3),
        Refusal(text: "\"a\0b\"", reason: .nul, offset: 2),
        Refusal(text: "\"\\n\0b\"", reason: .nul, offset: 3),
        Refusal(text: #""a\u0000b""#, reason: .nul, offset: 2),
        Refusal(text: #"{"a\u0000b":1}"#, reason: .nul, offset: 3),
        Refusal(text: #"{"data":[{"text":"\ud800"}]}"#, reason: .loneSurrogate, offset: 18, pointer: "/data/0/text"),
        Refusal(text: #""\udc00""#, reason: .loneSurrogate, offset: 1),
        Refusal(text: #""\ud83dx""#, reason: .loneSurrogate, offset: 1),
        Refusal(text: #""\ud83d\n""#, reason: .loneSurrogate, offset: 1),
        Refusal(text: #""\ud83d\u0041""#, reason: .loneSurrogate, offset: 1),
        Refusal(text: #""\ud83d\ud83d""#, reason: .loneSurrogate, offset: 1),
        Refusal(text: #""\ude00\ud83d""#, reason: .loneSurrogate, offset: 1),
        Refusal(text: #""\ud83d\u12""#, reason: .malformedEscape, offset: 7),
    ])
    func `refuses broken strings`(_ refusal: Refusal) throws {
        try expect(refusal)
    }

    @Test(arguments: [
        Refusal(text: "-", reason: .unexpectedEnd, offset: 1),
        Refusal(text: "+1", reason: .valueExpected, offset: 0),
        Refusal(text: ".5", reason: .valueExpected, offset: 0),
        Refusal(text: "-x", reason: .malformedNumber, offset: 1),
        Refusal(text: "1.x", reason: .malformedNumber, offset: 2),
        Refusal(text: "1.", reason: .unexpectedEnd, offset: 2),
        Refusal(text: "1.e5", reason: .malformedNumber, offset: 2),
        Refusal(text: "1ex", reason: .malformedNumber, offset: 2),
        Refusal(text: "1e+", reason: .unexpectedEnd, offset: 3),
        Refusal(text: "01", reason: .trailingContent, offset: 1),
        Refusal(text: "-01", reason: .trailingContent, offset: 2),
        Refusal(text: "[0x10]", reason: .commaOrBracketExpected, offset: 2),
        Refusal(text: "1_000", reason: .trailingContent, offset: 1),
        Refusal(text: "1e400", reason: .numberTooLarge, offset: 0),
        Refusal(text: "-1e400", reason: .numberTooLarge, offset: 0),
        Refusal(text: #"{"n":1e99999999999999999999}"#, reason: .numberTooLarge, offset: 5, pointer: "/n"),
        Refusal(text: String(repeating: "9", count: 65), reason: .numberTooLong, offset: 0),
        Refusal(text: String(repeating: "9", count: 400), reason: .numberTooLong, offset: 0),
        Refusal(text: "0." + String(repeating: "1", count: 63), reason: .numberTooLong, offset: 0),
    ])
    func `refuses broken and huge numbers`(_ refusal: Refusal) throws {
        try expect(refusal)
    }

    @Test(
        arguments: [
            ([0x80], "a continuation byte alone"),
            ([0xBF, 0xBF], "continuation bytes alone"),
            ([0xC3], "two bytes, truncated"),
            ([0xE2, 0x82], "three bytes, truncated"),
            ([0xF0, 0x9F, 0x98], "four bytes, truncated"),
            ([0xC3, 0x28], "the second byte is none"),
            ([0xE2, 0x28, 0xA1], "the second of three is none"),
            ([0xC0, 0xAF], "an overlong slash of two bytes"),
            ([0xC1, 0xBF], "an overlong character of two bytes"),
            ([0xC0, 0x80], "an overlong NUL"),
            ([0xE0, 0x80, 0xAF], "an overlong slash of three bytes"),
            ([0xE0, 0x9F, 0xBF], "the largest overlong of three bytes"),
            ([0xF0, 0x80, 0x80, 0xAF], "an overlong slash of four bytes"),
            ([0xED, 0xA0, 0x80], "the first high surrogate"),
            ([0xED, 0xAF, 0xBF], "the last high surrogate"),
            ([0xED, 0xB0, 0x80], "the first low surrogate"),
            ([0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], "a surrogate pair"),
            ([0xF4, 0x90, 0x80, 0x80], "U+110000"),
            ([0xF5, 0x80, 0x80, 0x80], "beyond Unicode"),
            ([0xF8, 0x88, 0x80, 0x80, 0x80], "five bytes"),
            ([0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], "six bytes"),
            ([0xFE], "FE"), ([0xFF], "FF"),
        ] as [([UInt8], String)]
    )
    func `refuses bytes that are not UTF-8, and says where they begin`(bytes: [UInt8], what: String) throws {
        for (before, after) in [("", ""), ("é ", "z"), (#"\n"#, #"\t"#), (#"\u00e9é"#, "é")] {
            let text = Array(#"{"é":""#.utf8) + Array(before.utf8) + bytes + Array(after.utf8) + Array(#""}"#.utf8)
            let error = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
            #expect(error.reason == .invalidUTF8)
            #expect(error.byteOffset == 7 + before.utf8.count)
            #expect(error.pointer == "/é")
        }
    }

    @Test func `refuses invalid UTF-8 in names and outside strings`() throws {
        let name = try #require(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: [UInt8(ascii: "{"), UInt8(ascii: "\""), 0xFF, UInt8(ascii: "\"")])
        }
        #expect(name.reason == .invalidUTF8)
        let outside = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: [0xFF]) }
        #expect(outside.reason == .valueExpected)
        let utf16: [UInt8] = [0x7B, 0, 0x7D, 0]
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: utf16) }
    }

    @Test func `tells line and column in characters, not bytes`() throws {
        let error = try #require(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: "{\n  \"name\": \"สวัสดี\",\r\n  \"ชื่อ\": x\n}")
        }
        #expect(error.line == 3)
        #expect(error.column == 11)
        #expect(error.description == "line 3, column 11: a value is needed here")
        let input = InvalidInput(error)
        #expect(input == InvalidInput(problem: "invalid-json", pointer: "/ชื่อ", detail: error.description))
    }

    @Test func `escapes names in pointers and cuts long ones`() throws {
        let escaped = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: #"{"a/b~c":[0,x]}"#) }
        #expect(escaped.pointer == "/a~1b~0c/1")
        let name = String(repeating: "n", count: 100_000)
        let cut = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: "{\"\(name)\":x}") }
        #expect(cut.pointer.utf8.count < 200)
    }

    private func expect(_ refusal: Refusal) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: refusal.text) }
        #expect(error.reason == refusal.reason)
        #expect(error.byteOffset == refusal.offset)
        #expect(error.pointer == refusal.pointer)
    }
}
