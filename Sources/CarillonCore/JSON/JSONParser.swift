/// Reads one JSON text (RFC 8259) in a single pass over its bytes, and takes nothing that the RFC does not allow.
///
/// Stricter than the RFC where it leaves the choice: names are unique, U+0000 and lone surrogates are refused even as
/// escapes, numbers are finite in double precision, and depth and digits are limited. Recursion is bounded by the
/// depth limit, which is checked on the way in. The bytes are borrowed, and every access to them goes through `peek()`
/// or a range that was walked by it. Where the limits say so, what cannot be stored is passed over; each byte of it is
/// walked once more.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    /// The members whose strings are cleaned; `nil` where nothing is left out.
    let cleanedNames: Set<String>?
    /// The objects of whose members nothing is kept when something in them is left out.
    let entireNames: Set<String>
    /// How deep the innermost of these stands that is being read.
    var entireDepth: Int?
    /// Whether the string that is read loses what cannot be stored.
    var isCleaning = false
    var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
        switch limits.unstorable {
        case .refused: (cleanedNames, entireNames) = (nil, [])
        case .leftOut(let cleaned, let entire): (cleanedNames, entireNames) = (cleaned, entire)
        }
    }

    /// The whole text as one value.
    mutating func document() throws(JSONSyntaxError) -> JSONValue {
        try begin()
        do throws(JSONSyntaxError) {
            let value = try value(depth: 0)
            try end()
            return value
        } catch {
            // There is nothing that the whole could be left out of.
            throw error.line > 0 ? error : JSONSyntaxError(error.reason, at: error.byteOffset, of: bytes)
        }
    }

    /// The whole text as an array, with the bytes that each element takes.
    mutating func elements() throws(JSONSyntaxError) -> [(range: Range<Int>, value: JSONValue)] {
        try begin()
        guard peek() == UInt8(ascii: "[") else { throw failure(.notAnArray) }
        var elements: [(range: Range<Int>, value: JSONValue)] = []
        try forEachElement(depth: 1) { elements.append(($0, $1)) }
        try end()
        return elements
    }

    private mutating func begin() throws(JSONSyntaxError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw failure(.byteOrderMark) }
        skipWhiteSpace()
        if peek() == nil { throw failure(.empty) }
    }

    private mutating func end() throws(JSONSyntaxError) {
        skipWhiteSpace()
        if peek() != nil { throw failure(.trailingContent) }
    }

    mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard let byte = peek() else { throw failure(.unexpectedEnd) }
        switch byte {
        case UInt8(ascii: "\""):
            return .string(try string())
        case UInt8(ascii: "{"):
            return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["):
            var array: [JSONValue] = []
            try forEachElement(depth: depth + 1) { array.append($1) }
            return .array(array)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try number())
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            throw failure(.valueExpected)
        }
    }

    private mutating func literal(_ word: StaticString) throws(JSONSyntaxError) {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard let byte = peek() else { throw failure(.unexpectedEnd) }
            guard byte == word.utf8Start[index] else { throw failure(.valueExpected, at: start) }
            position += 1
        }
    }

    private mutating func forEachElement(
        depth: Int,
        _ take: (Range<Int>, JSONValue) -> Void
    ) throws(JSONSyntaxError) {
        if depth > limits.depth { throw failure(.tooDeep) }
        position += 1
        skipWhiteSpace()
        if skip("]") { return }
        var index = 0
        while true {
            let start = position
            do throws(JSONSyntaxError) {
                let value = try value(depth: depth)
                take(start..<position, value)
            } catch {
                guard try leavesOut(error, valueAt: start, in: depth) else {
                    throw error.inside(JSONPointer.step(index))
                }
            }
            index += 1
            skipWhiteSpace()
            if skip("]") { return }
            guard skip(",") else { throw failure(peek() == nil ? .unexpectedEnd : .commaOrBracketExpected) }
            skipWhiteSpace()
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
        if depth > limits.depth { throw failure(.tooDeep) }
        var object = JSONObject()
        position += 1
        skipWhiteSpace()
        if skip("}") { return object }
        object.reserveCapacity(4)
        while true {
            let start = position
            guard peek() == UInt8(ascii: "\"") else {
                throw failure(peek() == nil ? .unexpectedEnd : .nameExpected)
            }
            if let name = try name(in: depth) {
                do throws(JSONSyntaxError) {
                    try skipColon()
                    if let value = try value(of: name, depth: depth), !object.append(name, value) {
                        throw failure(.duplicateName, at: start)
                    }
                } catch {
                    throw error.inside(JSONPointer.step(name))
                }
            } else {
                try skipColon()
                try skipValue()
            }
            skipWhiteSpace()
            if skip("}") { return object }
            guard skip(",") else { throw failure(peek() == nil ? .unexpectedEnd : .commaOrBraceExpected) }
            skipWhiteSpace()
        }
    }
}

// MARK: - Strings

extension JSONParser {
    mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        var allBits: UInt8 = 0
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                let content = UnsafeBufferPointer(rebasing: bytes[start..<position])
                // Most strings are ASCII, for which making them needs no validation.
                let isASCII = allBits < 0x80
                let text = isASCII ? String(decoding: content, as: UTF8.self) : try text(content, from: start)
                position += 1
                return text
            case UInt8(ascii: "\\"):
                return try stringWithEscapes(from: start)
            case 0..<0x20:
                throw failure(byte == 0 ? .nul : .controlCharacter)
            default:
                allBits |= byte
                position += 1
            }
        }
        throw failure(.unexpectedEnd)
    }

    /// Goes on with a string at its first backslash.
    private mutating func stringWithEscapes(from start: Int) throws(JSONSyntaxError) -> String {
        var unescaped = Array(bytes[start..<position])
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try text(unescaped, from: start)
                position += 1
                return text
            case UInt8(ascii: "\\"):
                try escape(into: &unescaped)
            case 0..<0x20:
                throw failure(byte == 0 ? .nul : .controlCharacter)
            default:
                unescaped.append(byte)
                position += 1
            }
        }
        throw failure(.unexpectedEnd)
    }

    /// Checks the encoding once, while the string is made. An escape is ASCII and stands for valid UTF-8, so the first
    /// invalid byte of the source is the first one of what it stands for.
    private func text(_ text: some Collection<UInt8>, from start: Int) throws(JSONSyntaxError) -> String {
        if let text = String(boundingMarksOf: text) { return text }
        throw failure(.invalidUTF8, at: start + UTF8Validation.validPrefix(of: bytes[start..<position]))
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
        let start = position
        position += 1
        guard let byte = peek() else { throw failure(.unexpectedEnd) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            if let scalar = try escapedScalar(from: start) { text.append(contentsOf: String(scalar).utf8) }
        default: throw failure(.malformedEscape, at: start)
        }
    }

    /// What an escape stands for; `nil` for what is cleaned away.
    private mutating func escapedScalar(from start: Int) throws(JSONSyntaxError) -> Unicode.Scalar? {
        let first = try codeUnit(from: start)
        if first == 0 { return try unstorable(.nul, at: start) }
        if let scalar = Unicode.Scalar(first) { return scalar }
        let end = position
        guard UTF16.isLeadSurrogate(UInt16(first)), skip("\\"), skip("u") else {
            position = end
            return try unstorable(.loneSurrogate, at: start)
        }
        let second = try codeUnit(from: position - 2)
        guard
            UTF16.isTrailSurrogate(UInt16(second)),
            let scalar = Unicode.Scalar(0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else {
            // What follows the half stands for itself.
            position = end
            return try unstorable(.loneSurrogate, at: start)
        }
        return scalar
    }

    private func unstorable(_ reason: JSONSyntaxError.Reason, at start: Int) throws(JSONSyntaxError) -> Unicode.Scalar?
    {
        if isCleaning { return nil }
        throw failure(reason, at: start)
    }

    /// The four hexadecimal digits of an escape.
    private mutating func codeUnit(from start: Int) throws(JSONSyntaxError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek() else { throw failure(.unexpectedEnd) }
            guard let digit = byte.hexValue else { throw failure(.malformedEscape, at: start) }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

// MARK: - Numbers

extension JSONParser {
    private mutating func number() throws(JSONSyntaxError) -> JSONNumber {
        let start = position
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        let hasExponent = skip("e") || skip("E")
        if hasExponent {
            _ = skip("+") || skip("-")
            try digits()
        }
        if position - start > limits.numberDigits { throw failure(.numberTooLong, at: start) }
        let number = JSONNumber(checked: String(decoding: bytes[start..<position], as: UTF8.self))
        if hasExponent, number.double == nil { throw failure(.numberTooLarge, at: start) }
        return number
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = peek(), UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
            position += 1
        }
        if position == start { throw failure(peek() == nil ? .unexpectedEnd : .malformedNumber) }
    }
}

// MARK: - Bytes

extension JSONParser {
    func peek() -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func skipWhiteSpace() {
        while let byte = peek(), Self.isWhiteSpace(byte) {
            position += 1
        }
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    func failure(_ reason: JSONSyntaxError.Reason, at offset: Int? = nil) -> JSONSyntaxError {
        // What is passed over has no reader, and finding its line takes a walk through all that stands before it.
        if cleanedNames != nil, reason.isUnstorable {
            return JSONSyntaxError(passedOver: reason, at: offset ?? position)
        }
        return JSONSyntaxError(reason, at: offset ?? position, of: bytes)
    }
}
