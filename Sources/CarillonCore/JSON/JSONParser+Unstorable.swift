/// Leaves out what is well-formed and cannot be stored, where the limits say so.
extension JSONParser {
    /// The name of a member; `nil` where that cannot be stored, so that the member is left out.
    mutating func name(in depth: Int) throws(JSONSyntaxError) -> String? {
        let start = position
        do throws(JSONSyntaxError) {
            return try string()
        } catch {
            guard try leavesOut(error, valueAt: start, in: depth) else { throw error }
            return nil
        }
    }

    mutating func skipColon() throws(JSONSyntaxError) {
        skipWhiteSpace()
        guard skip(":") else { throw failure(peek() == nil ? .unexpectedEnd : .colonExpected) }
        skipWhiteSpace()
    }

    /// The value of a member; `nil` where it is left out.
    mutating func value(of name: String, depth: Int) throws(JSONSyntaxError) -> JSONValue? {
        guard let cleanedNames else { return try value(depth: depth) }
        let start = position
        isCleaning = peek() == UInt8(ascii: "\"") && cleanedNames.contains(name)
        let isEntire = entireDepth == nil && entireNames.contains(name)
        if isEntire { entireDepth = depth + 1 }
        defer {
            isCleaning = false
            if isEntire { entireDepth = nil }
        }
        do throws(JSONSyntaxError) {
            return try value(depth: depth)
        } catch {
            guard try leavesOut(error, valueAt: start, in: depth) else { throw error }
            return nil
        }
    }

    /// Whether a value of what stands so deep can be left out for what is wrong with it; it is passed over then.
    mutating func leavesOut(
        _ error: JSONSyntaxError,
        valueAt start: Int,
        in depth: Int
    ) throws(JSONSyntaxError) -> Bool {
        guard cleanedNames != nil, error.reason.isUnstorable, depth <= entireDepth ?? .max else { return false }
        position = start
        try skipValue()
        return true
    }

    /// Passes over a value by its brackets and quotes; what is between them is not looked at.
    mutating func skipValue() throws(JSONSyntaxError) {
        var open: [UInt8] = []
        repeat {
            guard let byte = peek() else { throw failure(.unexpectedEnd) }
            switch byte {
            case UInt8(ascii: "\""):
                try skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                open.append(byte)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // In ASCII the brackets that end stand two behind those that begin.
                guard let last = open.popLast(), byte == last + 2 else { throw failure(.valueExpected) }
            default:
                if open.isEmpty { return skipScalar() }
            }
            position += 1
        } while !open.isEmpty
    }

    private mutating func skipString() throws(JSONSyntaxError) {
        position += 1
        while let byte = peek() {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return }
        }
        throw failure(.unexpectedEnd)
    }

    private mutating func skipScalar() {
        while let byte = peek(), !",]}".utf8.contains(byte), !Self.isWhiteSpace(byte) { position += 1 }
    }
}

extension JSONSyntaxError.Reason {
    /// Whether it is well-formed JSON (RFC 8259) that is only too much, or no text to store.
    var isUnstorable: Bool {
        switch self {
        case .nul, .loneSurrogate, .numberTooLong, .numberTooLarge, .tooDeep: true
        case .empty, .byteOrderMark, .unexpectedEnd, .valueExpected, .nameExpected, .colonExpected,
            .commaOrBracketExpected, .commaOrBraceExpected, .trailingContent, .malformedNumber, .controlCharacter,
            .malformedEscape, .invalidUTF8, .duplicateName, .notAnArray:
            false
        }
    }
}
