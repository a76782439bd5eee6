/// What a header of a push service may be.
enum HeaderForm: Sendable {
    case oneOf([String])
    /// A whole number of 32 bits that is not negative.
    case number
    /// Printable ASCII without spaces.
    case text(maximumBytes: Int)
    /// Characters of base64url (RFC 8030 section 5.4).
    case base64URL(maximum: Int)

    func admits(_ value: String) -> Bool {
        switch self {
        case .oneOf(let words): words.contains(value)
        case .number: UInt32(value) != nil && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        case .text(let maximum):
            (1...maximum).contains(value.utf8.count) && value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        case .base64URL(let maximum):
            (1...maximum).contains(value.utf8.count)
                && value.unicodeScalars.allSatisfy { scalar in
                    scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                        || scalar == "-" || scalar == "_"
                }
        }
    }

    /// What is said of a value that is not.
    var rule: String {
        switch self {
        case .oneOf(let words): "must be one of " + words.joined(separator: ", ")
        case .number: "must be a whole number of at most \(UInt32.max)"
        case .text(let maximum): "must be 1 to \(maximum) bytes of printable ASCII without spaces"
        case .base64URL(let maximum): "must be 1 to \(maximum) characters of base64url"
        }
    }
}
