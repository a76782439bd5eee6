import CarillonCore

/// Reads MessagePack as the JSON that it stands for, whether it was written with the old `raw` family or with `str` and `bin`.
///
/// Believes no length: whatever is announced is compared with what is there before anything is made of it. Bytes come out as
/// base64url, and what is announced as a text and is none as U+0000, which no text that is accepted holds: it may stand where
/// nobody looks.
///
/// - SeeAlso: <https://github.com/msgpack/msgpack/blob/master/spec.md>
struct MessagePackReader: ~Copyable {
    /// How many arrays and maps may stand inside each other: as many as in JSON.
    static let maximumDepth = 64
    /// How many values there may be: a value takes many times the byte that it may be written with.
    static let maximumCount = 500_000

    private let bytes: [UInt8]
    private var position = 0
    private var count = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func value(of bytes: [UInt8]) throws(MessagePackError) -> JSONValue {
        guard !bytes.isEmpty else { throw .empty }
        var reader = MessagePackReader(bytes)
        let value = try reader.value(depth: 0)
        guard reader.position == bytes.count else { throw .trailing }
        return value
    }

    private mutating func value(depth: Int) throws(MessagePackError) -> JSONValue {
        count += 1
        guard count <= Self.maximumCount else { throw .tooMany }
        let byte = try next()
        switch byte {
        case 0x00...0x7F: return .number(JSONNumber(Int(byte)))
        case 0xE0...0xFF: return .number(JSONNumber(Int(Int8(bitPattern: byte))))
        case 0x80...0x8F: return try map(of: UInt64(byte & 0x0F), depth: depth)
        case 0x90...0x9F: return try array(of: UInt64(byte & 0x0F), depth: depth)
        case 0xA0...0xBF: return .string(try text(of: UInt64(byte & 0x1F)))
        case 0xC0: return .null
        case 0xC2, 0xC3: return .bool(byte == 0xC3)
        case 0xC4...0xC6:
            let bytes = try content(of: unsigned(1 << Int(byte - 0xC4)))
            return .string(String(boundingMarksOf: bytes) ?? Base64URL.encode(bytes))
        case 0xD9...0xDB: return .string(try text(of: unsigned(1 << Int(byte - 0xD9))))
        case 0xDC, 0xDD: return try array(of: unsigned(byte == 0xDC ? 2 : 4), depth: depth)
        case 0xDE, 0xDF: return try map(of: unsigned(byte == 0xDE ? 2 : 4), depth: depth)
        case 0xC1: throw .reserved
        case 0xC7...0xC9, 0xD4...0xD8: throw .extensionType
        default: return .number(try number(byte))
        }
    }

    private mutating func number(_ byte: UInt8) throws(MessagePackError) -> JSONNumber {
        switch byte {
        case 0xCA: return try floating(Double(Float(bitPattern: UInt32(try unsigned(4)))))
        case 0xCB: return try floating(Double(bitPattern: try unsigned(8)))
        case 0xCC...0xCF:
            let value = try unsigned(1 << Int(byte - 0xCC))
            if let value = Int(exactly: value) { return JSONNumber(value) }
            return try floating(Double(value))
        default:
            // The sign is that of the shortest form.
            let size = 1 << Int(byte - 0xD0)
            let shift = 64 - 8 * size
            return JSONNumber(Int(Int64(bitPattern: try unsigned(size) << UInt64(shift)) >> Int64(shift)))
        }
    }

    private func floating(_ value: Double) throws(MessagePackError) -> JSONNumber {
        guard let number = JSONNumber(value) else { throw .notANumber }
        return number
    }

    private mutating func array(of length: UInt64, depth: Int) throws(MessagePackError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        // Each takes a byte at least.
        guard length <= UInt64(bytes.count - position) else { throw .endsEarly }
        var elements: [JSONValue] = []
        for _ in 0..<length { elements.append(try value(depth: depth + 1)) }
        return .array(elements)
    }

    private mutating func map(of length: UInt64, depth: Int) throws(MessagePackError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        guard length <= UInt64(bytes.count - position) / 2 else { throw .endsEarly }
        var object = JSONObject()
        for _ in 0..<length {
            let key = try key()
            guard !object.contains(key) else { throw .duplicateKey }
            object[key] = try value(depth: depth + 1)
        }
        return .object(object)
    }

    private mutating func key() throws(MessagePackError) -> String {
        let byte = try next()
        switch byte {
        case 0xA0...0xBF: return try text(of: UInt64(byte & 0x1F))
        case 0xD9...0xDB: return try text(of: unsigned(1 << Int(byte - 0xD9)))
        default: throw .keyIsNoText
        }
    }

    private mutating func text(of length: UInt64) throws(MessagePackError) -> String {
        String(boundingMarksOf: try content(of: length)) ?? "\0"
    }

    private mutating func content(of length: UInt64) throws(MessagePackError) -> ArraySlice<UInt8> {
        guard length <= UInt64(bytes.count - position) else { throw .endsEarly }
        defer { position += Int(length) }
        return bytes[position..<(position + Int(length))]
    }

    /// A number of some bytes, the greatest first.
    private mutating func unsigned(_ size: Int) throws(MessagePackError) -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<size { value = value << 8 | UInt64(try next()) }
        return value
    }

    private mutating func next() throws(MessagePackError) -> UInt8 {
        guard position < bytes.count else { throw .endsEarly }
        defer { position += 1 }
        return bytes[position]
    }
}

/// Says what makes bytes no MessagePack, or MessagePack that is not accepted; holds nothing of them.
enum MessagePackError: String, Error, CaseIterable {
    case empty = "a value is needed, there is nothing"
    case endsEarly = "it ends too early"
    case trailing = "there is something after the end of the value"
    case tooDeep = "arrays and maps are nested too deeply"
    case tooMany = "there are too many values"
    case keyIsNoText = "the keys of a map must be texts"
    case duplicateKey = "a key of a map was used before in it"
    case notANumber = "infinities and NaN are not allowed"
    case extensionType = "extension types are not known here"
    case reserved = "a byte means nothing"
}
