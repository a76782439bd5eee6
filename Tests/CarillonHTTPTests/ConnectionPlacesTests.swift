import CarillonCore
import HTTPTypes
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct ConnectionPlacesTests {
    private let alice = IPAddress.v4(1)
    private let bob = IPAddress.v4(2)

    @Test func `when all places are taken, the one that has waited longest goes`() {
        var places = ConnectionPlaces(places: 3, placesPerAddress: 3)
        for id in 1...3 as ClosedRange<UInt64> { #expect(places.open(id, from: nil) == .admitted) }
        #expect(places.open(4, from: nil) == .displaces(1))
        #expect(places.open(5, from: nil) == .displaces(2))
        #expect(places.count == 3)
    }

    @Test func `whoever has had an answer has waited since then`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        _ = places.open(1, from: nil)
        _ = places.open(2, from: nil)
        places.works(1)
        places.waits(1)
        #expect(places.open(3, from: nil) == .displaces(2))
        #expect(places.open(4, from: nil) == .displaces(1))
    }

    @Test func `work in hand is never interrupted for somebody new`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        for id in 1...2 as ClosedRange<UInt64> {
            _ = places.open(id, from: nil)
            places.works(id)
        }
        #expect(places.open(3, from: nil) == .admitted)
        places.works(3)
        places.waits(2)
        #expect(places.open(4, from: nil) == .displaces(2))
    }

    @Test func `an address that has its share displaces itself and nobody else`() {
        var places = ConnectionPlaces(places: 10, placesPerAddress: 2)
        #expect(places.open(1, from: bob) == .admitted)
        #expect(places.open(2, from: alice) == .admitted)
        #expect(places.open(3, from: alice) == .admitted)
        #expect(places.open(4, from: alice) == .displaces(2))
        places.works(3)
        #expect(places.open(5, from: alice) == .displaces(4))
        places.works(5)
        #expect(places.open(6, from: alice) == .refused)
        #expect(places.open(7, from: bob) == .admitted)
        #expect(places.count == 4)
        places.close(3)
        #expect(places.open(8, from: alice) == .admitted)
    }

    @Test func `those without a share of their own may have all places`() {
        var places = ConnectionPlaces(places: 10, placesPerAddress: 1)
        for id in 1...10 as ClosedRange<UInt64> { #expect(places.open(id, from: nil) == .admitted) }
    }

    @Test func `what is closed or displaced is not heard of again`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        _ = places.open(1, from: alice)
        _ = places.open(2, from: alice)
        places.close(1)
        places.close(1)
        places.waits(1)
        #expect(places.open(3, from: bob) == .admitted)
        #expect(places.open(4, from: bob) == .displaces(2))
        places.works(2)
        places.waits(2)
        places.close(2)
        #expect(places.count == 2)
        #expect(places.open(5, from: bob) == .displaces(3))
    }

    @Test func `many requests on few connections do not pile up`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        _ = places.open(1, from: alice)
        _ = places.open(2, from: alice)
        for _ in 1...100_000 {
            places.works(1)
            places.waits(1)
        }
        #expect(places.linesCount < 100)
        #expect(places.open(3, from: bob) == .displaces(2))
    }
}

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
