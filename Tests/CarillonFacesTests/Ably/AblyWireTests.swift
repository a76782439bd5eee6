import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

@Suite(.ably) struct AblyWireTests {
    private let ably: AblyService = lent()
    private static let device: JSONValue = [
        "id": "d1", "platform": "ios", "formFactor": "phone",
        "push": ["recipient": ["transportType": "apns", "deviceToken": "ab"]],
    ]
    private static let path = "/push/deviceRegistrations/d1"

    @Test(arguments: ["application/x-www-form-urlencoded", "text/plain", "application/xml", "multipart/form-data"])
    func `bodies of web pages' forms are refused`(type: String) async throws {
        let answer = try await ably.call(.post, "/push/publish", "a=b", headers: ["content-type": type])
        #expect(answer.error == [415, 40000])
    }

    @Test func `bodies are MessagePack as well as JSON, and so are answers and errors where that is asked for`()
        async throws
    {
        let packed = ["content-type": "application/x-msgpack", "accept": "application/x-msgpack"]
        let saved = try await ably.call(.put, Self.path, bytes: Self.device.messagePack, headers: packed)
        #expect(saved.status == 200 && saved.headers[.contentType] == "application/x-msgpack")
        #expect(saved["id"] == "d1")
        let plain = try await ably.call(.get, Self.path)
        #expect(plain.headers[.contentType] == "application/json" && plain.json == saved.json)
        for (accept, type) in [
            ("*/*", "application/json"),
            ("application/x-msgpack;q=0.5, application/json;q=0.4", "application/x-msgpack"),
            ("application/x-msgpack;q=0", "application/json"),
            ("application/json, application/x-msgpack", "application/json"),
            ("text/html", "application/json"),
        ] {
            let answer = try await ably.call(.get, Self.path, headers: ["accept": accept])
            #expect(answer.headers[.contentType] == type, "\(accept)")
        }
        let query = try await ably.call(.get, Self.path + "?format=msgpack")
        #expect(query.headers[.contentType] == "application/x-msgpack")
        let missing = try await ably.call(.get, "/push/deviceRegistrations/none", headers: packed)
        #expect(missing.error == [404, 40400] && missing.headers[.contentType] == "application/x-msgpack")
    }

    @Test func `MessagePack that lies, nests or cannot be stored is refused`() async throws {
        let bodies: [[UInt8]] = [
            [], [0xDB, 0xFF, 0xFF, 0xFF, 0xFF], [0xDF, 0xFF, 0xFF, 0xFF, 0xFF], [UInt8](repeating: 0x91, count: 10_000),
            [0xC1],
            [0x81, 0xA2, 0x69, 0x64, 0xA2, 0xC3, 0x28], [0x81, 0xA2, 0xC3, 0x28, 0xC0], [0xD9, 1, 0xFF],
            (["id": "d1\u{0}"] as JSONValue).messagePack, (["\u{0}": 1] as JSONValue).messagePack,
        ]
        for body in bodies {
            let headers = ["content-type": "application/x-msgpack"]
            let answer = try await ably.call(.put, Self.path, bytes: body, headers: headers)
            #expect(answer.error == [400, 40000], "\(body.prefix(8))")
        }
        // The content of a message is nobody's concern, be it binary.
        let message: JSONValue = ["name": "n", "data": "\u{0}"]
        let headers = ["content-type": "application/x-msgpack"]
        let path = "/channels/open:a/messages"
        #expect(try await ably.call(.post, path, bytes: message.messagePack, headers: headers).status == 201)
    }

    @Test func `whatever goes wrong is said in Ably's envelope`() async throws {
        #expect(try await ably.call(.get, "/push/nothing").error == [404, 40400])
        #expect(try await ably.call(.put, "/push/publish", "{}").error == [405, 40500])
        #expect(try await ably.call(.get, "/push/deviceRegistrations/%FF").error == [400, 40000])
        ably.stage.database.answers(false)
        let away = try await ably.call(.get, Self.path)
        #expect(away.error == [503, 50003] && away.headers[.retryAfter] != nil)
    }

    @Test func `an app that asks too often is told to wait, an administrator is not`() async throws {
        var last: Answer?
        for _ in 0..<250 where last?.status != 429 {
            last = try await ably.call(.get, "/push/channelSubscriptions", as: AblyService.app())
        }
        #expect(last?.error == [429, 42910] && last?.headers[.retryAfter] != nil)
        #expect(try await ably.call(.get, "/push/channelSubscriptions", as: AblyService.app("bob")).status == 200)
    }
}

@Suite struct MessagePackTests {
    private static let values: [JSONValue] = [
        .null, true, false, 0, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_296, -1, -32, -33, -128, -129, -32_769,
        .number(JSONNumber(Int.min)), .number(JSONNumber(Int.max)), .number(JSONNumber(1.5) ?? JSONNumber(0)), "", "é😀",
        .string(String(repeating: "x", count: 31)), .string(String(repeating: "x", count: 32)),
        .string(String(repeating: "x", count: 70_000)), [], .array((0..<20).map { .number(JSONNumber($0)) }),
        ["a": [1, .null, ["b": "c"]]],
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

    @Test func `runs of combining marks are bounded, as in JSON`() throws {
        let bytes = [0xDA, 1, 2] + Array(String(repeating: "\u{316}", count: 129).utf8)
        let bounded = String(repeating: "\u{316}", count: 128) + "\u{34F}\u{316}"
        #expect(try MessagePackReader.value(of: bytes).text.map { Array($0.utf8) } == Array(bounded.utf8))
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
