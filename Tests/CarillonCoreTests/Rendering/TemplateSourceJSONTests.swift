import CarillonCore
import Testing

@Suite struct TemplateSourceJSONTests {
    @Test(arguments: [
        (#"[]"#, [""]), (#""text""#, [""]), (#"{}"#, ["/title", "/body"]),
        (#"{"title":"t"}"#, ["/body"]), (#"{"title":null,"body":null}"#, ["/title", "/body"]),
        (#"{"title":1,"body":"b"}"#, ["/title"]), (#"{"title":"t","body":1}"#, ["/body"]),
        (#"{"title":"t","body":["b"]}"#, ["/body"]), (#"{"title":"t","body":{"one":1}}"#, ["/body/one"]),
        (#"{"title":"t","body":{"two":"b"}}"#, ["/body/two"]), (#"{"title":"t","body":"b","x/y":1}"#, ["/x~1y"]),
        (#"{"titel":"t","body":"b"}"#, ["/title", "/titel"]), (#"{"title":["t"],"body":"b"}"#, ["/title"]),
        (#"{"title":{"channel":1,"group":"t"},"body":"b"}"#, ["/title/channel", "/title/group"]),
    ])
    func `a body of another shape is refused with its place`(json: String, pointers: [String]) throws {
        let value = try JSONValue(parsing: Array(json.utf8))
        for prefix in ["", "/template"] {
            let error = try #require(throws: InvalidInput.self) { try TemplateSource(json: value, at: prefix) }
            #expect(error.problem == "invalid-template")
            #expect(error.errors.map(\.pointer) == pointers.map { prefix + $0 })
        }
    }

    @Test(arguments: [
        (#"{"title":"%s","body":"b"}"#, TemplateSource(title: "%s", body: .one("b"))),
        (#"{"title":"t","body":{}}"#, TemplateSource(title: "t", body: .variants([:]))),
        (
            #"{"title":{"channel":"a","direct":"b"},"body":"c"}"#,
            TemplateSource(title: .variants([.direct: "b", .channel: "a"]), body: "c")
        ),
        (
            #"{"title":"t","body":{"one":"a","many":"b"}}"#,
            TemplateSource(title: "t", body: .variants([.one: "a", .many: "b"]))
        ),
        (
            #"{"title":"t","body":{"text":"a","image":"b","other":"c"}}"#,
            TemplateSource(title: "t", body: .variants([.text: "a", .image: "b", .other: "c"]))
        ),
    ])
    func `a template is read and written alike`(json: String, source: TemplateSource) throws {
        #expect(try TemplateSource(json: JSONValue(parsing: Array(json.utf8))) == source)
        #expect(source.json.serializedText == json)
    }
}
