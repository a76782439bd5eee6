import CarillonCore
import Testing

@Suite struct OutboundURLTests {
    @Test(arguments: [
        // no URL
        "", "https", "https:", "https:/host", "//host/", "https://", "https:///path", "https://?q", "https://:443/",
        "https://host:/", "https://host:0/", "https://host:65536/", "https://host:-1/", "https://host:+1/",
        "https://host:99999999999/", "https://host:80:80/", "https://host:8o/",
        // two readers, two hosts
        "https://user@host/", "https://user:password@host/", "https://host@evil/", "https://@host/",
        "https://host\\@evil/", "https://host\\evil/", "https:\\\\host/", "https://ho st/", " https://host/",
        "https://host/ ", "https://host/\n", "https://host/\t", "https://ho\u{0}st/", "https://host/\u{7F}",
        "https://host/é", "https://bücher.example/", "https://ho%73t/", "https://[host]/", "https://[::1/",
        "https://::1/", "https://[::1]x/", "https://[::1%25lo]/", "https://[1.2.3.4]/", "https://host^/",
        // names
        "https://localhost./", "https://127.0.0.1./", "https://example.com./", "https://example..com/",
        "https://.example.com/", "https://./",
        "https://ex!ample.com/", "https://*.example.com/",
        // numbers that C takes for addresses
        "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/", "https://017700000001/", "https://127.1/",
        "https://0177.0.0.1/", "https://127.0.0.01/", "https://127.0.0.0x1/", "https://1.2.3.4.5/",
        "https://256.1.1.1/",
        "https://example.1/", "https://0x/", "https://1.0x/",
        // IPv4 in IPv6
        "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/",
        "https://[::ffff:8.8.8.8]/",
    ])
    func `refuses what is no plain URL`(text: String) {
        #expect { try OutboundURL(text) } throws: { ($0 as? EgressRefusal)?.rule == .url }
    }

    @Test(arguments: ["file:///etc/passwd", "file://host/", "gopher://host/", "ftp://host/", "ws://host/", "://host/"])
    func `refuses other schemes`(text: String) {
        #expect { try OutboundURL(text) } throws: { ($0 as? EgressRefusal)?.rule == .scheme }
    }

    @Test(arguments: [21, 22, 25, 53, 110, 143, 445, 587, 3306, 5432, 6379, 11_211, 27_017])
    func `refuses ports of other protocols`(port: Int) {
        #expect { try OutboundURL("http://example.com:\(port)/") } throws: { ($0 as? EgressRefusal)?.rule == .port }
    }

    @Test func `refuses more than 2048 bytes`() throws {
        let start = "https://example.com/"
        let longest = start + String(repeating: "a", count: 2_048 - start.utf8.count)
        #expect(try OutboundURL(longest).target.utf8.count == 2_029)
        #expect(throws: EgressRefusal.self) { try OutboundURL(longest + "a") }
        #expect(throws: EgressRefusal.self) { try OutboundURL("https://\(String(repeating: "a", count: 64)).com/") }
        let label = String(repeating: "a", count: 63)
        #expect(throws: EgressRefusal.self) { try OutboundURL("https://\(label).\(label).\(label).\(label)/") }
    }

    @Test func `never repeats the URL in what it says`() {
        #expect { try OutboundURL("https://user:hunter2@host/") } throws: { !"\($0)".contains("hunter2") }
    }

    @Test(
        arguments: [
            ("https://example.com", .https, .name("example.com"), 443, "/", "example.com"),
            (
                "HTTP://Example.COM:80/A/../b?x=1&y=%20#part", .http, .name("example.com"), 80, "/A/../b?x=1&y=%20",
                "example.com"
            ),
            ("https://example.com?a[]=b@c:/", .https, .name("example.com"), 443, "/?a[]=b@c:/", "example.com"),
            ("http://my_app:8080#x", .http, .name("my_app"), 8080, "/", "my_app:8080"),
            ("https://1.2.3.4:80/x", .https, .address(.v4(0x0102_0304)), 80, "/x", "1.2.3.4:80"),
            (
                "http://[2606:4700:0::1]:8443/", .http, .address(.v6(0x2606_4700_0000_0000_0000_0000_0000_0001)), 8443,
                "/", "[2606:4700::1]:8443"
            ),
            ("https://1.2.3.com/", .https, .name("1.2.3.com"), 443, "/", "1.2.3.com"),
            (
                "https://xn--bcher-kva.example/", .https, .name("xn--bcher-kva.example"), 443, "/",
                "xn--bcher-kva.example"
            ),
        ] as [(String, OutboundURL.Scheme, OutboundURL.Host, Int, String, String)]
    )
    func `takes a URL apart`(
        text: String,
        scheme: OutboundURL.Scheme,
        host: OutboundURL.Host,
        port: Int,
        target: String,
        authority: String
    ) throws {
        let url = try OutboundURL(text)
        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.target == target)
        #expect(url.authority == authority)
    }
}
