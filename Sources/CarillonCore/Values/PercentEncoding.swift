extension String {
    /// As a segment of a path or the value of a parameter (RFC 3986 section 2.3): ASCII letters, digits and `-._~` as they are.
    package var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            if byte.isUnreserved {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Percent-encoding (RFC 3986 section 2.1), decoded exactly once.
package enum PercentEncoding {
    /// The text; `nil` for a percent sign without two digits, and for bytes that are no UTF-8.
    ///
    /// - Parameters:
    ///   - text: The encoded text.
    ///   - plusIsSpace: Whether `+` stands for a space, as in queries made from forms; in paths it is itself.
    /// - Returns: The decoded text.
    package static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        decode(text.utf8, plusIsSpace: plusIsSpace)
    }

    /// The text, in which a percent sign without two digits stands for itself; `nil` for bytes that are no UTF-8.
    package static func decodeLeniently(_ text: String) -> String? { decode(text.utf8[...], isLenient: true) }

    /// The fields of a body of type `application/x-www-form-urlencoded`, in their order; `nil` where one cannot be decoded, or there are
    /// more than `limit`.
    package static func fields(of body: [UInt8], upTo limit: Int = .max) -> [(name: String, value: String)]? {
        let pairs = body.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= limit else { return nil }
        var fields: [(name: String, value: String)] = []
        for pair in pairs {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(parts[0], plusIsSpace: true),
                let value = decode(parts.count == 2 ? parts[1] : [], plusIsSpace: true)
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    private static func decode<Bytes: Collection<UInt8>>(
        _ bytes: Bytes,
        plusIsSpace: Bool = false,
        isLenient: Bool = false
    ) -> String? where Bytes.SubSequence == Bytes {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                var digits = rest
                if let high = digits.popFirst()?.hexValue, let low = digits.popFirst()?.hexValue {
                    decoded.append(high << 4 | low)
                    rest = digits
                } else {
                    guard isLenient else { return nil }
                    decoded.append(byte)
                }
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return String(boundingMarksOf: decoded)
    }
}
