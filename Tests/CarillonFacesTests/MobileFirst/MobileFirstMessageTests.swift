import CarillonCore
import CarillonEdge
import CarillonTesting
import Testing

@testable import CarillonFaces

/// What a message says in MobileFirst's terms, and in Carillon's own.
@Suite struct MobileFirstMessageTests {
    private static func application() throws -> MobileFirstApplication {
        let errors = InputErrors()
        var reader = JSONObjectReader(
            ["A": ["appId": "ios.app"], "G": ["appId": "android.app", "senderId": "4711"]],
            unknown: .refuse,
            into: errors
        )
        let application = try #require(MobileFirstApplication(from: &reader))
        try #require(errors.isEmpty)
        return application
    }

    private static func translated(_ body: String) throws -> JSONObject {
        let json = try JSONValue(parsing: body)
        return try MobileFirstMessage(json, id: "m", to: application()).notification
    }

    @Test(arguments: [
        (#"{}"#, "invalid-message"), (#"{"message":{}}"#, "invalid-message"),
        (#"{"message":{"alert":""}}"#, "invalid-message"), (#"{"message":{"alert":7}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"notificationType":2}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"tagNames":[]}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"tagNames":"a"}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"userIds":["a"],"deviceIds":["b"]}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"userIds":["me"]}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"platforms":["W"]}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"platforms":""}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"phoneNumbers":["1"]}}"#, "FPWSE0006E"),
        (#"{"message":{"alert":"x"},"target":{"tagname":["a"]}}"#, "FPWSE0006E"),
        (#"{"message":{"alert":"x"},"target":"all"}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"target":{"userIds":null}}"#, "invalid-message"),
        (#"{"notification":{"message":{"alert":"x"}},"target":{"userIds":["a"]}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"settings":{"apns":{"type":"LOUD"}}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"settings":{"apns":{"payload":"x"}}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"settings":{"gcm":{"timeToLive":-1}}}"#, "invalid-message"),
        (#"{"message":{"alert":"x"},"settings":{"gcm":"x"}}"#, "invalid-message"),
    ])
    func `what is wrong is refused, and what is no target never becomes everyone`(body: String, problem: String) {
        do {
            _ = try Self.translated(body)
            Issue.record("was taken")
        } catch let error as InvalidInput {
            #expect(error.problem == problem)
        } catch let error as Problem {
            #expect(error.name == problem)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test(
        arguments: [
            ("", #"{"everyone":true}"#, "", "Push.ALL"), (#","target":{}"#, #"{"everyone":true}"#, "", "Push.ALL"),
            (#","target":null"#, #"{"everyone":true}"#, "", "Push.ALL"),
            (#","target":{"tagNames":["a","b"]}"#, #"{"tags":["a","b"]}"#, "", "a"),
            (#","target":{"tagNames":["a","push.all"]}"#, #"{"everyone":true}"#, "", "Push.ALL"),
            (#","settings":{"target":{"tagNames":["a"]}}"#, #"{"tags":["a"]}"#, "", "a"),
            (#","target":{"userIds":["u"]}"#, #"{"userIds":["u"]}"#, "", nil),
            (#","target":{"consumerIds":["u"],"userIds":null}"#, #"{"userIds":["u"]}"#, "", nil),
            (#","target":{"deviceIds":["d"]}"#, #"{"deviceIds":["d"]}"#, "", nil),
            (#","target":{"platforms":["G","A"]}"#, #"{"everyone":true}"#, #","providers":["fcm","apns"]"#, nil),
            (#","target":{"platforms":"A,G"}"#, #"{"everyone":true}"#, #","providers":["apns","fcm"]"#, nil),
            (#","target":{"platforms":["A"]}"#, #"{"everyone":true}"#, #","providers":["apns"]"#, nil),
        ] as [(String, String, String, String?)]
    )
    func `a target is an audience`(target: String, to: String, filter: String, tag: String?) throws {
        let notification = try Self.translated(#"{"message":{"alert":"x"}\#(target)}"#)
        #expect(try notification["to"] == JSONValue(parsing: to))
        #expect(try notification["filter"] == JSONValue(parsing: #"{"appIds":["android.app","ios.app"]\#(filter)}"#))
        #expect(notification["body"] == "x" && notification["envelope"] == false)
        guard case .object(let apns)? = notification["apns"], case .object(let payload)? = apns["payload"] else {
            Issue.record("no payload")
            return
        }
        #expect(payload["tag"] == tag.map(JSONValue.string))
    }

    @Test(arguments: [
        (#"{}"#, #"{"kind":"alert","payload":{}}"#),
        (
            #"{"badge":3,"sound":"ding.caf","category":"poll","payload":{"a":1}}"#,
            #"{"kind":"alert","payload":{"payload":{"a":1},"aps":{"badge":3,"sound":"ding.caf","category":"poll"}}}"#
        ),
        (#"{"type":"MIXED"}"#, #"{"kind":"mixed","payload":{}}"#),
        (
            #"{"type":"SILENT","badge":3,"sound":"s","category":"c","title":"t","attachmentUrl":"u","payload":{"a":1}}"#,
            #"{"kind":"silent","payload":{"payload":{"a":1}}}"#
        ),
        (
            #"""
            {"title":"T","subtitle":"S","iosActionKey":"Open","locKey":"K","locArgs":["1","2"],"titleLocKey":"TK",
             "titleLocArgs":["3"],"launchImage":"i.png","attachmentUrl":"https://x/y.png"}
            """#,
            #"""
            {"kind":"alert","payload":{"attachment-url":"https://x/y.png","aps":{"mutable-content":1,"alert":{
             "title":"T","subtitle":"S","action-loc-key":"Open","loc-key":"K","loc-args":["1","2"],"title-loc-key":"TK",
             "title-loc-args":["3"],"launch-image":"i.png","body":{"$text":"body"}}}}}
            """#
        ),
    ])
    func `Apple's settings are a raw part`(settings: String, part: String) throws {
        let body = #"{"message":{"alert":"x"},"target":{"userIds":["u"]},"settings":{"apns":\#(settings)}}"#
        #expect(try Self.translated(body)["apns"] == JSONValue(parsing: part))
        let older = #"{"message":{"alert":"x"},"target":{"userIds":["u"]},"APNS":\#(settings)}"#
        #expect(try Self.translated(older)["apns"] == JSONValue(parsing: part))
    }

    @Test(arguments: [
        (#"{}"#, #"{"payload":"{}"}"#, #"{"priority":"HIGH"}"#),
        (
            #"{"payload":{"a":[1]},"collapseKey":"k","timeToLive":60,"priority":"max","delayWhileIdle":true}"#,
            #"{"payload":"{\"a\":[1]}","collapseKey":"k","timeToLive":"60","priority":"max"}"#,
            #"{"priority":"HIGH","collapse_key":"k","ttl":"60s"}"#
        ),
        (
            #"{"sound":"s","priority":"low","bridge":true,"lights":{"ledArgb":"RED"},"interactiveCategory":"c"}"#,
            #"""
            {"payload":"{}","sound":"s","priority":"low","bridge":"true","lights":"{\"ledArgb\":\"RED\"}",
             "interactiveCategory":"c"}
            """#,
            #"{"priority":"NORMAL"}"#
        ),
    ])
    func `Google's settings are data alone`(settings: String, data: String, android: String) throws {
        let body = #"{"message":{"alert":"x"},"target":{"tagNames":["t"]},"settings":{"gcm":\#(settings),"wns":{}}}"#
        guard case .object(let part)? = try Self.translated(body)["fcm"], case .object(let message)? = part["message"],
            case .object(let sent)? = message["data"], case .object(var expected) = try JSONValue(parsing: data)
        else {
            Issue.record("no message")
            return
        }
        expected["alert"] = ["$text": "body"]
        expected["tag"] = "t"
        expected["has-template"] = "0"
        #expect(sent == expected)
        #expect(try message["android"] == JSONValue(parsing: android))
        #expect(part["replace"] == true)
    }

    @Test(arguments: [
        #"{"APNS":{"alert":"x","badge":1},"GCM":{"alert":"x"}}"#,
        #"{"notification":{"message":{"alert":"x"},"settings":{"apns":{"badge":1}}}}"#,
        #"{"notification":{"APNS":{"alert":"x","badge":1}}}"#,
    ])
    func `the objects of WL.Server mean the same`(body: String) throws {
        let notification = try Self.translated(body)
        #expect(notification["body"] == "x" && notification["to"] == ["everyone": true])
        #expect(notification["apns"] == ["kind": "alert", "payload": ["tag": "Push.ALL", "aps": ["badge": 1]]])
    }

    @Test func `what is silent needs no text`() throws {
        let notification = try Self.translated(#"{"settings":{"apns":{"type":"SILENT"}}}"#)
        #expect(notification["body"] == nil && notification["kind"] == "silent")
        let parser = NotificationParser(
            clock: .system,
            addresses: DeviceAddressReader(egress: .unrestricted, webPushHosts: WebPushHosts(["*"]))
        )
        _ = try parser.parse(body: JSONValue.object(notification).serialized) { _ in "id" }
    }
}

extension JSONValue {
    fileprivate init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }
}
