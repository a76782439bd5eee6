import CarillonCore
import Testing

@Suite struct JSONMergePatchTests {
    struct Example: CustomTestStringConvertible, Sendable {
        var original: JSONValue
        var patch: JSONValue
        var result: JSONValue
        var testDescription: String { "\(original.serializedText) + \(patch.serializedText)" }
    }

    /// The table of RFC 7396, appendix A.
    @Test(arguments: [
        Example(original: ["a": "b"], patch: ["a": "c"], result: ["a": "c"]),
        Example(original: ["a": "b"], patch: ["b": "c"], result: ["a": "b", "b": "c"]),
        Example(original: ["a": "b"], patch: ["a": nil], result: [:]),
        Example(original: ["a": "b", "b": "c"], patch: ["a": nil], result: ["b": "c"]),
        Example(original: ["a": ["b"]], patch: ["a": "c"], result: ["a": "c"]),
        Example(original: ["a": "c"], patch: ["a": ["b"]], result: ["a": ["b"]]),
        Example(original: ["a": ["b": "c"]], patch: ["a": ["b": "d", "c": nil]], result: ["a": ["b": "d"]]),
        Example(original: ["a": [["b": "c"]]], patch: ["a": [1]], result: ["a": [1]]),
        Example(original: ["a", "b"], patch: ["c", "d"], result: ["c", "d"]),
        Example(original: ["a": "b"], patch: ["c"], result: ["c"]),
        Example(original: ["a": "foo"], patch: nil, result: nil),
        Example(original: ["a": "foo"], patch: "bar", result: "bar"),
        Example(original: ["e": nil], patch: ["a": 1], result: ["e": nil, "a": 1]),
        Example(original: [1, 2], patch: ["a": "b", "c": nil], result: ["a": "b"]),
        Example(original: [:], patch: ["a": ["bb": ["ccc": nil]]], result: ["a": ["bb": [:]]]),
    ])
    func `merges as the RFC's own examples`(_ example: Example) {
        #expect(example.original.merging(patch: example.patch) == example.result)
    }

    @Test func `keeps the order of members`() {
        let original: JSONValue = ["c": 1, "b": 2, "a": 3]
        let merged = original.merging(patch: ["z": 9, "b": 5, "c": nil, "y": 8])
        #expect(merged.serializedText == #"{"b":5,"a":3,"z":9,"y":8}"#)
    }
}
