import Testing

@testable import CarillonDialects

@Suite struct EmojiNamesTests {
    @Test(
        arguments: [
            (":tada:", "🎉"), ("a :tada: b :+1:!", "a 🎉 b 👍!"), (":tada::tada:", "🎉🎉"), (":flag_th: :flag-de:", "🇹🇭 🇩🇪"),
            ("(:smile:)", "(😄)"), (":no_such_name:", ":no_such_name:"), ("10:100:30", "10:100:30"),
            ("fe80::b:1", "fe80::b:1"),
            ("x:tada:", "x:tada:"), (":tada:x", ":tada:x"), (":", ":"), ("::", "::"), (":::", ":::"),
            (": tada:", ": tada:"),
            (":สวัสดี:", ":สวัสดี:"), (":flag_t1:", ":flag_t1:"), (":x :tada:", ":x 🎉"),
        ]
    )
    func `names of emoji are shown as people see them`(text: String, shown: String) {
        #expect(EmojiNames.shown(in: text) == shown)
    }

    /// Quadratic work would take minutes rather than a moment.
    @Test(.timeLimit(.minutes(1)))
    func `a text of colons is read`() {
        let text = String(repeating: ":", count: 1_000_000)
        #expect(EmojiNames.shown(in: text) == text)
    }
}
