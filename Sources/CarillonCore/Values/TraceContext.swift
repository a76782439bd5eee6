/// Where something stands in a trace of its sender's: what a `traceparent` says.
///
/// - SeeAlso: W3C Trace Context, https://www.w3.org/TR/trace-context/
package struct TraceContext: Sendable, Equatable {
    /// Where the request stands that the task answers.
    @TaskLocal package static var current: TraceContext?

    private static let length = 55
    /// Sampled, and made at random: the other flags mean nothing yet, and are not passed on.
    private static let knownFlags: UInt8 = 0x03

    private let high: UInt64
    private let low: UInt64
    private var parent: UInt64
    private let flags: UInt8

    /// Reads a header, also one of a later version as far as this one goes; `nil` for whatever is none, which is as good as no header.
    package init?(_ header: String) {
        let dash = UInt8(ascii: "-")
        let text = Array(header.utf8.prefix(Self.length + 1))
        guard text.count >= Self.length, text[2] == dash, text[35] == dash, text[52] == dash,
            let version = Self.number(text[..<2]), let high = Self.number(text[3..<19]),
            let low = Self.number(text[19..<35]), let parent = Self.number(text[36..<52]),
            let flags = Self.number(text[53..<55]), version != 0xFF, high | low != 0, parent != 0,
            text.count == Self.length || version > 0 && text[Self.length] == dash
        else { return nil }
        (self.high, self.low, self.parent) = (high, low, parent)
        self.flags = UInt8(flags) & Self.knownFlags
    }

    /// The id of the trace: 32 hexadecimal digits.
    package var traceID: String { Self.digits(high, 16) + Self.digits(low, 16) }

    package var header: String { "00-\(traceID)-\(Self.digits(parent, 16))-\(Self.digits(UInt64(flags), 2))" }

    /// Where what is sent on stands: in the same trace, below `parent`.
    package func next(_ parent: UInt64 = .random(in: 1 ... .max)) -> TraceContext {
        var next = self
        next.parent = parent
        return next
    }

    /// A number of small hexadecimal digits; others are none here.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard let value = digit.hexValue, hexDigit(value) == digit else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    private static func digits(_ number: UInt64, _ count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: count - digits.utf8.count) + digits
    }
}
