extension String {
    /// As a segment of a path or the value of a parameter (RFC 3986 section 2.3): ASCII letters, digits and `-._~` as they are.
    package var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            if byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
