import CarillonCore
import CarillonTesting
import Testing

@testable import CarillonEdge
@testable import CarillonFaces

@Suite struct AblyCapabilityTests {
    @Test(arguments: [
        ("*", "room", true), ("*", "a:b", true), ("*", "[meta]log:push", false), ("[*]*", "[meta]log:push", true),
        ("[*]*", "room", true), ("chat:*", "chat:1", true), ("chat:*", "chat:1:2", true), ("chat:*", "chat", false),
        ("chat:*", "chats:1", false), ("chat:*", "other", false), ("[meta]*", "[meta]log:push", true),
        ("room", "room", true),
        ("room", "room2", false), ("roo*", "room", false), ("roo*", "roo*", true), ("\u{e9}", "e\u{301}", false),
    ])
    func `a resource is one channel, a namespace, or all`(resource: String, channel: String, isAllowed: Bool) throws {
        let capability = try #require(AblyCapability([resource: ["publish"]]))
        #expect(capability.allows(.publish, on: channel) == isAllowed)
        #expect(!capability.allows(.pushAdmin, on: channel))
    }

    @Test(
        arguments: [
            (["*": ["publish"]], ["*": ["publish", "push-admin"]], ["*": ["publish"]]),
            (["*": ["*"]], ["chat:*": ["push-subscribe"]], ["chat:*": ["push-subscribe"]]),
            (["chat:*": ["publish"]], ["*": ["*"]], ["chat:*": ["publish"]]),
            (["chat:a": ["publish"], "x": ["publish"]], ["chat:*": ["publish"]], ["chat:a": ["publish"]]),
            (["*": ["publish"]], ["[*]*": ["*"]], ["*": ["publish"]]),
            (["[*]*": ["publish"]], ["*": ["*"]], ["*": ["publish"]]),
            (["chat:*": ["publish"]], ["chat:vip:*": ["*"]], ["chat:vip:*": ["publish"]]),
            (["a": ["publish"]], ["b": ["*"]], [:]),
            (["a": ["publish"]], ["a": ["push-admin"]], [:]), (["[meta]log:push": ["history"]], ["*": ["*"]], [:]),
        ] as [(JSONValue, JSONValue, JSONValue)]
    )
    func `a token's capability is cut to its key's`(asked: JSONValue, key: JSONValue, both: JSONValue) throws {
        let asked = try #require(AblyCapability(asked))
        #expect(asked.cut(to: try #require(AblyCapability(key))).json == AblyCapability(both)?.json)
    }

    @Test(
        arguments: [
            5, "text", "[]", ["*": "publish"], ["*": [1]], .string(#"{"*":{}}"#), .null,
            .object((0...200).reduce(into: JSONObject()) { $0["c\($1)"] = ["publish"] }),
        ] as [JSONValue]
    )
    func `what is no capability is none`(value: JSONValue) { #expect(AblyCapability(value) == nil) }

    @Test(arguments: [
        ("app1.key" as String?, true), (nil, true), ("app2.key", false), ("app1", false), ("app1.", false),
        ("APP1.key", false),
        ("app10.key", false),
    ])
    func `a key is named after an application that its network has bound`(name: String?, isMade: Bool) async throws {
        try await withStage(AblyFace.init) { stage in
            let request = FaceKeyRequest(
                networkID: "acme",
                boundNames: ["app1"],
                name: name,
                secret: nil,
                label: nil,
                now: FaceStage.now
            )
            let errors = InputErrors()
            var reader = JSONObjectReader(["rights": ["*": ["publish"]]], unknown: .refuse, into: errors)
            let key = stage.face.makeKey(request, from: &reader)
            #expect((key != nil) == isMade && errors.isEmpty == isMade)
            #expect(key?.stored.key.name.hasPrefix("app1.") ?? true)
        }
    }

    @Test func `a capability may be a text, and is written in order`() throws {
        let capability = try #require(AblyCapability(#"{"b":["publish","history"],"a":["*"],"c":[]}"#))
        #expect(capability.text == #"{"a":["*"],"b":["history","publish"]}"#)
    }
}
