import CarillonCore
import Testing

@Suite struct LocaleTagTests {
    @Test(arguments: [
        "", "e", "english-", "-en", "en--US", "en-", "1en", "e1", "en-toolongpart", "en US", "englishes", "ไทย", "en-ü",
        "en/US", "en-x", "en-US-u", "../en", "en-\u{0}", ".en", "abcdefgh-abcdefgh-abcdefgh-abcdefgh1",
    ])
    func `what is no tag is refused`(text: String) {
        #expect(LocaleTag(text) == nil)
    }

    @Test(arguments: [
        ("en", "en"), ("TH-th", "th-TH"), ("th_TH", "th-TH"), ("ZH_hant_tw", "zh-Hant-TW"), ("es-419", "es-419"),
        ("de-1996", "de-1996"), ("sl-rozaj-1994", "sl-rozaj-1994"), ("en-US-U-CA-Buddhist", "en-US-u-ca-buddhist"),
        ("th_TH@calendar=buddhist", "th-TH"), ("en_US.UTF-8", "en-US"), ("in_ID", "id-ID"), ("iw", "he"), ("ji", "yi"),
        ("fil", "fil"), ("en-x-ab", "en-x-ab"),
    ])
    func `a tag gets its usual spelling`(text: String, expected: String) {
        #expect(LocaleTag(text)?.rawValue == expected)
    }

    @Test func `tags are ordered by their text`() throws {
        let tags = try ["th", "zh-Hant", "en", "zh"].map { try #require(LocaleTag($0)) }
        #expect(tags.sorted().map(\.description) == ["en", "th", "zh", "zh-Hant"])
    }
}
