import CarillonCore
import Testing

@Suite struct JSONObjectReaderTests {
    enum Flavour: String, CaseIterable { case sweet, sour }

    private let errors = InputErrors()

    @Test func `reads every kind of member`() {
        var reader = JSONObjectReader(
            [
                "text": "hello", "on": true, "count": 10, "at": "2026-11-20T10:00:00Z", "user": "alice",
                "flavour": "sour", "object": ["inner": "x"], "list": [1, 2], "words": ["a", "b"], "ids": ["bob"],
            ],
            unknown: .refuse,
            into: errors
        )
        #expect(reader.string("text") == "hello")
        #expect(reader.bool("on") == true)
        #expect(reader.integer("count", in: 1...10) == 10)
        #expect(reader.timestamp("at")?.milliseconds == 1_795_168_800_000)
        #expect(reader.userID("user") == UserID(trusted: "alice"))
        #expect(reader.choice("flavour", as: Flavour.self) == .sour)
        var object = reader.object("object")
        #expect(object?.identifier("inner", as: Channel.self) == ChannelID(trusted: "x"))
        object?.finish()
        #expect(reader.array("list", maximumCount: 2) == [1, 2])
        #expect(reader.strings("words", maximumCount: 2) == ["a", "b"])
        #expect(reader.userIDs("ids", maximumCount: 1) == [UserID(trusted: "bob")])
        reader.finish()
        #expect(errors.isEmpty)
        #expect(throws: Never.self) { try errors.throwIfAny(problem: "invalid-test") }
    }

    @Test func `answers nothing for what is absent or null, and complains only when it is required`() {
        var reader = JSONObjectReader(["a": .null], unknown: .refuse, into: errors)
        #expect(reader.string("a") == nil)
        #expect(reader.bool("b") == nil)
        #expect(reader.object("c") == nil)
        #expect(reader.contains("a") && reader.isNull("a"))
        #expect(!reader.contains("b") && !reader.isNull("b"))
        #expect(errors.isEmpty)
        #expect(reader.string("a", required: true) == nil)
        #expect(reader.timestamp("b", required: true) == nil)
        #expect(
            errors.errors == [
                FieldError(pointer: "/a", detail: "is required"), FieldError(pointer: "/b", detail: "is required"),
            ]
        )
    }

    @Test func `a limit that there is not is not told`() {
        var reader = JSONObjectReader(["free": [1], "short": [1]], unknown: .refuse, into: errors)
        #expect(reader.strings("free", maximumCount: 2, maximumBytes: .max) == nil)
        #expect(reader.strings("short", maximumCount: 2, maximumBytes: 4) == nil)
        #expect(
            errors.errors == [
                FieldError(pointer: "/free/0", detail: "must be a string"),
                FieldError(pointer: "/short/0", detail: "must be a string of at most 4 bytes of UTF-8"),
            ]
        )
    }

    @Test func `notes every wrong member with its pointer, and never its value`() throws {
        let wrong: JSONValue = .string("wrong-value")
        let fraction = try #require(JSONNumber(1.5))
        var reader = JSONObjectReader(
            [
                "string": 1, "empty": "", "long": "12345", "bool": wrong, "integer": 11, "fraction": .number(fraction),
                "at": wrong,
                "choice": wrong, "object": wrong, "array": wrong, "many": [1, 2], "strings": ["a", 2, "12345"],
                "id": "", "me": "me", "ids": ["bob", "me", 1],
            ],
            at: "/data",
            unknown: .refuse,
            into: errors
        )
        #expect(reader.string("string") == nil)
        #expect(reader.string("empty", nonEmpty: true) == nil)
        #expect(reader.string("long", maximumBytes: 4) == nil)
        #expect(reader.bool("bool") == nil)
        #expect(reader.integer("integer", in: 1...10) == nil)
        #expect(reader.integer("fraction", in: 1...10) == nil)
        #expect(reader.timestamp("at") == nil)
        #expect(reader.choice("choice", as: Flavour.self) == nil)
        #expect(reader.object("object") == nil)
        #expect(reader.array("array", maximumCount: 1) == nil)
        #expect(reader.array("many", maximumCount: 1) == nil)
        #expect(reader.strings("strings", maximumCount: 5, maximumBytes: 4) == nil)
        #expect(reader.identifier("id", as: Channel.self) == nil)
        #expect(reader.userID("me") == nil)
        #expect(reader.userIDs("ids", maximumCount: 5) == nil)
        reader.finish()
        #expect(
            errors.errors.map(\.pointer) == [
                "/data/string", "/data/empty", "/data/long", "/data/bool", "/data/integer", "/data/fraction",
                "/data/at",
                "/data/choice", "/data/object", "/data/array", "/data/many", "/data/strings/1", "/data/strings/2",
                "/data/id", "/data/me", "/data/ids/1", "/data/ids/2",
            ]
        )
        #expect(errors.errors.allSatisfy { !$0.detail.contains("wrong-value") })
        #expect(errors.errors[7].detail == "must be one of sweet, sour")
        let thrown = try #require(throws: InvalidInput.self) { try errors.throwIfAny(problem: "invalid-test") }
        #expect(thrown == InvalidInput(problem: "invalid-test", errors: errors.errors))
    }

    @Test func `refuses members that nobody asked for, at every level`() {
        var reader = JSONObjectReader(["a/b": 1, "known": ["typo": 1]], unknown: .refuse, into: errors)
        let known = reader.object("known")
        known?.finish()
        reader.finish()
        #expect(
            errors.errors == [
                FieldError(pointer: "/known/typo", detail: "unknown member"),
                FieldError(pointer: "/a~1b", detail: "unknown member"),
            ]
        )
    }

    @Test func `tolerates members that nobody asked for, where told so`() {
        var reader = JSONObjectReader(["a": 1, "known": ["typo": 1]], unknown: .tolerate, into: errors)
        let known = reader.object("known")
        known?.finish()
        reader.finish()
        #expect(errors.isEmpty)
    }

    @Test(arguments: [.null, true, 1, "text", []] as [JSONValue])
    func `takes a value that is no object as one error`(value: JSONValue) {
        var reader = JSONObjectReader(value, at: "/3", unknown: .refuse, into: errors)
        #expect(reader.string("a", required: true) == nil)
        reader.finish()
        #expect(errors.errors == [FieldError(pointer: "/3", detail: "must be an object")])
    }

    @Test func `keeps the first twenty errors`() {
        var object = JSONObject()
        for number in 0..<1000 {
            object["k\(number)"] = 0
        }
        JSONObjectReader(.object(object), unknown: .refuse, into: errors).finish()
        #expect(errors.errors.map(\.pointer) == (0..<20).map { "/k\($0)" })
        #expect(errors.isFull)
    }
}
