import Testing

@testable import CarillonCore

@Suite struct PushContentTests {
    private func read(_ json: JSONValue) -> (PushContent, errors: [FieldError]) {
        let errors = InputErrors()
        var reader = JSONObjectReader(json, unknown: .refuse, into: errors)
        let content = reader.pushContent()
        reader.finish()
        return (content, errors.errors)
    }

    @Test func `what says nothing is nothing`() {
        #expect(PushContent().json.isEmpty)
        #expect(read([:]).0 == PushContent())
    }

    @Test(arguments: [
        #"{"kind":"silent"}"#, #"{"kind":"mixed"}"#, #"{"data":{"a":1,"b":{"c":[null,"x"]}}}"#, #"{"badge":0}"#,
        #"{"sound":null}"#, #"{"sound":"ping.caf"}"#, #"{"category":"BUILD"}"#, #"{"threadId":"t"}"#,
        #"{"collapseKey":"k"}"#, #"{"imageUrl":"https://example.com/i.png"}"#, #"{"priority":"high"}"#,
        #"{"priority":"low"}"#, #"{"ttlSeconds":0}"#, #"{"ttlSeconds":2419200}"#, #"{"retry":false}"#,
        #"{"envelope":false}"#, #"{"apns":{}}"#,
        #"{"apns":{"payload":{},"replace":true}}"#,
        #"{"apns":{"kind":"mixed","headers":{"apns-priority":"5"},"payload":{"aps":{"x":null}},"replace":true}}"#,
        #"{"fcm":{"kind":"silent","message":{"data":{"text":{"$text":"body"}}}}}"#,
        #"{"webpush":{"headers":{"topic":"t","ttl":"5","urgency":"low"},"payload":{"icon":"/i.png"}}}"#,
    ])
    func `is written as it was read`(text: String) throws {
        let (content, errors) = read(try JSONValue(parsing: text))
        #expect(errors.isEmpty)
        #expect(JSONValue.object(content.json).serializedText == text)
    }

    @Test func `defaults that are spelled out are defaults`() {
        let (content, errors) = read([
            "kind": "alert", "sound": "default", "ttlSeconds": 86_400, "retry": true, "envelope": true, "badge": .null,
        ])
        #expect(errors.isEmpty)
        #expect(content == PushContent())
    }

    @Test(arguments: [
        (#"{"kind":"loud"}"#, "/kind"), (#"{"badge":-1}"#, "/badge"), (#"{"badge":100000}"#, "/badge"),
        (#"{"sound":""}"#, "/sound"), (#"{"sound":7}"#, "/sound"), (#"{"category":""}"#, "/category"),
        (#"{"priority":"urgent"}"#, "/priority"), (#"{"ttlSeconds":2419201}"#, "/ttlSeconds"),
        (#"{"ttlSeconds":-1}"#, "/ttlSeconds"), (#"{"retry":"no"}"#, "/retry"), (#"{"data":[]}"#, "/data"),
        (#"{"data":{"aps":{}}}"#, "/data/aps"), (#"{"data":{"from":"x"}}"#, "/data/from"),
        (#"{"data":{"message_type":"x"}}"#, "/data/message_type"), (#"{"data":{"gcm.x":"x"}}"#, "/data/gcm.x"),
        (#"{"data":{"google/x":"x"}}"#, "/data/google~1x"), (#"{"apns":[]}"#, "/apns"),
        (#"{"apns":{"message":{}}}"#, "/apns/message"), (#"{"apns":{"payload":"x"}}"#, "/apns/payload"),
        (#"{"apns":{"replace":true}}"#, "/apns/payload"),
        (#"{"apns":{"headers":{"authorization":"x"}}}"#, "/apns/headers/authorization"),
        (#"{"apns":{"headers":{"apns-priority":5}}}"#, "/apns/headers/apns-priority"),
        (#"{"apns":{"headers":{"apns-priority":"5\r\nx: y"}}}"#, "/apns/headers/apns-priority"),
        (#"{"apns":{"headers":{"apns-topic":"a","APNS-Topic":"b"}}}"#, "/apns/headers/APNS-Topic"),
        (#"{"fcm":{"headers":{}}}"#, "/fcm/headers"), (#"{"fcm":{"message":{"token":"t"}}}"#, "/fcm/message/token"),
        (#"{"fcm":{"message":{"topic":"t"}}}"#, "/fcm/message/topic"),
        (#"{"fcm":{"message":{"condition":"t"}}}"#, "/fcm/message/condition"),
        (#"{"apns":{"payload":{"a":[{"$text":"footer"}]}}}"#, "/apns/payload/a/0"),
        (#"{"apns":{"payload":{"a":{"$text":"body","x":1}}}}"#, "/apns/payload/a"), (#"{"webhook":{}}"#, "/webhook"),
    ])
    func `what is wrong is named by its place`(text: String, pointer: String) throws {
        #expect(read(try JSONValue(parsing: text)).errors.map(\.pointer) == [pointer])
    }

    @Test func `data and a raw part together are small enough for every push service`() {
        let data: JSONValue = ["x": .string(String(repeating: "x", count: 2_000))]
        let (_, errors) = read(["data": data, "apns": ["payload": data]])
        #expect(errors.map(\.pointer) == ["/apns"])
        #expect(errors.first?.detail.contains("2008") == true)
        #expect(read(["data": data, "fcm": ["message": ["x": "y"]]]).errors.isEmpty)
        #expect(read(["data": ["x": .string(String(repeating: "x", count: 3_072))]]).errors.map(\.pointer) == ["/data"])
    }

    @Test(arguments: [(0, 30), (29, 30), (60, 60), (86_400, 86_400), (2_419_200, 86_400)])
    func `is tried for as long as it is to be kept, from half a minute to a day`(seconds: Int, expected: Int) {
        #expect(PushContent(timeToLive: seconds).lifetime == .seconds(expected))
    }

    @Test func `browsers are sent what is silent only where somebody wrote what`() {
        #expect(PushContent(kind: .silent).isSent(through: .webpush) == false)
        #expect(PushContent(kind: .silent, parts: [.webpush: RawPart()]).isSent(through: .webpush))
        #expect(PushContent(kind: .mixed).isSent(through: .webpush))
        #expect(PushContent(kind: .silent).isSent(through: .apns))
    }
}
