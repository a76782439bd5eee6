import CarillonCore
import Foundation
import Testing

@testable import CarillonProviders
@testable import PushHTTP

@Suite struct FCMMessageTests {
    private let id = NotificationID(event: .example, device: DeviceID(trusted: "d-0"))

    private func body(_ group: DeliveryGroup, timeToLive: Int = 86_400) throws -> [UInt8] {
        FCMMessage(group).body(to: group.targets[0].address?.text ?? "", id: id, timeToLive: timeToLive)
    }

    private func group(
        token: String = "token-1",
        others: [String] = [],
        title: String = "Bob",
        body: String = "Bob has joined General"
    ) -> DeliveryGroup {
        .example(to: ([token] + others).map { .fcm(token: $0, appID: "com.acme.chat") }, title: title, body: body)
    }

    @Test func `is what the contract says, all data as strings`() throws {
        let expected: JSONValue = [
            "message": [
                "token": "token-1",
                "notification": ["title": "Bob", "body": "Bob has joined General"],
                "data": [
                    "eventId": "01020304-0506-7008-800a-0b0c0d0e0f10", "eventType": "member.joined",
                    "networkId": "acme", "channelId": "general", "notificationId": .string(id.description),
                ],
                "android": ["priority": "HIGH", "ttl": "86400s", "notification": ["tag": .string(id.description)]],
            ]
        ]
        #expect(try body(group()) == expected.serialized)
    }

    @Test(arguments: [(-5, "0s"), (0, "0s"), (7, "7s"), (9_999_999, "2419200s")])
    func `keeps the time to live within what FCM takes`(seconds: Int, expected: String) throws {
        let text = String(decoding: try body(group(), timeToLive: seconds), as: UTF8.self)
        #expect(text.contains(#""ttl":"\#(expected)""#))
    }

    @Test func `says in quotes whatever the token holds`() throws {
        let token = #"a"b\c"#
        let document = try JSONValue(parsing: body(group(token: token)))
        guard case .object(let root) = document, case .object(let message)? = root["message"] else {
            Issue.record("no message")
            return
        }
        #expect(message["token"] == .string(token))
    }

    @Test(arguments: [
        ("Bob", String(repeating: "word ", count: 5_000)), ("Bob", String(repeating: "👩‍👩‍👧‍👦", count: 500)),
        ("Bob", String(repeating: "e\u{301}\u{302}", count: 2_000)), ("Bob", String(repeating: "\"\\\n", count: 2_000)),
        (String(repeating: "title ", count: 2_000), "short"),
        (String(repeating: "\u{1}", count: 9_000), String(repeating: "ก็", count: 9_000)),
    ])
    func `cuts the text between characters so that the body fits 4096 bytes`(title: String, text: String) throws {
        let bytes = try body(group(title: title, body: text), timeToLive: 2_419_200)
        #expect(bytes.count <= 4_096)
        #expect(bytes.count > 2_000)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let message = try #require(json["message"] as? [String: Any])
        let shown = try #require(message["notification"] as? [String: String])
        for (name, whole) in [("title", title), ("body", text)] {
            let part = try #require(shown[name])
            #expect(part == whole || (part.last == "…" && whole.hasPrefix(String(part.dropLast()))))
        }
    }

    @Test(arguments: 4_094...4_098)
    func `cuts nothing that fits`(size: Int) throws {
        let frame = try body(group(body: ""), timeToLive: 2_419_200).count
        let bytes = try body(group(body: String(repeating: "x", count: size - frame)), timeToLive: 2_419_200)
        #expect(bytes.count == min(size, 4_096))
        #expect(String(decoding: bytes, as: UTF8.self).contains("…") == (size > 4_096))
    }

    @Test func `makes room for the longest token of the group, but not for absurd ones`() throws {
        let long = String(repeating: "x", count: 9_000)
        let group = group(
            others: [String(repeating: "t", count: 300), String(repeating: "u", count: 4_096)],
            body: long
        )
        #expect(try body(group).count > 3_000)
        #expect(FCMMessage(group).body(to: String(repeating: "t", count: 300), id: id, timeToLive: 1).count <= 4_096)
    }

    @Test func `fits even beside names of the greatest length that need escaping`() throws {
        let group = group(body: String(repeating: "x", count: 9_000)).withLongestIDs
        let bytes = try body(group)
        #expect(bytes.count <= 4_096)
        let text = String(decoding: bytes, as: UTF8.self)
        let name = JSONValue.string(String(repeating: "\"", count: 256)).serializedText
        for key in ["networkId", "channelId", "messageId", "senderId"] {
            #expect(text.contains(#""\#(key)":\#(name)"#), "\(key)")
        }
    }

    @Test func `names a message and its sender beside the channel`() throws {
        let text = String(decoding: try body(group().telling(of: "m-1", from: "bob")), as: UTF8.self)
        #expect(text.contains(#""channelId":"general","messageId":"m-1","senderId":"bob","notificationId""#))
    }
}

@Suite struct FCMServerTests {
    @Test(arguments: [
        "", "fcm.googleapis.com", "http://fcm.googleapis.com", "http://128.0.0.1", "http://[::2]:80",
        "https://127.0.0.1:9443/fcm", "https://h/?a", "ftp://h/",
        "https://user@h/", "https://h:22",
    ])
    func `takes https URLs without a path only`(url: String) {
        #expect(FCMServer(url: url) == nil)
    }

    @Test(arguments: ["http://127.0.0.1:9080", "http://[::1]:9080", "http://localhost:9080"])
    func `does without TLS on the machine itself`(url: String) throws {
        let server = try #require(FCMServer(url: url))
        #expect(server.permits(tokenURI: url + "/token"))
        #expect(server.sendURL(projectID: "p") == url + "/v1/projects/p/messages:send")
    }

    @Test(arguments: ["https://fcm.googleapis.com", "https://FCM.googleapis.com/", "https://fcm.googleapis.com:443/"])
    func `knows Google's server in every spelling`(url: String) {
        #expect(FCMServer(url: url) == .google)
    }

    @Test(arguments: [
        "https://oauth2.googleapis.com/token2", "http://oauth2.googleapis.com/token", "https://evil.example/token",
        "https://oauth2.googleapis.com.evil.example/token", "https://oauth2.googleapis.com@evil.example/token",
        "https://fcm.googleapis.com/token", "https://169.254.169.254/token", "https://localhost/token", "",
    ])
    func `beside Google's server only Google's token endpoint is asked`(uri: String) {
        #expect(!FCMServer.google.permits(tokenURI: uri))
        #expect(FCMServer.google.permits(tokenURI: "https://oauth2.googleapis.com/token"))
        #expect(FCMServer.google.permits(tokenURI: "https://accounts.google.com/o/oauth2/token"))
    }

    @Test func `beside the operator's own server that one may be asked, and Google's`() throws {
        let server = try #require(FCMServer(url: "https://simulator.example:9443"))
        #expect(server.permits(tokenURI: "https://simulator.example:9443/token"))
        #expect(server.permits(tokenURI: "https://SIMULATOR.example:9443/oauth/token?x=1"))
        #expect(server.permits(tokenURI: "https://oauth2.googleapis.com/token"))
        for uri in [
            "http://simulator.example:9443/token", "https://simulator.example/token",
            "https://simulator.example:9444/token", "https://simulator.example:9443@evil.example/",
            "https://evil.example/simulator.example:9443",
        ] {
            #expect(!server.permits(tokenURI: uri), "\(uri)")
        }
    }

    @Test func `sends to the project's path`() throws {
        #expect(
            try #require(FCMServer(url: "https://127.0.0.1:9443/")).sendURL(projectID: "acme-chat")
                == "https://127.0.0.1:9443/v1/projects/acme-chat/messages:send"
        )
    }
}
