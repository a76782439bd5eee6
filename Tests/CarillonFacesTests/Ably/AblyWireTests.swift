import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

@Suite struct AblyWireTests {
    private static let device: JSONValue = [
        "id": "d1", "platform": "ios", "formFactor": "phone",
        "push": ["recipient": ["transportType": "apns", "deviceToken": "ab"]],
    ]
    private static let path = "/push/deviceRegistrations/d1"

    @Test(arguments: ["application/x-www-form-urlencoded", "text/plain", "application/xml", "multipart/form-data"])
    func `bodies of web pages' forms are refused`(type: String) async throws {
        try await withAbly { (ably: AblyService) async throws in
            let answer = try await ably.call(.post, "/push/publish", "a=b", headers: ["content-type": type])
            #expect(answer.error == [415, 40000])
        }
    }

    @Test func `bodies are MessagePack as well as JSON, and so are answers and errors where that is asked for`()
        async throws
    {
        try await withAbly { (ably: AblyService) async throws in
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
    }

    @Test func `MessagePack that lies, nests or cannot be stored is refused`() async throws {
        let bodies: [[UInt8]] = [
            [], [0xDB, 0xFF, 0xFF, 0xFF, 0xFF], [0xDF, 0xFF, 0xFF, 0xFF, 0xFF], [UInt8](repeating: 0x91, count: 10_000),
            [0xC1],
            [0x81, 0xA2, 0x69, 0x64, 0xA2, 0xC3, 0x28], [0x81, 0xA2, 0xC3, 0x28, 0xC0], [0xD9, 1, 0xFF],
            (["id": "d1\u{0}"] as JSONValue).messagePack, (["\u{0}": 1] as JSONValue).messagePack,
        ]
        try await withAbly { (ably: AblyService) async throws in
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
    }

    @Test func `whatever goes wrong is said in Ably's envelope`() async throws {
        try await withAbly { (ably: AblyService) async throws in
            #expect(try await ably.call(.get, "/push/nothing").error == [404, 40400])
            #expect(try await ably.call(.put, "/push/publish", "{}").error == [405, 40500])
            #expect(try await ably.call(.get, "/push/deviceRegistrations/%FF").error == [400, 40000])
            ably.stage.database.answers(false)
            let away = try await ably.call(.get, Self.path)
            #expect(away.error == [503, 50003] && away.headers[.retryAfter] != nil)
        }
    }

    @Test func `an app that asks too often is told to wait, an administrator is not`() async throws {
        try await withAbly { (ably: AblyService) async throws in
            var last: FaceAnswer?
            for _ in 0..<250 where last?.status != 429 {
                last = try await ably.call(.get, "/push/channelSubscriptions", as: AblyService.app())
            }
            #expect(last?.error == [429, 42910] && last?.headers[.retryAfter] != nil)
            #expect(try await ably.call(.get, "/push/channelSubscriptions", as: AblyService.app("bob")).status == 200)
        }
    }
}
