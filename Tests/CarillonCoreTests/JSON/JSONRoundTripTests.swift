import CarillonCore
import CarillonTesting
import Testing

@Suite struct JSONRoundTripTests {
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `reads what it wrote`(seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        for _ in 0..<20 {
            let value = generator.value(depth: 0)
            let bytes = value.serialized
            let read = try JSONValue(parsing: bytes)
            #expect(read == value)
            #expect(read.serialized == bytes)
        }
    }

    /// A changed byte may still be JSON; what is accepted must then survive being written and read again.
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `never accepts damaged bytes as something that it cannot write`(seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        let intact = generator.value(depth: 0).serialized
        for _ in 0..<200 {
            var bytes = intact
            let position = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[position] = .random(in: .min ... .max, using: &generator)
            case 1: bytes.remove(at: position)
            default: bytes.insert(.random(in: .min ... .max, using: &generator), at: position)
            }
            guard let value = try? JSONValue(parsing: bytes) else {
                #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
                continue
            }
            #expect(String(validating: bytes, as: UTF8.self) != nil)
            #expect(try JSONValue(parsing: value.serialized) == value)
        }
    }
}

/// JSON of every kind.
extension SplitMix {
    fileprivate mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth < 5 ? 8 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .number(JSONNumber(.random(in: .min ... .max, using: &self)))
        case 3: return JSONNumber(Double(bitPattern: next())).map(JSONValue.number) ?? .null
        case 4, 5: return .string(text())
        case 6: return .array((0..<count()).map { _ in value(depth: depth + 1) })
        default:
            var object = JSONObject()
            for _ in 0..<count() {
                object[text()] = value(depth: depth + 1)
            }
            return .object(object)
        }
    }

    private mutating func count() -> Int {
        Bool.random(using: &self) ? .random(in: 0..<4, using: &self) : .random(in: 0..<24, using: &self)
    }

    private mutating func text() -> String {
        var text = ""
        for _ in 0..<count() {
            let limits: [UInt32] = [0x20, 0x80, 0x800, 0x1_0000, 0x11_0000]
            let limit = limits[Int.random(in: limits.indices, using: &self)]
            let scalar = Unicode.Scalar(UInt32.random(in: 1..<limit, using: &self)) ?? "\\"
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}
