import CarillonCore
import Testing

@testable import CarillonFaces

@Suite struct MessagePackTests {
    private static let values: [JSONValue] = [
        .null, true, false, 0, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_296, -1, -32, -33, -128, -129, -32_769,
        .number(JSONNumber(Int.min)), .number(JSONNumber(Int.max)), .number(JSONNumber(1.5) ?? JSONNumber(0)), "", "é😀",
        .string(String(repeating: "x", count: 31)), .string(String(repeating: "x", count: 32)),
        .string(String(repeating: "x", count: 70_000)), [], .array((0..<20).map { .number(JSONNumber($0)) }),
        ["a": [1, nil, ["b": "c"]]],
    ]

    @Test(arguments: values)
    func `what is written is read back`(value: JSONValue) throws {
        #expect(try MessagePackReader.value(of: value.messagePack) == value)
    }

    @Test(
        arguments: [
            ([0xA3, 0x61, 0x62, 0x63], "abc"), ([0xD9, 3, 0x61, 0x62, 0x63], "abc"),
            ([0xDA, 0, 3, 0x61, 0x62, 0x63], "abc"),
            ([0xDB, 0, 0, 0, 3, 0x61, 0x62, 0x63], "abc"), ([0xC4, 3, 0x61, 0x62, 0x63], "abc"),
            ([0xC5, 0, 3, 0x61, 0x62, 0x63], "abc"), ([0xC6, 0, 0, 0, 1, 0xFF], "_w"), ([0xA2, 0xC3, 0x28], "\0"),
            ([0xD9, 1, 0xFF], "\0"), ([0xC4, 2, 0xC3, 0x28], "wyg"),
        ] as [([UInt8], String)]
    )
    func `texts are read of the old family and of the new one, bytes as base64url, and what is no UTF-8 as U+0000`(
        bytes: [UInt8],
        text: String
    ) throws {
        #expect(try MessagePackReader.value(of: bytes) == .string(text))
    }

    @Test(
        arguments: [
            ([0xCC, 200], 200), ([0xCD, 1, 0], 256), ([0xD0, 0xFF], -1), ([0xD1, 0x80, 0], -32_768), ([0xE0], -32),
            ([0xCF, 0, 0, 0, 0, 0, 0, 0, 9], 9),
        ] as [([UInt8], Int)]
    )
    func `whole numbers are read in every width`(bytes: [UInt8], number: Int) throws {
        #expect(try MessagePackReader.value(of: bytes) == .number(JSONNumber(number)))
    }

    @Test(
        arguments: [
            ([], .empty), ([0xC1], .reserved), ([0xA5, 0x61], .endsEarly),
            ([0xDB, 0xFF, 0xFF, 0xFF, 0xFF], .endsEarly),
            ([0xC6, 0x7F, 0xFF, 0xFF, 0xFF, 0], .endsEarly), ([0xDD, 0xFF, 0xFF, 0xFF, 0xFF, 0xC0], .endsEarly),
            ([0xDF, 0xFF, 0xFF, 0xFF, 0xFF, 0xA0, 0xC0], .endsEarly), ([0x92, 0xC0], .endsEarly),
            ([0x81, 0xA1, 0x61], .endsEarly),
            ([0xCE, 1, 2], .endsEarly), ([0xDA, 0], .endsEarly), ([0xC0, 0xC0], .trailing),
            ([0x81, 0x01, 0xC0], .keyIsNoText),
            ([0x82, 0xA1, 0x61, 0xC0, 0xA1, 0x61, 0xC0], .duplicateKey), ([0xD4, 0, 0], .extensionType),
            ([0xC7, 0, 0], .extensionType), ([0xCB, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0], .notANumber),
            ([0xCA, 0x7F, 0xC0, 0, 0], .notANumber),
        ] as [([UInt8], MessagePackError)]
    )
    func `what lies or means nothing is refused`(bytes: [UInt8], error: MessagePackError) throws {
        #expect(throws: error) { try MessagePackReader.value(of: bytes) }
    }

    @Test(arguments: [[0x91], [0x81, 0xA0]] as [[UInt8]])
    func `values stand 64 deep inside each other and no deeper`(layer: [UInt8]) throws {
        func nested(_ depth: Int) -> [UInt8] { (0..<depth).flatMap { _ in layer } + [0xC0] }
        _ = try MessagePackReader.value(of: nested(64))
        #expect(throws: MessagePackError.tooDeep) { try MessagePackReader.value(of: nested(65)) }
        #expect(throws: MessagePackError.tooDeep) { try MessagePackReader.value(of: nested(10_000)) }
    }

    @Test func `there are no more values than an honest body has`() throws {
        let count = MessagePackReader.maximumCount
        let bytes: [UInt8] = [0xDD] + withUnsafeBytes(of: UInt32(count).bigEndian, Array.init)
        #expect(throws: MessagePackError.tooMany) {
            try MessagePackReader.value(of: bytes + [UInt8](repeating: 0xC0, count: count))
        }
    }
}
