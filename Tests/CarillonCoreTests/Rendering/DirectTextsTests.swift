import Testing

@testable import CarillonCore

@Suite struct DirectTextsTests {
    private func rendered(_ texts: DirectTexts, _ locales: [String], networkDefault: String? = nil) throws -> [String] {
        let notification = try sampleCatalog().render(
            NotificationSubject(texts),
            locales: locales,
            networkDefault: networkDefault
        )
        return [notification.locale, notification.title, notification.body]
    }

    private func texts(_ byLocale: [String: DirectTexts.Text], _ text: DirectTexts.Text = .init()) throws -> DirectTexts
    {
        var texts = DirectTexts(text)
        for (locale, text) in byLocale { texts.byLocale[try #require(LocaleTag(locale))] = text }
        return texts
    }

    @Test func `the language is chosen as that of a template`() throws {
        let texts = try texts(
            ["th": .init(title: "T", body: "B"), "pt": .init(title: "P", body: "Q")],
            .init(title: "Any", body: "Body")
        )
        #expect(try rendered(texts, ["th-TH"]) == ["th", "T", "B"])
        #expect(try rendered(texts, ["xx", "pt-BR"]) == ["pt", "P", "Q"])
        #expect(try rendered(texts, ["fr"]) == ["en", "Any", "Body"])
        #expect(try rendered(texts, ["fr"], networkDefault: "de") == ["de", "Any", "Body"])
        #expect(try rendered(texts, [], networkDefault: "th") == ["th", "T", "B"])
    }

    @Test func `what one language leaves out is found by itself`() throws {
        let texts = try texts(
            ["th-TH": .init(title: "TT"), "th": .init(body: "B"), "id": .init(body: "I")],
            .init(title: "Any", body: "Body")
        )
        #expect(try rendered(texts, ["th-TH"]) == ["th-TH", "TT", "B"])
        #expect(try rendered(texts, ["th"]) == ["th", "Any", "B"])
        #expect(try rendered(texts, ["id"], networkDefault: "th-TH") == ["id", "TT", "I"])
    }

    @Test func `texts alone are enough: who prefers none of them gets one`() throws {
        let texts = try texts(["th": .init(title: "T"), "id": .init(title: "I")])
        #expect(try rendered(texts, ["fr"]) == ["en", "I", ""])
        #expect(try rendered(texts, ["fr"], networkDefault: "th") == ["th", "T", ""])
    }

    @Test func `the language does not depend on who was asked about before`() throws {
        let texts = try texts(["th": .init(title: "T")], .init(title: "Any"))
        var renderer = NotificationRenderer(
            NotificationSubject(texts),
            catalog: try sampleCatalog(),
            networkDefault: "de"
        )
        let first = renderer.template(deviceLocale: nil, userLocale: nil)
        #expect(renderer.notification(for: first).title == "Any")
        let second = renderer.template(deviceLocale: "de", userLocale: "th")
        #expect(renderer.notification(for: second).title == "T")
    }

    @Test func `the words are cleaned and cut`() throws {
        let long = String(repeating: "x", count: 3_000)
        let texts = DirectTexts(.init(title: "a\u{202E}b\nc\u{7}", body: "d\u{2066}e\nf" + long))
        let shown = try rendered(texts, ["en"])
        #expect(shown[1] == "ab c")
        #expect(shown[2].hasPrefix("de\nfxxx"))
        #expect(shown[2].count == 2_000)
        #expect(shown[2].hasSuffix("…"))
    }

    @Test func `percent signs and braces are words`() throws {
        let texts = DirectTexts(.init(title: "100% %1s {{Message}}"))
        #expect(try rendered(texts, [])[1] == "100% %1s {{Message}}")
    }
}
