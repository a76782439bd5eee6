import CarillonCore
@testable import CarillonTemplates
import Foundation
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

@Suite struct TemplateDirectoryTests {
    static let english = """
        channel.created: {title: "%s", body: "b"}
        channel.invited: {title: "%s", body: "b"}
        member.joined: {title: "%s", body: "b"}
        message.sent: {title: "%s", body: {text: "%s", image: i, other: o}}
        """
    static let incomplete = """
        channel.created: {title: "%s", body: "b"}
        channel.invited: {title: "%s", body: "b"}
        member.joined: {title: "%s", body: {one: "x"}}
        message.sent: {title: "%s", body: "%s"}
        """

    @Test(
        arguments: [
            ("th_TH.yaml", english, "/th_TH.yaml: must be named th-TH.yaml"),
            ("TH.yaml", english, "/TH.yaml: must be named th.yaml"),
            ("in.yaml", english, "/in.yaml: must be named id.yaml"),
            ("thai language.yaml", english, "/thai language.yaml: must be named after a language"),
            ("th.yml", english, "/th.yml: must be named .yaml"),
            ("th.yaml", "member.joined: {title: \"%\", body: b}", "/th.yaml:1: member.joined title: column 1: a lone"),
            ("th.yaml", String(repeating: "#", count: 262_145), "/th.yaml: must have at most 262144 bytes"),
            ("en.yaml", "channel.created: {title: a, body: b}", ": the English template of channel.invited is missing"),
            ("en.yaml", incomplete, ": the English template of member.joined is missing or lacks a variant"),
        ] as [(String, String, String)]
    )
    func `a file that is wrong stops the loading`(name: String, yaml: String, description: String) throws {
        let files = ["en.yaml": Self.english].merging([name: yaml]) { _, other in other }
        try withDirectory(files.mapValues { Data($0.utf8) }) { path in
            let error = try #require(throws: TemplateFileError.self) { try TemplateCatalog(directory: path) }
            #expect(error.description.hasPrefix(path + description), "\(error)")
        }
    }

    @Test func `a file that is not UTF-8 stops the loading`() throws {
        try withDirectory(["en.yaml": Data(Self.english.utf8), "th.yaml": Data([0x61, 0xFF])]) { path in
            let error = try #require(throws: TemplateFileError.self) { try TemplateCatalog(directory: path) }
            #expect(error == TemplateFileError(path: "\(path)/th.yaml", mistakes: [.init(detail: "must be UTF-8")]))
        }
    }

    @Test func `no folder and an empty folder stop the loading`() throws {
        try withDirectory([:]) { path in
            #expect(throws: TemplateFileError.self) { try TemplateCatalog(directory: path) }
            #expect(throws: TemplateFileError.self) { try TemplateCatalog(directory: "\(path)/none") }
        }
    }

    @Test func `files of other kinds are passed over`() throws {
        let files = ["en.yaml": Self.english, "README.md": "%", ".th.yaml": "%", "th.yaml~": "%"]
        try withDirectory(files.mapValues { Data($0.utf8) }) { path in
            let catalog = try TemplateCatalog(directory: "\(path)/")
            #expect(catalog.locales(for: .messageSent) == [.english])
        }
    }

    @Test func `a language may have one event only`() throws {
        let thai = "channel.created: {title: \"%s\", body: ไทย}"
        try withDirectory(["en.yaml": Data(Self.english.utf8), "th.yaml": Data(thai.utf8)]) { path in
            let catalog = try TemplateCatalog(directory: path)
            #expect(catalog.render(NotificationSubject(.channelCreated, channel: "c"), locales: ["th"]).body == "ไทย")
            let joined = NotificationSubject(.memberJoined, .one, user: "u", channel: "c", others: 0)
            #expect(catalog.render(joined, locales: ["th"]).locale == "en")
        }
    }

    private func withDirectory(_ files: [String: Data], _ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "templates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (name, data) in files { try data.write(to: directory.appending(path: name)) }
        try body(directory.path)
    }
}
