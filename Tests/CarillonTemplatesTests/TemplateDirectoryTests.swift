import CarillonCore
import CarillonTemplates
import Foundation
import Testing

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
            #expect(catalog.render(.channelCreated(channel: "c"), locales: ["th"]).body == "ไทย")
            let joined = NotificationSubject.memberJoined(user: "u", channel: "c", furtherJoiners: 0)
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
