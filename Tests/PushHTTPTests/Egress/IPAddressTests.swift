import CarillonCore
import Testing

@Suite struct IPAddressTests {
    @Test(arguments: [
        "", "1", "127.1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "0177.0.0.1", "0x7f.0.0.1", "1.2.3.4 ",
        "2130706433", "1.2.3.4:80", "::1%lo", "[::1]", ":::", "1::2::3", "12345::", "g::", "localhost",
    ])
    func `refuses all but the plain forms`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"),
        ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("fe80:0:0:0:1:0:0:2", "fe80::1:0:0:2"),
        ("::ffff:1.2.3.4", "::ffff:1.2.3.4"), ("64:ff9b::7f00:1", "64:ff9b::7f00:1"),
    ])
    func `reads an address and writes it in its shortest form`(text: String, expected: String) {
        #expect(IPAddress(text)?.description == expected)
    }

    @Test func `keeps the order of the bytes`() {
        #expect(IPAddress("1.2.3.4") == .v4(0x0102_0304))
        #expect(IPAddress("2001:db8::1") == .v6(0x2001_0DB8_0000_0000_0000_0000_0000_0001))
    }

    @Test(arguments: [
        ("::ffff:127.0.0.1", "127.0.0.1"), ("::ffff:7f00:1", "127.0.0.1"), ("::10.0.0.1", "10.0.0.1"), ("::1", "::1"),
        ("::", "::"), ("::2", "0.0.0.2"), ("::1:ffff:0:0", "::1:ffff:0:0"), ("1.2.3.4", "1.2.3.4"),
    ])
    func `finds the IPv4 address inside an IPv6 one`(text: String, expected: String) throws {
        #expect(try #require(IPAddress(text)).canonical == IPAddress(expected))
    }
}
