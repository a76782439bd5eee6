import CarillonCore
import Testing

@Suite struct UserTextTests {
    static let bidiControls = Array(0x202A...0x202E as ClosedRange<UInt32>) + Array(0x2066...0x2069)
    static let controls = Array(0x00...0x1F as ClosedRange<UInt32>) + Array(0x7F...0x9F)

    @Test(arguments: bidiControls + controls.filter { $0 != 0x0A })
    func `controls are dropped everywhere`(code: UInt32) throws {
        let hostile = "a\(try #require(Unicode.Scalar(code)))b"
        let notification = try fill(
            "%s",
            "%s{{UserDisplayName}}{{ChannelName}}",
            .message(hostile, from: hostile, in: hostile)
        )
        #expect(notification.title == "ab")
        #expect(notification.body == "ababab")
    }

    @Test(arguments: [
        "\u{200C}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{61C}", "\u{FEFF}", "\u{A0}", "…", "“", "\u{202F}",
        "\u{2065}", "\u{206A}",
    ])
    func `everything else stays, next to what goes`(kept: String) throws {
        let notification = try fill("%s", "%s", .message("a\(kept)\u{7}b", from: "a\u{202E}\(kept)b"))
        #expect(Array(notification.title.unicodeScalars) == Array("a\(kept)b".unicodeScalars))
        #expect(Array(notification.body.unicodeScalars) == Array("a\(kept)b".unicodeScalars))
    }

    @Test(arguments: [
        ("a\nb", "a b", "a\nb"), ("a\r\nb", "a b", "a\nb"), ("a\rb", "ab", "ab"), ("a\n\nb", "a  b", "a\n\nb"),
        ("a\u{2028}b", "a b", "a\u{2028}b"), ("a\u{2029}b", "a b", "a\u{2029}b"), ("a\u{85}b", "ab", "ab"),
    ])
    func `a newline becomes a space in a title and stays in a body`(text: String, title: String, body: String) throws {
        let notification = try fill("%s", "%s", .message(text, from: text))
        #expect(Array(notification.title.unicodeScalars) == Array(title.unicodeScalars))
        #expect(Array(notification.body.unicodeScalars) == Array(body.unicodeScalars))
    }

    @Test func `nothing but controls leaves nothing`() throws {
        #expect(try fill("[%s]", "[%s]", .message("\u{0}\u{202E}", from: "\u{7F}\u{9F}")).title == "[]")
        #expect(try fill("[%s]", "[%s]", .message("\u{0}\u{202E}", from: "\u{7F}\u{9F}")).body == "[]")
    }

    @Test func `the message is not isolated whatever its direction`() throws {
        #expect(try fill("x", "%s", .message("مرحبا")).body == "مرحبا")
        #expect(try fill("x", "%s", .message("Hello"), locale: "ar").body == "Hello")
    }
}
