import CarillonCore
import HTTPTypes
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct TrustedProxiesTests {
    private func proxies(_ blocks: String...) throws -> TrustedProxies {
        TrustedProxies(try blocks.map { try CIDRBlock($0) })
    }

    private func client(of peer: String, _ forwarded: String..., by proxies: TrustedProxies) throws -> String {
        var headers = HTTPFields()
        for value in forwarded { headers.append(HTTPField(name: .forwardedFor, value: value)) }
        return proxies.client(of: try #require(IPAddress(peer)), headers).description
    }

    @Test func `what a stranger writes about itself is not believed`() throws {
        #expect(try client(of: "203.0.113.9", "127.0.0.1, 10.0.0.1", by: .loopback) == "203.0.113.9")
        #expect(try client(of: "127.0.0.1", "203.0.113.9", by: .none) == "127.0.0.1")
    }

    @Test func `the list is read from its end, as long as trusted proxies wrote it`() throws {
        let proxies = try proxies("127.0.0.0/8", "10.0.0.0/8")
        #expect(try client(of: "127.0.0.1", "203.0.113.9", by: proxies) == "203.0.113.9")
        #expect(try client(of: "127.0.0.1", "198.51.100.1, 203.0.113.9, 10.0.0.7", by: proxies) == "203.0.113.9")
        #expect(try client(of: "127.0.0.1", "198.51.100.1", "203.0.113.9, 10.0.0.7", by: proxies) == "203.0.113.9")
        #expect(try client(of: "127.0.0.1", "10.0.0.8,10.0.0.7", by: proxies) == "10.0.0.8")
    }

    @Test func `a trusted proxy that says nothing of use stands for its client`() throws {
        for value in ["unknown", "", "203.0.113.9, ", "1.2.3", "[::1", "203.0.113.9, _hidden"] {
            #expect(try client(of: "127.0.0.1", value, by: .loopback) == "127.0.0.1")
        }
        #expect(try client(of: "127.0.0.1", by: .loopback) == "127.0.0.1")
    }

    @Test(arguments: [
        ("203.0.113.9:4711", "203.0.113.9"), ("[2001:db8::1]:4711", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"), ("\t203.0.113.9 ", "203.0.113.9"),
    ])
    func `addresses are read in every form that proxies write`(value: String, address: String) throws {
        #expect(try client(of: "::1", value, by: .loopback) == address)
    }

    @Test(arguments: [
        ("127.0.0.1", "", "", true), ("::1", "", "", true), ("127.0.0.1", "203.0.113.9", "", false),
        ("127.0.0.1", "203.0.113.9", "https", true), ("127.0.0.1", "203.0.113.9", "HTTPS, https", true),
        ("127.0.0.1", "203.0.113.9", "https,http", false), ("127.0.0.1", "", "http", false),
        ("127.0.0.1", "203.0.113.9", "https,", false), ("203.0.113.9", "", "https", false),
        ("203.0.113.9", "127.0.0.1", "", false),
    ])
    func `a request is confidential from this machine, or when a trusted proxy says that it came over TLS`(
        peer: String,
        forwardedFor: String,
        scheme: String,
        isConfidential: Bool
    ) throws {
        var headers = HTTPFields()
        if !forwardedFor.isEmpty { headers[.forwardedFor] = forwardedFor }
        if !scheme.isEmpty { headers[.forwardedProto] = scheme }
        #expect(TrustedProxies.loopback.areConfidential(try #require(IPAddress(peer)), headers) == isConfidential)
    }

    @Test func `only a trusted proxy says that a request came over TLS`() throws {
        let headers: HTTPFields = [.forwardedProto: "https"]
        #expect(TrustedProxies.loopback.heardOverTLS(from: .v4(0x7F00_0001), headers) == true)
        #expect(TrustedProxies.loopback.heardOverTLS(from: .v4(0x7F00_0001), [.forwardedProto: "https, http"]) == false)
        #expect(TrustedProxies.loopback.heardOverTLS(from: .v4(0x7F00_0001), [:]) == nil)
        #expect(TrustedProxies.loopback.heardOverTLS(from: .v4(0xCB00_7109), headers) == nil)
        #expect(TrustedProxies.none.heardOverTLS(from: .v4(0x7F00_0001), headers) == nil)
    }

    @Test func `a peer of IPv4 on a socket of IPv6 is known by its block`() throws {
        #expect(try client(of: "::ffff:127.0.0.1", "203.0.113.9", by: .loopback) == "203.0.113.9")
        #expect(try client(of: "::ffff:198.51.100.1", "203.0.113.9", by: .loopback) == "198.51.100.1")
    }

    @Test(arguments: [
        ("198.51.100.1", "198.51.100.1"), ("::ffff:198.51.100.1", "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("::1", "::"),
    ])
    func `a subscriber has one address of IPv4, or 64 bits of IPv6`(address: String, subscriber: String) throws {
        #expect(try #require(IPAddress(address)).subscriber.description == subscriber)
    }
}
