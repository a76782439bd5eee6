import CarillonCore
import Testing

@Suite struct EgressGuardTests {
    @Test(arguments: [
        "http://127.0.0.1/", "http://0.0.0.0/", "https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/", "http://100.64.0.1/", "http://[::1]/", "http://[::]/",
        "http://[fe80::1]/", "http://[fc00::1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
        "http://localhost/", "http://LOCALHOST:8080/", "http://api.localhost/",
    ])
    func `refuses private addresses at registration`(url: String) {
        #expect(throws: EgressRefusal.address) { try EgressGuard().check(url) }
    }

    @Test(arguments: [
        "http://[::ffff:127.0.0.1]/", "http://2130706433/", "http://0x7f.1/", "http://localhost./",
        "http://user@127.0.0.1/", "http://127.0.0.1:22/", "file://127.0.0.1/",
    ])
    func `refuses disguises, user names and foreign ports even where the address is allowed`(url: String) throws {
        let egress = EgressGuard(allowing: [try CIDRBlock("127.0.0.0/8"), try CIDRBlock("::/0")])
        #expect(throws: EgressRefusal.self) { try egress.check(url) }
    }

    @Test(arguments: [
        "https://example.com/hook", "http://1.1.1.1/", "https://[2606:4700:4700::1111]/", "http://intranet/",
    ])
    func `takes what may be public`(url: String) throws {
        _ = try EgressGuard().check(url)
    }

    @Test(arguments: ["http://127.0.0.1:9999/", "http://127.9.9.9/", "http://localhost:9999/"])
    func `takes what the operator allows`(url: String) throws {
        _ = try EgressGuard(allowing: [CIDRBlock("127.0.0.0/8")]).check(url)
    }

    @Test func `what is confidential goes in the clear only to what the operator allows`() throws {
        let egress = EgressGuard(allowing: [try CIDRBlock("10.0.0.0/8")]).confidential
        let (inside, outside) = (try #require(IPAddress("10.1.2.3")), try #require(IPAddress("1.1.1.1")))
        #expect(egress.permits(inside, by: .http) && egress.permits(inside, by: .https))
        #expect(!egress.permits(outside, by: .http) && egress.permits(outside, by: .https))
        #expect(EgressGuard().permits(outside, by: .http))
        for url in ["http://10.1.2.3/", "https://1.1.1.1/", "http://intranet/", "https://example.com/"] {
            _ = try egress.check(url)
        }
        #expect(throws: EgressRefusal.self) { try egress.check("http://1.1.1.1/") }
        #expect(throws: EgressRefusal.self) { try EgressGuard().confidential.check("http://intranet/") }
        #expect(throws: EgressRefusal.address) { try egress.check("https://127.0.0.1/") }
    }

    @Test func `allows an IPv4 block in IPv6 form, too`() throws {
        let egress = EgressGuard(allowing: [try CIDRBlock("10.0.0.0/8")])
        #expect(egress.permits(try #require(IPAddress("::ffff:10.1.2.3"))))
        #expect(!egress.permits(try #require(IPAddress("::ffff:172.16.0.1"))))
    }

    @Test func `knows which loopback is allowed`() throws {
        #expect(EgressGuard().permittedLoopback.isEmpty)
        #expect(EgressGuard(allowing: [try CIDRBlock("127.0.0.0/8")]).permittedLoopback == [.v4(0x7F00_0001)])
        #expect(EgressGuard(allowing: [try CIDRBlock("::1/128")]).permittedLoopback == [.v6(1)])
    }
}
