import CarillonCore
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

/// Bodies that come packed: each dialect takes them within the limit, and whole.
@Suite struct PackedBodyTests {
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
        try await withAPI { api in
            let network = try await api.makeNetwork()
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
    }

    @Test func `what is signed is the unpacked body`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let document = #"{"secrets":["test_secret_do_not_use_in_production"]}"#
            _ = try await api.call(.put, network.path("dialects/stream"), document, as: network.adminKey)
            let name = try #require(HTTPField.Name("x-signature"))
            let signature = [name: "2e66916a2ea83e3c1ea981b000f44cff38e3ed7628ad909ee6a78d4bc3fdd714"]
            #expect(try await post(Self.packed, .stream, signature, api, network) == 200)
            #expect(try await post(Array(Self.plain.utf8), .stream, signature, api, network) == 200)
            #expect(try await post(Array((Self.plain + " ").utf8), .stream, signature, api, network) == 401)
        }
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
