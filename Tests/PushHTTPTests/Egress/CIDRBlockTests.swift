import CarillonCore
import Testing

@Suite struct CIDRBlockTests {
    @Test(arguments: [
        ("", #""" is not an address and a length such as 10.0.0.0/8 or fd00::/8"#),
        ("localhost/8", #""localhost/8" is not an address and a length such as 10.0.0.0/8 or fd00::/8"#),
        ("10/8", #""10/8" is not an address and a length such as 10.0.0.0/8 or fd00::/8"#),
        ("10.0.0.1", #""10.0.0.1" needs a length from /0 to /32; a single address is 10.0.0.1/32"#),
        ("10.0.0.0/33", #""10.0.0.0/33" needs a length from /0 to /32; a single address is 10.0.0.0/32"#),
        ("10.0.0.0/", #""10.0.0.0/" needs a length from /0 to /32; a single address is 10.0.0.0/32"#),
        ("10.0.0.0/-1", #""10.0.0.0/-1" needs a length from /0 to /32; a single address is 10.0.0.0/32"#),
        ("10.0.0.0/8/8", #""10.0.0.0/8/8" needs a length from /0 to /32; a single address is 10.0.0.0/32"#),
        ("fd00::/129", #""fd00::/129" needs a length from /0 to /128; a single address is fd00::/128"#),
        ("10.1.2.3/8", #""10.1.2.3/8" has bits beyond its length; the block is 10.0.0.0/8"#),
        ("fd00::1/8", #""fd00::1/8" has bits beyond its length; the block is fd00::/8"#),
    ])
    func `says what would be right`(text: String, description: String) {
        #expect { try CIDRBlock(text) } throws: { ($0 as? CIDRError)?.description == description }
    }

    @Test(arguments: [
        ("127.0.0.0/8", "127.255.255.255", true), ("127.0.0.0/8", "128.0.0.0", false),
        ("10.1.2.3/32", "10.1.2.3", true), ("10.1.2.3/32", "10.1.2.2", false), ("0.0.0.0/0", "255.1.2.3", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "fe80::1", true), ("::/0", "1.2.3.4", false), ("::1/128", "::1", true),
        ("::1/128", "::2", false), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fc00::1", false),
        ("172.16.0.0/12", "172.31.0.1", true), ("172.16.0.0/12", "172.32.0.1", false),
    ])
    func `holds the addresses that begin alike`(block: String, address: String, isInside: Bool) throws {
        #expect(try CIDRBlock(block).contains(#require(IPAddress(address))) == isInside)
    }

    @Test func `writes what it read`() throws {
        #expect(try CIDRBlock("2001:DB8::/32").description == "2001:db8::/32")
    }
}
