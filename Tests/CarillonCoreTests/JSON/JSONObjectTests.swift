import CarillonCore
import Testing

@Suite struct JSONObjectTests {
    @Test func `keeps members in the order in which they came`() throws {
        let text = #"{"z":1,"a":{"y":2,"b":3},"m":4}"#
        let value = try JSONValue(parsing: text)
        #expect(value.serializedText == text)
        #expect(value == ["m": 4, "a": ["b": 3, "y": 2], "z": 1], "order does not matter for equality")
        #expect(value != ["m": 4, "a": ["b": 3, "y": 0], "z": 1])
        #expect(value != ["m": 4, "z": 1])
    }

    /// Small objects are searched and large ones hashed; both must behave alike.
    @Test(arguments: [3, 16, 17, 100])
    func `replaces in place, adds at the end, removes with nil`(count: Int) {
        var object = JSONObject()
        for number in 0..<count {
            object["k\(number)"] = .number(JSONNumber(number))
        }
        object["k1"] = "replaced"
        object["k0"] = nil
        object["absent"] = nil
        object["new"] = .some(.null)
        #expect(object.keys == (1..<count).map { "k\($0)" } + ["new"])
        #expect(object["k1"] == "replaced")
        #expect(object["k0"] == nil)
        #expect(!object.contains("k0"))
        #expect(object.contains("new"))
        #expect(object["new"] == .some(.null))
        #expect(object["k\(count - 1)"] == (count == 2 ? "replaced" : .number(JSONNumber(count - 1))))
        #expect(object.count == count)
    }

    @Test func `tells names apart by their bytes, not by Unicode equivalence`() throws {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        let value = try JSONValue(parsing: "{\"\(composed)\":1,\"\(decomposed)\":2}")
        guard case .object(let object) = value else {
            Issue.record("this is an object")
            return
        }
        #expect(object[composed] == 1)
        #expect(object[decomposed] == 2)
        let many = (0..<50).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(throws: Never.self) { try JSONValue(parsing: "{\(many),\"\(composed)\":1,\"\(decomposed)\":2}") }
    }
}
