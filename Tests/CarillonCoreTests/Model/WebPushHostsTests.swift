import CarillonCore
import Testing

@Suite struct WebPushHostsTests {
    private static func allow(_ patterns: [String], _ host: String) throws -> Bool {
        WebPushHosts(patterns).allow(try OutboundURL("https://\(host)/x").host)
    }

    @Test(arguments: [
        "fcm.googleapis.com", "jmt17.google.com", "updates.push.services.mozilla.com", "web.push.apple.com",
        "wns2-by3p.notify.windows.com", "FCM.googleapis.com", "fcm.googleapis.com:443",
    ])
    func `the push services of browsers are allowed by default`(host: String) throws {
        #expect(try Self.allow(WebPushHosts().patterns, host))
    }

    @Test(arguments: [
        "push.example.org", "127.0.0.1", "localhost", "[::1]", "xfcm.googleapis.com", "a.fcm.googleapis.com",
        "push.apple.com", "evilpush.apple.com", "notify.windows.com", "fcm.googleapis.com.example.org",
    ])
    func `nothing else is allowed by default`(host: String) throws {
        #expect(try Self.allow(WebPushHosts().patterns, host) == false)
    }

    @Test func `a pattern is a host, or every host below a domain, or every host`() throws {
        #expect(try Self.allow(["push.example.org"], "push.example.org:8443"))
        #expect(try Self.allow(["push.example.org"], "a.push.example.org") == false)
        #expect(try Self.allow(["*.example.org"], "a.b.example.org"))
        #expect(try Self.allow(["*.example.org"], "example.org") == false)
        #expect(try Self.allow(["*.example.org"], "fcm.googleapis.com") == false)
        #expect(try Self.allow(["default", "*.example.org"], "fcm.googleapis.com"))
        #expect(try Self.allow(["*"], "anything.example") && Self.allow(["*"], "[::1]:9"))
        #expect(try Self.allow(["[::1]"], "[::1]:9") && Self.allow(["127.0.0.1"], "127.0.0.1:9"))
        #expect(try Self.allow([], "fcm.googleapis.com") == false)
    }

    @Test func `a pattern is kept in small letters`() {
        #expect(WebPushHosts.pattern("*.Example.ORG") == "*.example.org")
        #expect(WebPushHosts.pattern("Default") == "default")
        #expect(WebPushHosts.pattern("[::1]") == "[::1]")
    }

    @Test(arguments: [
        "", "*.", "*.*.example.org", "a.*", "**", "example.org.", "example.org/", "example.org:443", "user@example.org",
        "https://example.org", "exa mple.org", "*.127.0.0.1", "127.1", "bücher.example", "example.org?x",
        "example.org#x",
    ])
    func `what is no host is no pattern`(text: String) {
        #expect(WebPushHosts.pattern(text) == nil)
    }
}
