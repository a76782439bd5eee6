import CarillonCore

extension JSONValue {
    /// The value as MessagePack, in the forms that readers of before `str` and `bin` know, too.
    var messagePack: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0xC0)
        case .bool(let bool): bytes.append(bool ? 0xC3 : 0xC2)
        case .number(let number): Self.append(number, to: &bytes)
        case .string(let text): Self.append(text, to: &bytes)
        case .array(let elements):
            Self.append(elements.count, short: 0x90, upTo: 15, long: (0xDC, 0xDD), to: &bytes)
            for element in elements { element.append(to: &bytes) }
        case .object(let object):
            Self.append(object.count, short: 0x80, upTo: 15, long: (0xDE, 0xDF), to: &bytes)
            for (key, value) in object.members {
                Self.append(key, to: &bytes)
                value.append(to: &bytes)
            }
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        append(text.utf8.count, short: 0xA0, upTo: 31, long: (0xDA, 0xDB), to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    /// The head of something that has a length.
    private static func append(
        _ length: Int,
        short: UInt8,
        upTo limit: Int,
        long: (UInt8, UInt8),
        to bytes: inout [UInt8]
    ) {
        if length <= limit {
            bytes.append(short | UInt8(length))
        } else if let length = UInt16(exactly: length) {
            bytes.append(long.0)
            append(bytesOf: length, to: &bytes)
        } else {
            bytes.append(long.1)
            append(bytesOf: UInt32(clamping: length), to: &bytes)
        }
    }

    private static func append(_ number: JSONNumber, to bytes: inout [UInt8]) {
        guard let integer = Int(number.literal) else {
            bytes.append(0xCB)
            append(bytesOf: (number.double ?? 0).bitPattern, to: &bytes)
            return
        }
        if (-32...127).contains(integer) {
            bytes.append(UInt8(truncatingIfNeeded: integer))
        } else if let small = Int16(exactly: integer) {
            bytes.append(0xD1)
            append(bytesOf: UInt16(bitPattern: small), to: &bytes)
        } else if let middle = Int32(exactly: integer) {
            bytes.append(0xD2)
            append(bytesOf: UInt32(bitPattern: middle), to: &bytes)
        } else {
            bytes.append(0xD3)
            append(bytesOf: UInt64(bitPattern: Int64(integer)), to: &bytes)
        }
    }

    private static func append(bytesOf value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
