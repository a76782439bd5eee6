import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

@Suite(.ably) struct AblyPublishTests {
    private let ably: AblyService = lent()

    private static let payloads: [(payload: String, fields: JSONObject)] = [
        (
            #"{"notification":{"title":"T","body":"B","ttl":60,"sound":"bell"},"data":{"a":"b"}}"#,
            [
                "title": "T", "body": "B", "sound": "bell", "ttlSeconds": 60, "data": ["a": "b"],
                "webpush": [
                    "payload": [
                        "notification": ["title": ["$text": "title"], "body": ["$text": "body"], "data": ["a": "b"]],
                        "data": ["a": "b"],
                    ], "replace": true,
                ],
            ]
        ),
        (#"{"data":{"a":1}}"#, ["kind": "silent", "data": ["a": 1]]),
        (
            #"{"notification":{"title":"T","icon":"i","collapseKey":"k","ttl":9999999999}}"#,
            [
                "title": "T", "ttlSeconds": 2_419_200, "apns": ["payload": ["aps": ["thread-id": "k"]]],
                "fcm": ["message": ["android": ["collapse_key": "k", "notification": ["icon": "i"]]]],
                "webpush": ["payload": ["notification": ["title": ["$text": "title"], "icon": "i"]], "replace": true],
            ]
        ),
        (
            #"{"apns":{"aps":{"alert":"A"},"apns-headers":{"apns-priority":5,"apns-id":"8","Authorization":[]},"notification":{"category":"C"},"x":1}}"#,
            [
                "kind": "silent",
                "apns": [
                    "kind": "alert", "headers": ["apns-priority": "5"],
                    "payload": ["aps": ["category": "C", "alert": "A"], "x": 1],
                ],
            ]
        ),
        (
            #"{"notification":{"title":"T"},"apns":{"aps":{"sound":null,"alert":{"title":null}}},"fcm":{"notification":null,"android":{"ttl":null}}}"#,
            [
                "title": "T", "apns": ["payload": ["aps": ["sound": .null, "alert": ["title": .null]]]],
                "fcm": ["message": ["notification": .null, "android": ["ttl": .null]]],
                "webpush": ["payload": ["notification": ["title": ["$text": "title"]]], "replace": true],
            ]
        ),
        (
            #"{"apns":{"aps":{"content-available":1}}}"#,
            ["kind": "silent", "apns": ["payload": ["aps": ["content-available": 1]]]]
        ),
        (
            #"{"fcm":{"notification":{"title":"T","color":"red","android_channel_id":"c"},"priority":"high","time_to_live":5,"collapse_key":"k","content_available":true}}"#,
            [
                "kind": "silent",
                "fcm": [
                    "kind": "alert",
                    "message": [
                        "notification": ["title": "T"],
                        "android": [
                            "priority": "HIGH", "ttl": "5s", "collapse_key": "k",
                            "notification": ["color": "red", "channel_id": "c"],
                        ],
                    ],
                ],
            ]
        ),
        (
            #"{"gcm":{"android":{"priority":"normal"},"data":{"x":"y"}}}"#,
            ["kind": "silent", "fcm": ["message": ["data": ["x": "y"], "android": ["priority": "normal"]]]]
        ),
        (
            #"{"notification":{"body":"B"},"web":{"notification":{"icon":"w"},"badge":"b"}}"#,
            [
                "body": "B",
                "webpush": [
                    "payload": ["notification": ["body": ["$text": "body"], "badge": "b", "icon": "w"]],
                    "replace": true,
                ],
            ]
        ),
    ]

    @Test func `payloads become notifications of Carillon's own, which can be stored and read again`() async throws {
        for (payload, _) in Self.payloads {
            let body = #"{"recipient":{"clientId":"alice"},"# + payload.dropFirst()
            let answer = try await ably.call(.post, "/push/publish", body)
            #expect(answer.status == 204 && answer.bytes.isEmpty && answer.headers[.contentType] == nil, "\(payload)")
        }
        for (index, data) in ably.stub.data.enumerated() {
            var expected = Self.payloads[index].fields
            expected["envelope"] = false
            expected["to"] = ["userIds": ["alice"]]
            #expect(data == expected, "\(Self.payloads[index].payload)")
        }
        #expect(ably.stub.areReadable)
    }

    @Test func `what no push service would take is refused`() async throws {
        let long = String(repeating: "x", count: 3_070)
        let cases: [(body: String, error: [Int])] = [
            (#"{"recipient":{"clientId":"a"}}"#, [400, 40000]), (#"{"notification":{"title":"T"}}"#, [400, 40000]),
            (#"{"recipient":{},"notification":{"title":"T"}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a","deviceId":"d"},"data":{}}"#, [400, 40000]),
            (#"{"recipient":[{"clientId":"a"}],"data":{"a":1}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"me"},"data":{"a":1}}"#, [400, 40012]),
            (#"{"recipient":{"deviceId":"none"},"data":{"a":1}}"#, [404, 40400]),
            (#"{"recipient":{"deviceId":""},"data":{"a":1}}"#, [400, 40015]),
            (#"{"recipient":{"transportType":"sms"},"data":{"a":1}}"#, [400, 40000]),
            (#"{"recipient":{"transportType":"apns","deviceToken":"no"},"data":{"a":1}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"notification":{}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"notification":{"sound":"x"}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"notification":5}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"notification":{"title":5}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"data":"x"}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"data":{"aps":1}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"fcm":{"token":"x"}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"fcm":{"to":"/topics/all"}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"apns":{"apns-headers":{"apns-priority":"7"}}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"apns":{"x":{"$text":"secret"}}}"#, [400, 40000]),
            (#"{"recipient":{"clientId":"a"},"data":{"a":"\#(long)"}}"#, [413, 40009]),
            (#"{"recipient":{"clientId":"a"},"data":{"a":"b"},"fcm":{"data":{"a":"\#(long)"}}}"#, [413, 40009]),
            ("5", [400, 40001]),
            ("{", [400, 40000]), (String(repeating: "[", count: 10_000), [400, 40000]),
            (#"{"a":"\u0000"}"#, [400, 40000]),
            (#"{"a":"\#(String(repeating: "x", count: 70_000))"}"#, [413, 40009]),
        ]
        for (body, error) in cases {
            #expect(try await ably.call(.post, "/push/publish", body).error == error, "\(body.prefix(99))")
        }
        let body = #"{"recipient":{"clientId":"a"},"data":{"a":1}}"#
        #expect(try await ably.call(.post, "/push/publish", body, as: AblyService.app()).error == [401, 40160])
        #expect(ably.stub.bodies.isEmpty)
    }

    @Test func `data up to the limit is taken, in as many places as it fits`() async throws {
        for count in [500, 1_200, 3_064] {
            let data = String(repeating: "x", count: count)
            let body = #"{"recipient":{"clientId":"a"},"notification":{"title":"T"},"data":{"a":"\#(data)"}}"#
            #expect(try await ably.call(.post, "/push/publish", body).status == 204)
        }
        let parts = ably.stub.data.map { $0["webpush"] }
        #expect(parts[0]?.serializedText.contains(#""data""#) == true && parts[1] != nil && parts[2] == nil)
        #expect(ably.stub.areReadable)
    }

    @Test func `one bad item of a large batch does not keep the others`() async throws {
        let good = #"{"recipient":{"clientId":"a"},"payload":{"data":{"a":1}}}"#
        var items = [String](repeating: good, count: 1_995)
        items.insert(#"{"recipient":{"deviceId":"none"},"payload":{"data":{"a":1}}}"#, at: 1_000)
        items.append(#"{"recipient":[{"clientId":"b"},{"clientId":"c"}],"payload":{"data":{"a":1}}}"#)
        let answer = try await ably.call(.post, "/push/batch/publish", "[\(items.joined(separator: ","))]")
        #expect(answer.error == [400, 40020])
        #expect(answer["batchResponse", "0"] == [:] && answer["batchResponse", "1000", "error", "code"] == 40400)
        #expect(answer["batchResponse", "1996"] == [:] && answer["batchResponse", "1997"] == nil)
        let data = ably.stub.data
        #expect(data.count == 1_996 && data.last?["to"] == ["userIds": ["b", "c"]])
        #expect(Set(ably.stub.sourceIDs).count == 1_996)
        let tooMany = "[\([String](repeating: good, count: 10_001).joined(separator: ","))]"
        #expect(try await ably.call(.post, "/push/batch/publish", tooMany).error == [413, 40009])
    }

    @Test func `items of batches are each judged by themselves`() async throws {
        let items: [(item: String, code: JSONValue?)] = [
            (#"{"recipient":{"clientId":"a"},"payload":{"notification":{"title":"T"}}}"#, nil), ("5", 40000),
            (#"{"recipient":{"clientId":"a"}}"#, 40000), (#"{"recipient":[],"payload":{"data":{"a":1}}}"#, 40000),
            (#"{"recipient":[{"clientId":"a"},{"x":1}],"payload":{"data":{"a":1}}}"#, 40000),
            (#"{"recipient":{"transportType":"fcm","registrationToken":"t"},"payload":{"data":{"a":1}}}"#, nil),
        ]
        let body = "[\(items.map(\.item).joined(separator: ","))]"
        let answer = try await ably.call(.post, "/push/admin/batch/publish", body)
        for (index, item) in items.enumerated() {
            #expect(answer["batchResponse", "\(index)", "error", "code"] == item.code, "\(item.item)")
        }
        #expect(ably.stub.data.count == 2)
        let fine = try await ably.call(.post, "/push/batch/publish", "[\(items[0].item)]")
        #expect(fine.status == 200 && fine.json == [[:]])
        // What could not be taken after others were is said of each, so that nobody sends the others again.
        ably.stub.fail(with: Problem.serviceUnavailable(), beyond: ably.stub.data.count + 1)
        let many = "[\([String](repeating: items[0].item, count: 600).joined(separator: ","))]"
        let half = try await ably.call(.post, "/push/batch/publish", many)
        #expect(half["batchResponse", "499"] == [:] && half["batchResponse", "599", "error", "code"] == 50003)
        #expect(try await ably.call(.post, "/push/batch/publish", many).error == [503, 50003])
    }

    @Test func `messages on a channel are pushed to its subscribers, once each`() async throws {
        let message =
            #"{"name":"n","data":"\u0001","id":"base:0","extras":{"push":{"notification":{"title":"T"}}}}"#
        let first = try await ably.call(.post, "/channels/open%3Aa+b/messages", message, as: AblyService.app())
        #expect(first.status == 201 && first.string("channel") == "open:a b" && first.string("messageId") == "base")
        guard case .array(let serials)? = first["serials"] else { return }
        #expect(serials.count == 1)
        let data = try #require(ably.stub.data.first)
        #expect(data["to"] == ["tags": ["open:a b"]] && data["channelId"] == "open:a b" && data["title"] == "T")
        _ = try await ably.call(.post, "/channels/open:a%20b/messages", message)
        #expect(Set(ably.stub.sourceIDs).count == 1, "a repeat is recognised by its id")
        _ = try await ably.call(.post, "/channels/open:c/messages", message)
        #expect(Set(ably.stub.sourceIDs).count == 2, "on another channel it is another one")
        let many = #"[{"id":"m:0","extras":{"push":{"data":{"a":1}}}},{"id":"m:1"},{"id":"m:2","extras":{}}]"#
        let answer = try await ably.call(.post, "/channels/open:a/messages", many)
        #expect(answer.string("messageId") == "m" && answer["serials", "2"] != nil && answer["serials", "3"] == nil)
        #expect(ably.stub.data.count == 4, "only what has extras.push is sent")
        #expect(ably.stub.areReadable)
    }

    @Test func `what is no UTF-8 is refused but in the data of a message, which nobody reads`() async throws {
        let headers = ["content-type": "application/x-msgpack"]
        for (key, status) in [("data", 201), ("id", 400), ("clientId", 400), ("name", 400)] {
            let body: [UInt8] = [0x81, 0xA0 | UInt8(key.utf8.count)] + key.utf8 + [0xA2, 0xC3, 0x28]
            let answer = try await ably.call(.post, "/channels/open:a/messages", bytes: body, headers: headers)
            #expect(answer.status == status, "\(key)")
            if status == 400 { #expect(answer.error == [400, 40000]) }
        }
    }

    @Test func `where push is off a message is taken and not sent`() async throws {
        let message = #"{"extras":{"push":{"notification":{"title":"T"}}}}"#
        for channel in ["shut:a", "alone", "open2:a"] {
            let answer = try await ably.call(.post, "/channels/\(channel)/messages", message)
            #expect(answer.status == 201 && answer.string("messageId")?.isEmpty == false)
        }
        #expect(ably.stub.bodies.isEmpty)
        _ = try await ably.call(.post, "/channels/open/messages", message)
        #expect(ably.stub.bodies.count == 1, "a channel without a colon is its own namespace")
    }

    private static let wrong: [(body: String, error: [Int])] = [
        ("5", [400, 40001]), ("[]", [400, 40001]), (#"{"extras":5}"#, [400, 40032]),
        (#"{"extras":{"push":5}}"#, [400, 40032]),
        (#"{"extras":{"push":{}}}"#, [400, 40000]), (#"{"id":5}"#, [400, 40031]),
        (#"[{"id":"a:0"},{}]"#, [400, 40031]),
        (#"[{"id":"a:0"},{"id":"b:1"}]"#, [400, 40031]), (#"[{"id":"a:1"},{"id":"a:0"}]"#, [400, 40031]),
        (#"[{"id":"a"},{"id":"b"}]"#, [400, 40031]), (#"{"clientId":"bob"}"#, [400, 40012]),
        (#"{"clientId":5}"#, [400, 40001]), (#"{"name":5}"#, [400, 40001]),
        (#"[{"name":"n"},{"name":{}}]"#, [400, 40001]),
    ]

    @Test func `messages that are not right are refused, all of them`() async throws {
        let app = AblyService.app()
        for (body, error) in Self.wrong {
            let answer = try await ably.call(.post, "/channels/open:a/messages", body, as: app)
            #expect(answer.error == error, "\(body)")
        }
        #expect(try await ably.call(.post, "/channels/else/messages", "{}", as: app).error == [401, 40160])
        #expect(try await ably.call(.post, "/channels/%5Bmeta%5Dlog/messages", "{}").error == [400, 40010])
    }

    @Test func `messages go to several channels at once, each by itself`() async throws {
        let push = #"{"extras":{"push":{"data":{"a":1}}}}"#
        let both = #"{"channels":["open:a","open:b"],"messages":\#(push)}"#
        let answer = try await ably.call(.post, "/messages", both)
        #expect(answer.status == 200 && answer["1", "channel"] == "open:b" && answer["1", "messageId"] != nil)
        let some = try await ably.call(
            .post,
            "/messages",
            #"[{"channels":"open:c","messages":[\#(push)]},{"channels":["else"],"messages":\#(push)}]"#,
            as: AblyService.app()
        )
        #expect(some.error == [400, 40020])
        #expect(some["batchResponse", "0", "messageId"] != nil && some["batchResponse", "1", "error", "code"] == 40160)
        #expect(ably.stub.data.count == 3)
        let names = (0...100).map { #""open:\#($0)""# }.joined(separator: ",")
        for body in [
            "{}", #"{"channels":[],"messages":{}}"#, #"{"channels":[\#(names)],"messages":{}}"#,
            #"{"channels":5,"messages":{}}"#,
        ] {
            #expect(try await ably.call(.post, "/messages", body).error == [400, 40001])
        }
    }
}
