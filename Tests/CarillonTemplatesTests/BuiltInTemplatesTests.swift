import CarillonCore
import CarillonTemplates
import Foundation
import Testing

@Suite struct BuiltInTemplatesTests {
    static let locales = ["ar", "de", "en", "es", "fr", "id", "ja", "ko", "pt", "th", "vi", "zh", "zh-Hant"]

    static let subjects: [NotificationSubject] = [
        .init(.channelCreated, channel: "CHANNEL"),
        .init(.memberJoined, .one, user: "USER", channel: "CHANNEL", others: 0),
        .init(.memberJoined, .many, user: "USER", channel: "CHANNEL", others: 42),
        .init(.messageSent, .text, user: "USER", channel: "CHANNEL", words: "MESSAGE"),
        .init(.messageSent, .image, user: "USER", channel: "CHANNEL", words: ""),
        .init(.messageSent, .other, user: "USER", channel: "CHANNEL", words: ""),
        .init(.messageSent, .text, user: "USER", channel: "CHANNEL", words: "MESSAGE", isDirect: true),
    ]

    @Test(arguments: EventType.withTemplates)
    func `every language has every event`(eventType: EventType) throws {
        #expect(try builtIns().locales(for: eventType).map(\.rawValue) == Self.locales)
    }

    @Test(arguments: locales)
    func `every language has every variant`(locale: String) throws {
        let tag = try #require(LocaleTag(locale))
        for eventType in EventType.withTemplates where !eventType.kind.variants.isEmpty {
            guard case .variants(let texts) = try builtIns()[eventType, tag]?.source.body else {
                Issue.record("\(eventType) has one body for all variants")
                continue
            }
            #expect(Set(texts.keys) == Set(eventType.kind.variants))
        }
        guard case .variants(let titles) = try builtIns()[.messageSent, tag]?.source.title else {
            Issue.record("messages have one title for all channels")
            return
        }
        #expect(Set(titles.keys) == [.channel, .direct])
    }

    @Test(arguments: locales, subjects)
    func `every argument of the English text is in the translation`(
        locale: String,
        subject: NotificationSubject
    ) throws {
        let catalog = try builtIns()
        let english = catalog.render(subject, locales: ["en"])
        let translated = catalog.render(subject, locales: [locale])
        #expect(translated.locale == locale)
        for argument in ["USER", "CHANNEL", "42", "MESSAGE"] {
            #expect(translated.title.contains(argument) == english.title.contains(argument))
            #expect(translated.body.contains(argument) == english.body.contains(argument))
        }
        if locale != "en", !english.body.contains("MESSAGE") { #expect(translated.body != english.body) }
    }

    @Test func `English is what the contract says`() throws {
        let rendered = try Self.subjects.map { try builtIns().render($0, locales: ["en"]) }
        #expect(
            rendered.map(\.title) == ["CHANNEL", "USER", "USER"] + Array(repeating: "USER (CHANNEL)", count: 3) + [
                "USER"
            ]
        )
        #expect(
            rendered.map(\.body) == [
                "You're now member of CHANNEL!", "USER has joined CHANNEL", "USER and 42 others have joined CHANNEL",
                "MESSAGE", "Image Message", "Special message", "MESSAGE",
            ]
        )
    }

    @Test func `Japanese names the channel first`() throws {
        let joined = NotificationSubject(.memberJoined, .many, user: "田中", channel: "雑談", others: 2)
        #expect(try builtIns().render(joined, locales: ["ja-JP"]).body == "雑談に田中さんと他2人が参加しました")
    }

    @Test func `Latin names are isolated in Arabic and Arabic ones in English`() throws {
        let latin = NotificationSubject(.memberJoined, .one, user: "Bob", channel: "General", others: 0)
        let arabic = NotificationSubject(.memberJoined, .one, user: "محمد", channel: "عام", others: 0)
        let catalog = try builtIns()
        #expect(
            catalog.render(latin, locales: ["ar-EG"]).body
                == "انضم \u{2068}Bob\u{2069} إلى \u{2068}General\u{2069}"
        )
        #expect(catalog.render(arabic, locales: ["ar-EG"]).body == "انضم محمد إلى عام")
        #expect(
            catalog.render(arabic, locales: ["en"]).body
                == "\u{2068}محمد\u{2069} has joined \u{2068}عام\u{2069}"
        )
    }

    @Test(arguments: locales)
    func `translations leave direction to the engine`(locale: String) throws {
        let text = try String(contentsOfFile: "\(templatesDirectory)/\(locale).yaml", encoding: .utf8)
        let marks = text.unicodeScalars.filter { $0.properties.generalCategory == .format }
        #expect(marks.isEmpty)
    }
}

private let templatesDirectory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Templates").path

private func builtIns() throws -> TemplateCatalog { try TemplateCatalog(directory: templatesDirectory) }
