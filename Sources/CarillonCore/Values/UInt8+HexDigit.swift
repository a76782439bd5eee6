extension UInt8 {
    /// Whether it is a hexadecimal digit in ASCII, of either case.
    package var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        case UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
