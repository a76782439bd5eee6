import CarillonCore
import HTTPTypes
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct ConnectionSlotsTests {
    private let alice = IPAddress.v4(1)
    private let bob = IPAddress.v4(2)

    @Test func `when all slots are taken, the one that has waited longest goes`() {
        var slots = ConnectionSlots(slots: 3, slotsPerAddress: 3)
        for id in 1...3 as ClosedRange<UInt64> { #expect(slots.open(id, from: nil) == .admitted) }
        #expect(slots.open(4, from: nil) == .displaces(1))
        #expect(slots.open(5, from: nil) == .displaces(2))
        #expect(slots.count == 3)
    }

    @Test func `whoever has had an answer has waited since then`() {
        var slots = ConnectionSlots(slots: 2, slotsPerAddress: 2)
        _ = slots.open(1, from: nil)
        _ = slots.open(2, from: nil)
        slots.works(1)
        slots.waits(1)
        #expect(slots.open(3, from: nil) == .displaces(2))
        #expect(slots.open(4, from: nil) == .displaces(1))
    }

    @Test func `work in hand is never interrupted for somebody new`() {
        var slots = ConnectionSlots(slots: 2, slotsPerAddress: 2)
        for id in 1...2 as ClosedRange<UInt64> {
            _ = slots.open(id, from: nil)
            slots.works(id)
        }
        #expect(slots.open(3, from: nil) == .admitted)
        slots.works(3)
        slots.waits(2)
        #expect(slots.open(4, from: nil) == .displaces(2))
    }

    @Test func `an address that has its share displaces itself and nobody else`() {
        var slots = ConnectionSlots(slots: 10, slotsPerAddress: 2)
        #expect(slots.open(1, from: bob) == .admitted)
        #expect(slots.open(2, from: alice) == .admitted)
        #expect(slots.open(3, from: alice) == .admitted)
        #expect(slots.open(4, from: alice) == .displaces(2))
        slots.works(3)
        #expect(slots.open(5, from: alice) == .displaces(4))
        slots.works(5)
        #expect(slots.open(6, from: alice) == .refused)
        #expect(slots.open(7, from: bob) == .admitted)
        #expect(slots.count == 4)
        slots.close(3)
        #expect(slots.open(8, from: alice) == .admitted)
    }

    @Test func `those without a share of their own may have all slots`() {
        var slots = ConnectionSlots(slots: 10, slotsPerAddress: 1)
        for id in 1...10 as ClosedRange<UInt64> { #expect(slots.open(id, from: nil) == .admitted) }
    }

    @Test func `what is closed or displaced is not heard of again`() {
        var slots = ConnectionSlots(slots: 2, slotsPerAddress: 2)
        _ = slots.open(1, from: alice)
        _ = slots.open(2, from: alice)
        slots.close(1)
        slots.close(1)
        slots.waits(1)
        #expect(slots.open(3, from: bob) == .admitted)
        #expect(slots.open(4, from: bob) == .displaces(2))
        slots.works(2)
        slots.waits(2)
        slots.close(2)
        #expect(slots.count == 2)
        #expect(slots.open(5, from: bob) == .displaces(3))
    }

    @Test func `many requests on few connections do not pile up`() {
        var slots = ConnectionSlots(slots: 2, slotsPerAddress: 2)
        _ = slots.open(1, from: alice)
        _ = slots.open(2, from: alice)
        for _ in 1...100_000 {
            slots.works(1)
            slots.waits(1)
        }
        #expect(slots.linesCount < 100)
        #expect(slots.open(3, from: bob) == .displaces(2))
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
