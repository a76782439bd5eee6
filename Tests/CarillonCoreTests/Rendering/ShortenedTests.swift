import CarillonCore
import Testing

@Suite struct ShortenedTests {
    static let clusters = [
        "x", "é", "ก", "ที่", "👨‍👩‍👧‍👦", "👨🏽‍👩🏽‍👧🏽‍👦🏽", "🇹🇭", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "e\u{301}\u{302}", "\r\n", "각", "👍🏿", "नि",
    ]

    @Test(arguments: clusters)
    func `a title has at most 200 characters`(cluster: String) throws {
        let cluster = cluster == "\r\n" ? "\u{A0}" : cluster
        let exact = String(repeating: cluster, count: 200)
        #expect(try fill("%s", "x", .message(from: exact)).title == exact)
        let cut = try fill("%s", "x", .message(from: exact + cluster)).title
        #expect(cut == String(repeating: cluster, count: 199) + "…")
        #expect(cut.count == 200)
    }

    @Test(arguments: clusters.filter { $0 != "\r\n" })
    func `a body has at most 2,000 characters`(cluster: String) throws {
        let exact = String(repeating: cluster, count: 2_000)
        #expect(try fill("x", "%s", .message(exact)).body == exact)
        let cut = try fill("x", "%s", .message(exact + cluster)).body
        #expect(cut == String(repeating: cluster, count: 1_999) + "…")
    }

    @Test func `the cut counts the whole text, not each argument`() throws {
        let name = String(repeating: "n", count: 150)
        let title = try fill("%1s (%2s)", "x", .message(from: name, in: name)).title
        #expect(title == name + " (" + String(repeating: "n", count: 47) + "…")
    }

    @Test func `a long template is cut as well`() throws {
        #expect(try fill(String(repeating: "t", count: 201), "x", .message()).title.count == 200)
    }

    @Test func `dropped characters do not count`() throws {
        let text = String(repeating: "a\u{7}", count: 2_000)
        #expect(try fill("x", "%s", .message(text)).body == String(repeating: "a", count: 2_000))
    }

    @Test func `a quarter of a megabyte is cut like any other text`() throws {
        let text = String(repeating: "Hello ", count: 43_000)
        #expect(try fill("x", "%s", .message(text)).body == text.prefix(1_999) + "…")
        let hostile = String(repeating: "\u{202E}a", count: 65_000)
        #expect(try fill("x", "%s", .message(hostile)).body == String(repeating: "a", count: 1_999) + "…")
    }

    @Test func `ten thousand marks on one letter are one character`() throws {
        let text = "a" + String(repeating: "\u{301}", count: 10_000)
        let body = try fill("x", "%s", .message(text)).body
        #expect(Array(body.utf8) == Array(text.utf8))
    }

    @Test func `one character over the byte limit is cut inside, between scalars`() throws {
        let text = "a" + String(repeating: "\u{301}", count: 100_000)
        let body = try fill("x", "%s", .message(text)).body
        #expect(body.utf8.count == 128_000)
        #expect(body.unicodeScalars.last == "…")
        #expect(body.unicodeScalars.dropLast().dropFirst().allSatisfy { $0 == "\u{301}" })
        let title = try fill("%s", "x", .message(from: text)).title
        #expect((12_798...12_800).contains(title.utf8.count))
        #expect(title.unicodeScalars.last == "…")
    }

    @Test func `characters that are many and large are cut between them at the byte limit`() throws {
        let cluster = "z" + String(repeating: "\u{301}", count: 100)
        let title = try fill("%s", "x", .message(from: String(repeating: cluster, count: 190))).title
        let kept = (12_800 - 3) / 201
        #expect(title == String(repeating: cluster, count: kept) + "…")
    }

    @Test func `an isolate that is cut is closed within the limit`() throws {
        let title = try fill("%s!", "x", .message(from: String(repeating: "م", count: 300))).title
        #expect(title == "\u{2068}" + String(repeating: "م", count: 197) + "\u{2069}…")
        #expect(title.count == 200)
    }

    @Test(arguments: 190...202)
    func `no cut leaves an isolate open`(length: Int) throws {
        let user = String(repeating: "x", count: length)
        let whole = "\(user) \u{2068}مم\u{2069}"
        let title = try fill("%1s %2s", "x", .message(from: user, in: "مم")).title
        let open = title.unicodeScalars.count { $0 == "\u{2068}" }
        #expect(open == title.unicodeScalars.count { $0 == "\u{2069}" })
        #expect(title.count <= 200)
        #expect(whole.count <= 200 ? title == whole : title.hasSuffix("…"))
    }

    @Test(arguments: [
        ("abc", 3, 100, "abc"), ("abcd", 3, 100, "ab…"), ("abcd", 1, 100, "…"), ("abcd", 100, 3, "…"),
        ("abcd", 100, 4, "abcd"), ("abcde", 100, 4, "a…"), ("éé", 100, 4, "éé"), ("ééé", 100, 5, "é…"),
        ("ééé", 100, 4, "…"), ("\u{2068}abcde\u{2069}", 100, 10, "\u{2068}a\u{2069}…"), ("", 1, 3, ""),
        ("👨‍👩‍👧", 2, 10, "👨‍…"), ("👨‍👩‍👧", 1, 10, "…"), ("👨‍👩‍👧", 1, 3, "…"),
        ("a👨‍👩‍👧", 9, 10, "a…"),
    ])
    func `both limits hold`(text: String, characters: Int, bytes: Int, expected: String) {
        let short = text.shortened(toCharacters: characters, bytes: bytes)
        #expect(Array(short.unicodeScalars) == Array(expected.unicodeScalars))
    }
}
