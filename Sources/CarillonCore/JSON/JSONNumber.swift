/// A JSON number that keeps the digits it was written with, so that storing and forwarding it loses nothing.
///
/// Two numbers are equal when they are written alike: `1`, `1.0` and `1e0` are three numbers.
package struct JSONNumber: Sendable, Equatable {
    /// The number as in the JSON text.
    package let literal: String

    /// Takes a literal that a parser has checked against the grammar of RFC 8259 section 6.
    init(checked literal: String) {
        self.literal = literal
    }

    package init(_ value: Int) {
        literal = String(value)
    }

    /// The shortest literal that reads back as `value`; `nil` for infinities and NaN, which JSON cannot write.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        literal = value.description
    }

    /// The number when it is whole, however it is written: `10`, `10.0`, `1e1`; the latter two only below 2^53, up to
    /// where floating-point numbers tell all integers apart.
    package var integer: Int? {
        Int(literal) ?? double.flatMap { abs($0) < 0x1p53 ? Int(exactly: $0) : nil }
    }

    /// The nearest floating-point number; a parsed number always has one.
    package var double: Double? {
        Double(literal).flatMap { $0.isFinite ? $0 : nil }
    }
}
