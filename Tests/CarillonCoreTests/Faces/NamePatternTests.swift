import Testing

@testable import CarillonCore

@Suite struct NamePatternTests {
    @Test(arguments: [
        ("*", "", true), ("*", "org.acme", true), ("org.*.ios", "org.acme.ios", true), ("org.*.ios", "org..ios", true),
        ("org.*.ios", "org.acme.ios.dev", false), ("*.ios", "org.acme.ios", true), ("*.ios", "ios", false),
        ("org.acme?", "org.acme2", true), ("org.acme?", "org.acme", false), ("org.acme?", "org.acme22", false),
        ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-c-b", false), ("??*", "ab", true), ("??*", "a", false),
        ("?", "\u{1F600}", true), ("a*", "A", false), ("a.c*", "abc", false), ("*a", "ba*", false),
    ])
    func `a star is any text, a question mark any one character`(pattern: String, name: String, isMatch: Bool) throws {
        let pattern = try #require(NamePattern(pattern))
        #expect(pattern.matches(Array(name.unicodeScalars)) == isMatch)
    }

    @Test func `a name without wildcards is no pattern`() {
        #expect(NamePattern("org.acme.ios") == nil)
        #expect(NamePattern("") == nil)
        #expect(NamePattern("org.acme.*")?.isPrefix == true)
        for pattern in ["org.*.ios", "org.?*", "*.*", "org?"] { #expect(NamePattern(pattern)?.isPrefix == false) }
    }

    @Test func `many stars take no more steps than the product of both lengths`() throws {
        let pattern = try #require(NamePattern(String(repeating: "*a", count: 128)))
        let name = Array(String(repeating: "a", count: 255).unicodeScalars) + ["b"]
        #expect(!pattern.matches(name))
    }
}
