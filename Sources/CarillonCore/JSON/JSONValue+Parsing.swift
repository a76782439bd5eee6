extension JSONValue {
    /// Reads a JSON text (RFC 8259) of UTF-8 bytes.
    ///
    /// Refused beyond the RFC: names used twice in an object, U+0000 and lone surrogates (escaped too), numbers that
    /// are not finite in double precision, a byte order mark, and whatever is over `limits`.
    package init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) {
        self = try bytes.withUnsafeBufferPointer { bytes throws(JSONSyntaxError) in
            var parser = JSONParser(bytes, limits: limits)
            return try parser.document()
        }
    }

    /// Reads a JSON text, under the same rules as bytes.
    package init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) {
        try self.init(parsing: Array(text.utf8), limits: limits)
    }

    /// Reads a JSON array, and says for each element which bytes it takes, so that it can be kept as it was written.
    ///
    /// Anything but an array is `JSONSyntaxError.Reason.notAnArray`. The array itself counts for the depth.
    package static func parseElements(
        of bytes: [UInt8]
    ) throws(JSONSyntaxError) -> [(range: Range<Int>, value: JSONValue)] {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONSyntaxError) in
            var parser = JSONParser(bytes, limits: JSONLimits())
            return try parser.elements()
        }
    }

    /// Whether the text, if it is JSON, is an array.
    static func beginsArray(_ bytes: [UInt8]) -> Bool {
        bytes.first { !JSONParser.isWhiteSpace($0) } == UInt8(ascii: "[")
    }
}
