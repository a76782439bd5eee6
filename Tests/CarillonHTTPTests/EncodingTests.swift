import CarillonCore
import CarillonTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
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

/// Bodies that come packed: each dialect takes them within the limit, and whole.
@Suite(.acme) struct PackedBodyTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    private func post(
        _ bytes: [UInt8],
        _ name: DialectName,
        _ headers: [HTTPField.Name: String] = [:],
        _ api: TestAPI,
        _ network: Credentials
    ) async throws -> Int {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        for (name, value) in headers { fields[name] = value }
        let path = network.path("events/\(name.rawValue)")
        return try await api.client.execute(
            uri: path,
            method: .post,
            headers: fields,
            body: ByteBuffer(bytes: bytes)
        ).status.code
    }

    @Test(arguments: DialectName.allCases)
    func `each dialect unpacks gzip within the limit, if it is whole`(_ name: DialectName) async throws {
        let key = [HTTPField.Name.authorization: "Bearer \(network.adminKey)"]
        let plain = try await post(Array(Self.plain.utf8), name, key, api, network)
        #expect(plain == 200 || plain == 400)
        for headers in [key, key.merging([.contentEncoding: "gzip"]) { $1 }] {
            #expect(try await post(Self.packed, name, headers, api, network) == plain)
            for length in [2, 10, 40, Self.packed.count - 1] {
                #expect(try await post(Array(Self.packed.prefix(length)), name, headers, api, network) == 400)
            }
            #expect(try await post(Self.packed + [0], name, headers, api, network) == 400)
        }
        #expect(try await post(Self.bomb, name, key, api, network) == 413)
        let brotli = key.merging([.contentEncoding: "br"]) { $1 }
        #expect(try await post(Self.packed, name, brotli, api, network) == 415)
        let large = [UInt8](repeating: 32, count: 256 * 1024 + 1)
        // Of Matrix more is read.
        #expect(try await post(large, name, key, api, network) == (name == .matrix ? 400 : 413))
    }

    @Test func `what is signed is the unpacked body`() async throws {
        let document = #"{"secrets":["test_secret_do_not_use_in_production"]}"#
        _ = try await network.call(.put, "dialects/stream", document)
        let name = try #require(HTTPField.Name("x-signature"))
        let signature = [name: "2e66916a2ea83e3c1ea981b000f44cff38e3ed7628ad909ee6a78d4bc3fdd714"]
        #expect(try await post(Self.packed, .stream, signature, api, network) == 200)
        #expect(try await post(Array(Self.plain.utf8), .stream, signature, api, network) == 200)
        #expect(try await post(Array((Self.plain + " ").utf8), .stream, signature, api, network) == 401)
    }

    /// What is packed below.
    private static let plain = #"{"type":"channel.created","created_at":1778198400000000000}"#
    /// A body that Stream publishes, packed.
    private static let packed = bytes(
        "H4sIAAAAAAACA6tWKqksSFWyUkrOSMzLS83RSy5KTSxJTVHSUYKy4hNLlKwMzc0tDC0tTAwQoBYAJt0ZtDsAAAA="
    )
    /// Three hundred thousand times the same letter.
    private static let bomb = bytes(
        "H4sIAAAAAAACA+3BAQ0AAADCoKzvX8IeDigAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPgxX/JO9OCTBAA="
    )

    private static func bytes(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }
}
