import CarillonCore
import CarillonTemplates
import Testing

@Suite struct TemplateFileTests {
    @Test(
        arguments: [
            ("", nil, "is empty"),
            ("# nothing\n", nil, "is empty"),
            ("- a\n", 1, "must map event types to templates"),
            ("text", 1, "must map event types to templates"),
            ("\n\"a\nb: {\n", 4, ""),
            ("a: b: c\n", 1, ""),
            (
                "channel.created: {title: a, body: b}\nchannel.created: {title: a, body: b}\n", 1,
                "'channel.created' stands"
            ),
            (
                "\nchannel.deleted: {title: a, body: b}\n", 2,
                "unknown event type; known are channel.created, channel.invited, member.joined"
            ),
            ("user.updated: {title: a, body: b}\n", 1, "unknown event type"),
            ("channel.created: text\n", 1, "channel.created must have title, body"),
            ("channel.created:\n  title: a\n", 2, "channel.created needs a title and a body"),
            ("channel.created:\n  title: a\n  body: b\n  sound: c\n", 4, "channel.created may only have title, body"),
            ("channel.created:\n  title: [a]\n  body: b\n", 2, "channel.created title must be a text"),
            (
                "message.sent:\n  title:\n    group: a\n  body: b\n", 3,
                "message.sent title may only have channel, direct"
            ),
            ("message.sent:\n  title:\n    direct: [a]\n  body: b\n", 3, "message.sent title.direct must be a text"),
            ("message.sent:\n  title:\n    direct: \"%3s\"\n  body: b\n", 3, "message.sent title.direct: column 1"),
            ("channel.created:\n  title: a\n  body: [b]\n", 3, "channel.created body must be a text"),
            ("channel.created:\n  title: a\n  body:\n    one: b\n", 4, "channel.created body must be one text"),
            ("member.joined:\n  title: a\n  body:\n    text: b\n", 4, "member.joined body may only have one, many"),
            ("member.joined:\n  title: a\n  body:\n    one: [b]\n", 4, "member.joined body.one must be a text"),
            ("channel.created:\n  title: \"a %\"\n  body: b\n", 2, "channel.created title: column 3: a lone '%'"),
            ("channel.created:\n  title: a\n  body: \"%2s\"\n", 3, "channel.created body: column 1: there is no such"),
            (
                "member.joined:\n  title: a\n  body:\n    one: b\n    many: \"x {{Message}}\"\n", 5,
                "member.joined body.many: column 3: this event has no Message"
            ),
            ("channel.created:\n  title: \"\"\n  body: b\n", 2, "channel.created title: must not be empty"),
        ] as [(String, Int?, String)]
    )
    func `a mistake is reported with its line`(yaml: String, line: Int?, detail: String) throws {
        let error = try #require(throws: TemplateFileError.self) { try file(yaml) }
        #expect(error.path == "Templates/th.yaml")
        #expect(error.mistakes.map(\.line) == [line])
        #expect(error.mistakes.first?.detail.hasPrefix(detail) == true, "\(error)")
    }

    @Test func `all mistakes of a file are reported, one a line`() throws {
        let yaml = "channel.created:\n  title: \"%\"\n  body: \"%9s\"\nother: x\n"
        let error = try #require(throws: TemplateFileError.self) { try file(yaml) }
        #expect(error.mistakes.map(\.line) == [2, 3, 4])
        let lines = error.description.split(separator: "\n")
        #expect(
            lines.map { $0.prefix(20) } == ["Templates/th.yaml:2:", "Templates/th.yaml:3:", "Templates/th.yaml:4:"]
        )
    }

    @Test func `a file is read in its language`() throws {
        let file = try file(
            "member.joined:\n  title: \"%s\"\n  body: {one: \"%1s\", many: yes}\nchannel.created: {title: 1, body: b}\n"
        )
        #expect(file.locale.rawValue == "th")
        #expect(file.templates.map(\.eventType) == [.memberJoined, .channelCreated])
        #expect(file.templates.allSatisfy { $0.locale == file.locale })
        #expect(
            file.templates.map(\.source) == [
                TemplateSource(title: "%s", body: .variants([.one: "%1s", .many: "yes"])),
                TemplateSource(title: "1", body: .one("b")),
            ]
        )
    }

    private func file(_ yaml: String) throws -> TemplateFile {
        try TemplateFile(yaml: yaml, locale: #require(LocaleTag("th")), path: "Templates/th.yaml")
    }
}
