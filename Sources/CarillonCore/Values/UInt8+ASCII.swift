extension UInt8 {
    package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    /// The value of a hexadecimal digit in ASCII, of either case; `nil` for anything else.
    package var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package var isHexDigit: Bool { hexValue != nil }

    /// Whether it stands for itself wherever it is in a URL (RFC 3986 section 2.3).
    package var isUnreserved: Bool { isASCIIAlphanumeric || "-._~".utf8.contains(self) }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hexadecimal digits.
    package var hexadecimal: String {
        String(decoding: flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
    }
}

/// The lower-case hexadecimal digit of a value below 16.
func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
