/// Says what makes a text no JSON, or JSON that is not accepted, and where.
package struct JSONSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    package enum Reason: String, Sendable, CaseIterable {
        /// There is nothing but white space.
        case empty = "a JSON value is needed, there is nothing"
        /// It begins with a byte order mark.
        case byteOrderMark = "a byte order mark is not allowed"
        /// It ends in the middle of a value.
        case unexpectedEnd = "the text ends too early"
        /// No value begins here.
        case valueExpected = "a value is needed here"
        /// The name of a member is missing.
        case nameExpected = "the name of a member in double quotes is needed here"
        /// The colon after a name is missing.
        case colonExpected = "a colon is needed here"
        /// An array neither goes on nor ends.
        case commaOrBracketExpected = "a comma or ] is needed here"
        /// An object neither goes on nor ends.
        case commaOrBraceExpected = "a comma or } is needed here"
        /// Something follows the value.
        case trailingContent = "there is something after the end of the value"
        /// The digits are not those of a JSON number.
        case malformedNumber = "this is not a JSON number"
        /// A number literal is over the limit.
        case numberTooLong = "the number has too many digits"
        /// A number is beyond the range of IEEE 754 double precision.
        case numberTooLarge = "the number is too large"
        /// A control character stands in a string as it is.
        case controlCharacter = "a control character in a string must be escaped"
        /// A backslash is followed by something that means nothing.
        case malformedEscape = "this is not an escape of JSON"
        /// U+0000, raw or escaped: databases cannot store it.
        case nul = "U+0000 is not allowed"
        /// Half of a surrogate pair: no text.
        case loneSurrogate = "half of a surrogate pair is not allowed"
        /// The bytes of a string are not UTF-8.
        case invalidUTF8 = "these bytes are not UTF-8"
        /// Two members of an object have the same name.
        case duplicateName = "this member's name was used before in its object"
        /// Arrays and objects stand too deep inside each other.
        case tooDeep = "arrays and objects are nested too deeply"
        /// The text is not an array where only an array will do.
        case notAnArray = "an array is needed here"
    }

    /// What is wrong.
    package let reason: Reason
    /// Where, in bytes from the beginning.
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
