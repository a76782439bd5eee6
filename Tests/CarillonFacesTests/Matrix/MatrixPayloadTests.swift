import CarillonCore
import CarillonTesting
import Testing

@testable import CarillonFaces

/// FACES section D3: what devices get, by format and push service.
@Suite struct MatrixPayloadTests {
    /// What is posted, what the binding says, and what is sent.
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var provider = ProviderName.apns
        var binding = ""
        var notification: String
        var device = ""
        /// The raw part's payload; `nil` where nothing is sent.
        var payload: String?
        var headers = ""

        var testDescription: String { "\(provider.rawValue): \(name)" }
    }

    private static func rows(_ rows: [Row], of provider: ProviderName) -> [Row] {
        rows.map { row in
            var row = row
            row.provider = provider
            return row
        }
    }

    private static let zero = Timestamp(milliseconds: 0)
    private static let idOnly = #""event_id":"$e","room_id":"!r:x","counts":{"unread":2,"missed_calls":1}"#
    private static let full = """
        "event_id":"$e","room_id":"!r:x","type":"m.room.message","sender":"@a:x","sender_display_name":"Alice",
        "room_name":"Lobby","room_alias":"#l:x","prio":"low","counts":{"unread":2},
        "content":{"msgtype":"m.text","body":"hi","formatted_body":"<b>hi</b>","format":"org.matrix.custom.html","n":1}
        """
    private static let badge = #""id":"","type":null,"sender":"","counts":{"unread":3,"missed_calls":1}"#
    private static let payload = #""data":{"default_payload":{"aps":{"mutable-content":1,"alert":"x"},"k":[1]}}"#
    private static let urgent = #"{"apns-push-type":"alert","apns-priority":"10"}"#
    private static let patient = #"{"apns-push-type":"alert","apns-priority":"5"}"#

    private static let apns: [Row] = [
        Row(
            name: "ids beside the default payload",
            notification: idOnly,
            device: payload,
            payload: """
                {"aps":{"mutable-content":1,"alert":"x"},"k":[1],"room_id":"!r:x","event_id":"$e","unread_count":2,
                 "missed_calls":1}
                """,
            headers: urgent
        ),
        Row(
            name: "absent counts are left out",
            notification: #""event_id":"$e","room_id":"!r:x","prio":"low""#,
            payload: #"{"room_id":"!r:x","event_id":"$e"}"#,
            headers: patient
        ),
        Row(
            name: "what only wakes the app is of another type",
            notification: #""event_id":"$e""#,
            device: #""data":{"default_payload":{"aps":{"content-available":1}}}"#,
            payload: #"{"aps":{"content-available":1},"event_id":"$e"}"#,
            headers: #"{"apns-push-type":"background","apns-priority":"5"}"#
        ),
        Row(
            name: "an app may say that all of it wakes",
            binding: #""pushType":"background""#,
            notification: #""event_id":"$e""#,
            payload: #"{"event_id":"$e"}"#,
            headers: #"{"apns-push-type":"background","apns-priority":"5"}"#
        ),
        Row(
            name: "the full format goes over the default payload",
            notification: full,
            device: payload,
            payload: """
                {"aps":{"mutable-content":1,"alert":{"loc-key":"MSG_FROM_USER_IN_ROOM_WITH_CONTENT",
                "loc-args":["Alice","Lobby",{"$text":"body"}]},"badge":2},"k":[1],"room_id":"!r:x","event_id":"$e"}
                """,
            headers: patient
        ),
        Row(
            name: "no badge where the app wants none; its sound where it does",
            binding: #""badge":false,"sound":true"#,
            notification: full,
            device: #""tweaks":{"sound":"ring.caf","highlight":true}"#,
            payload: """
                {"aps":{"alert":{"loc-key":"MSG_FROM_USER_IN_ROOM_WITH_CONTENT","loc-args":["Alice","Lobby",{"$text":"body"}]},
                "sound":"ring.caf"},"room_id":"!r:x","event_id":"$e"}
                """,
            headers: patient
        ),
        Row(
            name: "the rules' sound is dropped unless the app wants it",
            notification: #""event_id":"$e""#,
            device: #""tweaks":{"sound":"default"}"#,
            payload: #"{"event_id":"$e"}"#,
            headers: urgent
        ),
        Row(
            name: "a badge is a badge, even with a default payload",
            notification: badge,
            device: payload,
            payload: #"{"aps":{"badge":4}}"#,
            headers: urgent
        ),
        Row(name: "a badge for an app that wants none", binding: #""badge":false"#, notification: badge),
        Row(name: "neither an event nor a count", notification: #""prio":"high""#),
        Row(
            name: "no event, no count more than can be shown",
            notification: #""counts":{"unread":2000000000,"missed_calls":2000000000}"#,
            payload: #"{"aps":{"badge":99999}}"#,
            headers: urgent
        ),
    ]

    private static let fcm: [Row] = [
        Row(
            name: "data alone, as text",
            binding: #""ttlSeconds":60"#,
            notification: idOnly,
            device: #""data":{"default_payload":{"k":"v","from":"me","google.x":"y"}}"#,
            payload: """
                {"data":{"k":"v","event_id":"$e","room_id":"!r:x","unread":"2","missed_calls":"1","prio":"high"},
                "android":{"priority":"HIGH","ttl":"60s"}}
                """
        ),
        Row(
            name: "the full format, each text of the content by itself",
            notification: full,
            payload: """
                {"data":{"event_id":"$e","room_id":"!r:x","unread":"2","prio":"normal","type":"m.room.message","sender":"@a:x",
                "sender_display_name":"Alice","room_name":"Lobby","room_alias":"#l:x","content_msgtype":"m.text",
                "content_body":{"$text":"body"},"content_format":"org.matrix.custom.html"},
                "android":{"priority":"NORMAL","ttl":"86400s"}}
                """
        ),
        Row(
            name: "long texts are cut, what clients fetch is left out",
            notification: """
                "event_id":"$e","type":"m.room.encrypted","membership":"join",
                "content":{"ciphertext":"\(String(repeating: "c", count: 1_025))","sender_key":"\(String(repeating: "é", count: 600))"}
                """,
            payload: """
                {"data":{"event_id":"$e","prio":"high","type":"m.room.encrypted","membership":"join",
                "content_sender_key":"\(String(repeating: "é", count: 510))…"},"android":{"priority":"HIGH","ttl":"86400s"}}
                """
        ),
        Row(
            name: "a badge",
            notification: badge,
            payload: """
                {"data":{"unread":"3","missed_calls":"1","prio":"high"},
                "android":{"priority":"HIGH","ttl":"86400s","collapse_key":"badge"}}
                """
        ),
        Row(name: "nothing unread", notification: #""counts":{"unread":0,"missed_calls":0}"#),
        Row(name: "a badge for an app that wants none", binding: #""badge":false"#, notification: badge),
    ]

    private static let webpush: [Row] = [
        Row(
            name: "numbers are numbers",
            notification: idOnly,
            device: #""data":{"default_payload":{"k":{"a":1}}}"#,
            payload: #"{"k":{"a":1},"event_id":"$e","room_id":"!r:x","unread":2,"missed_calls":1}"#,
            headers: #"{"urgency":"normal"}"#
        ),
        Row(
            name: "the full format with its content",
            notification: full,
            device: #""data":{"only_last_per_room":true}"#,
            payload: """
                {"event_id":"$e","room_id":"!r:x","unread":2,"type":"m.room.message","sender":"@a:x","sender_display_name":"Alice",
                "room_name":"Lobby","room_alias":"#l:x",
                "content":{"msgtype":"m.text","body":{"$text":"body"},"format":"org.matrix.custom.html","n":1}}
                """,
            headers: #"{"topic":"Vjv6LBXUmaccH8pC0-SfHhpI9AwqSwWF","urgency":"low"}"#
        ),
        Row(
            name: "a badge",
            notification: badge,
            payload: #"{"unread":3,"missed_calls":1}"#,
            headers: #"{"urgency":"normal"}"#
        ),
        Row(name: "no badge for who wants events only", notification: badge, device: #""data":{"events_only":true}"#),
    ]

    @Test(arguments: rows(apns, of: .apns) + rows(fcm, of: .fcm) + rows(webpush, of: .webpush))
    func `devices get what they got from Sygnal`(_ row: Row) throws {
        let content = try Self.event(row)?.direct?.content
        let part = content?.parts[row.provider]
        let expected = try row.payload.map { try JSONValue(parsing: $0) }
        #expect(part.map { JSONValue.object($0.payload) } == expected)
        guard let part else { return }
        #expect(part.replaces)
        #expect(content?.hasEnvelope == false)
        let headers = row.headers.isEmpty ? "{}" : row.headers
        #expect(Self.json(part.headers) == (try JSONValue(parsing: headers)))
    }

    @Test func `a badge goes once, in the place of the one before it`() throws {
        let row = Row(name: "", provider: .apns, notification: Self.badge)
        let direct = try #require(try Self.event(row)?.direct)
        #expect(direct.content.collapseKey == "badge")
        #expect(!direct.content.isRetried)
        #expect(direct.texts.isEmpty)
        let ids = try [Self.event(row)?.sourceID, Self.event(row)?.sourceID]
        #expect(ids[0] != ids[1])
    }

    @Test func `an event is recognised by its id, its app and its pushkey, wherever these end`() throws {
        func id(_ event: String, _ app: String, _ key: String) throws -> String? {
            let body =
                #"{"notification":{"event_id":"\#(event)","devices":[{"app_id":"\#(app)","pushkey":"\#(key)"}]}}"#
            let notification = try MatrixNotification(body: Array(body.utf8))
            let translation = MatrixTranslation(notification: notification, now: Self.zero)
            let binding = MatrixBinding(provider: .fcm)
            return translation.event(for: notification.devices[0], .everyone, binding, .fcm)?.sourceID
        }
        let ids = [try id("e", "a", "p"), try id("e", "ap", "p"), try id("ea", "p", "p"), try id("e", "a", "pp")]
        #expect(Set(ids).count == ids.count)
        #expect(ids[0] == (try id("e", "a", "p")))
        #expect(ids[0]?.hasPrefix("m:") == true)
    }

    @Test func `the title has the room, the body is cut by the core, and the room is the context`() throws {
        let event = try #require(try Self.event(Row(name: "", provider: .apns, notification: Self.full)))
        #expect(event.direct?.texts.text == DirectTexts.Text(title: "Alice (Lobby)", body: "hi"))
        #expect(event.channel?.id == "!r:x")
        #expect(event.actor == nil)
        #expect(event.direct?.content.priority == .normal)
    }

    @Test func `what no push service takes is stored, and no more of it than shows that`() throws {
        let long = String(repeating: "x", count: 100_000)
        let device = #""data":{"default_payload":{"a":1,"long":"\#(long)","b":2}}"#
        for provider in [ProviderName.apns, .fcm, .webpush] {
            let row = Row(name: "", provider: provider, notification: Self.idOnly, device: device)
            let event = try #require(try Self.event(row))
            let part = try #require(event.direct?.content.parts[provider])
            let size = JSONValue.object(part.payload).serialized.count
            #expect(size > 4_096)
            #expect(size < 9_000)
            let body = event.canonicalJSON.serialized
            let stored = StoredEvent(body: body, sourceID: "m", receivedAt: Self.zero, occurredAt: Self.zero)
            guard case .event(let read) = stored else {
                Issue.record("it cannot be read back")
                continue
            }
            #expect(read.direct?.content == event.direct?.content)
        }
    }

    @Test func `however long the content is, each device's payload is made of a bounded part of it`() throws {
        let members = (0..<10_000).map { #""\#($0)":"x""# }.joined(separator: ",")
        let device = #"{"app_id":"app","pushkey":"key"}"#
        let body = #"{"notification":{"event_id":"e","type":"t","content":{\#(members)},"devices":[\#(device)]}}"#
        let notification = try MatrixNotification(body: Array(body.utf8))
        let translation = MatrixTranslation(notification: notification, now: Self.zero)
        for part in [translation.shownContent, translation.contentTexts] {
            #expect(4_096..<16_384 ~= JSONValue.object(part).serialized.count)
        }
    }

    @Test func `nobody who posts has the words of a push repeated`() throws {
        let name = #"{"$text":"body"}"#
        let disguised = #"{"$text":"body","x":\#(name)}"#
        let device =
            #""data":{"default_payload":{"a":\#(name),"b":[1,\#(name),{"c":\#(disguised)}],"aps":\#(name)}}"#
        let content = #""content":{"body":"hi","x":\#(disguised),"y":{"z":\#(name),"w":1}}"#
        let notification = #""event_id":"e","type":"m.room.message","#
        for provider in [ProviderName.apns, .fcm, .webpush] {
            let row = Row(name: "", provider: provider, notification: notification + content, device: device)
            let part = try #require(try Self.event(row)?.direct?.content.parts[provider])
            let text = JSONValue.object(part.payload).serializedText
            #expect(text.ranges(of: name).count == 1, "the notification's own words: \(text)")
            #expect(text.contains(#""b":[1,{}]"#))
        }
    }

    @Test func `of members whose names begin alike, what is kept is too much for any push service as well`() throws {
        let name = String(repeating: "k", count: 189)
        let value = String(repeating: "v", count: 7_812)
        let device = #""data":{"default_payload":{"\#(name)":"\#(value)","\#(name)x":1}}"#
        let row = Row(name: "", provider: .fcm, notification: Self.idOnly, device: device)
        let part = try #require(try Self.event(row)?.direct?.content.parts[.fcm])
        #expect(JSONValue.object(part.payload).serialized.count > 4_096)
    }

    @Test func `whatever a client wants in its payloads can be read back`() throws {
        let deep = String(repeating: #"{"a":"#, count: 57) + "1" + String(repeating: "}", count: 57)
        let device = #""data":{"default_payload":{"$text":"else","deep":\#(deep),"token":"t"}}"#
        let content = String(repeating: #"{"a":"#, count: 60) + "1" + String(repeating: "}", count: 60)
        let notification = #""event_id":"$e","type":"t","content":{"deep":\#(content)}"#
        for provider in [ProviderName.apns, .fcm, .webpush] {
            let row = Row(name: "", provider: provider, notification: notification, device: device)
            let event = try #require(try Self.event(row))
            let body = event.canonicalJSON.serialized
            let stored = StoredEvent(body: body, sourceID: "m", receivedAt: Self.zero, occurredAt: Self.zero)
            guard case .event = stored else {
                Issue.record("it cannot be read back")
                continue
            }
        }
    }

    private static func event(_ row: Row) throws -> Event? {
        let device = #"{"app_id":"app","pushkey":"key"\#(row.device.isEmpty ? "" : ",")\#(row.device)}"#
        let body = #"{"notification":{\#(row.notification),"devices":[\#(device)]}}"#
        let notification = try MatrixNotification(body: Array(body.utf8))
        var reader = JSONObjectReader(
            try JSONValue(
                parsing: #"{"provider":"\#(row.provider.rawValue)"\#(row.binding.isEmpty ? "" : ",")\#(row.binding)}"#
            ),
            unknown: .refuse,
            into: InputErrors()
        )
        let parsed = MatrixTranslation(notification: notification, now: Self.zero)
            .event(
                for: notification.devices[0],
                .addresses([AddressedDevice(address: .fcm(token: "key", appID: "app"))]),
                MatrixBinding(&reader),
                row.provider
            )
        guard case .known(let event)? = parsed?.content else { return nil }
        return event
    }

    private static func json(_ headers: [String: String]) -> JSONValue {
        var object = JSONObject()
        for (name, value) in headers { object[name] = .string(value) }
        return .object(object)
    }
}
