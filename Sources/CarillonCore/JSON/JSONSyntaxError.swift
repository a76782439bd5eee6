/// Says what makes a text no JSON, or JSON that is not accepted, and where.
package struct JSONSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Reason: String, Sendable, CaseIterable {
        case empty = "a JSON value is needed, there is nothing"
        case byteOrderMark = "a byte order mark is not allowed"
        case unexpectedEnd = "the text ends too early"
        case valueExpected = "a value is needed here"
        case nameExpected = "the name of a member in double quotes is needed here"
        case colonExpected = "a colon is needed here"
        case commaOrBracketExpected = "a comma or ] is needed here"
        case commaOrBraceExpected = "a comma or } is needed here"
        case trailingContent = "there is something after the end of the value"
        case malformedNumber = "this is not a JSON number"
        case numberTooLong = "the number has too many digits"
        /// A number is beyond the range of IEEE 754 double precision.
        case numberTooLarge = "the number is too large"
        case controlCharacter = "a control character in a string must be escaped"
        case malformedEscape = "this is not an escape of JSON"
        /// U+0000, raw or escaped: databases cannot store it.
        case nul = "U+0000 is not allowed"
        case loneSurrogate = "half of a surrogate pair is not allowed"
        case invalidUTF8 = "these bytes are not UTF-8"
        case duplicateName = "this member's name was used before in its object"
        case tooDeep = "arrays and objects are nested too deeply"
        case notAnArray = "an array is needed here"
    }

    package let reason: Reason
    package let byteOffset: Int
    /// Where: the line, counted from 1.
    package let line: Int
    /// Where: the Unicode scalar in its line, counted from 1.
    package let column: Int
    /// The value that is being read, as a JSON Pointer (RFC 6901).
    package internal(set) var pointer: String

    /// Reason and place; holds nothing of the text.
    package var description: String { "line \(line), column \(column): \(reason.rawValue)" }

    init(_ reason: Reason, at offset: Int, of bytes: UnsafeBufferPointer<UInt8>) {
        let before = bytes[..<min(offset, bytes.count)]
        let newline = UInt8(ascii: "\n")
        let lineStart = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
        self.reason = reason
        byteOffset = offset
        line = 1 + before.count { $0 == newline }
        column = 1 + before[lineStart...].count { $0 & 0xC0 != 0x80 }
        pointer = ""
    }

    /// An error that nobody is told of, without its line.
    init(passedOver reason: Reason, at offset: Int) {
        self.reason = reason
        byteOffset = offset
        (line, column) = (0, 0)
        pointer = ""
    }

    /// The same error as seen from the container, one step further out.
    func inside(_ step: String) -> Self {
        var error = self
        error.pointer = step + pointer
        return error
    }
}

extension InvalidInput {
    /// A body that is no acceptable JSON, as the problem `invalid-json`.
    package init(_ error: JSONSyntaxError) {
        self.init(problem: "invalid-json", pointer: error.pointer, detail: error.description)
    }
}
