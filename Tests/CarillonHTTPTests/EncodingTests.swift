import CarillonCore
import HTTPTypes
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct EncodingTests {
    @Test(arguments: [
        ([], ""), ([0], "AA"), ([0xFF], "_w"), ([0xFB, 0xFF], "-_8"), ([1, 2, 3], "AQID"),
        (Array("Carillon".utf8), "Q2FyaWxsb24"),
    ])
    func `base64url goes both ways`(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text.utf8) == bytes)
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "A=", "AA==", "A+", "A/", "A A", "AÄ"])
    func `what no encoder writes is refused`(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test(arguments: [
        ("a%20b", "a b"), ("%e0%b8%81", "ก"), ("a+b", "a+b"), ("%2525", "%25"), ("%2F", "/"), ("", ""),
        ("%00", "\u{0}"),
    ])
    func `percent-encoding is decoded once`(text: String, decoded: String) {
        #expect(PercentEncoding.decode(text[...]) == decoded)
    }

    @Test(arguments: ["%", "%1", "%1g", "%g1", "%%", "%ff", "%c0%80", "%ed%a0%80", "a%"])
    func `what is not percent-encoded UTF-8 is refused`(text: String) {
        #expect(PercentEncoding.decode(text[...]) == nil)
    }

    @Test func `lines are cut wherever the parts end`() throws {
        let text = "one\n\n \r\ntwo\r\nthree"
        for size in 1...text.utf8.count {
            var splitter = LineSplitter()
            var lines: [String] = []
            let note = { (line: [UInt8], number: Int) in
                lines.append("\(number):\(String(decoding: line, as: UTF8.self))")
            }
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                let part = Array(bytes[start..<min(start + size, bytes.count)])
                try part.withUnsafeBytes { try splitter.take($0, note) }
            }
            try splitter.finish(note)
            #expect(lines == ["1:one", "4:two\r", "5:three"])
        }
    }

    @Test func `a key says which network it is of, and survives its text`() throws {
        for network in ["acme", "with_underscore", "ก/b", String(repeating: "x", count: 256)] {
            let id = NetworkID(trusted: network)
            let (shown, stored) = APIKeySecret.make(for: id, role: .admin, label: nil, at: TestAPI.now)
            let read = try #require(APIKeySecret(shown.text))
            #expect(read.networkID == id && read.id == stored.key.id && read.matches(stored))
            let other = APIKeySecret.make(for: id, role: .admin, label: nil, at: TestAPI.now).shown
            #expect(!other.matches(stored))
        }
    }

    @Test(arguments: ["ck_", "ck_a", "ck_a_b", "ck_a_b_", "ck_a_b_!", "ck__b_YQ", "ck_a__YQ", "sk_a_b_YQ", "ck_a_b_AA"])
    func `what is no key is none`(text: String) {
        #expect(APIKeySecret(text) == nil)
    }
}
