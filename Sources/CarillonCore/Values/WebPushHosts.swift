/// Which push services a network's Web Push subscriptions may name (API section 2).
package struct WebPushHosts: Sendable, Equatable {
    /// The most patterns of a network.
    package static let maximumCount = 100
    /// Stands for the push services of the browsers that most people have.
    package static let wellKnown = "default"
    private static let anyHost = "*"
    private static let anySubdomain = "*."

    /// The push services of Chrome and its relatives, Chromium that was built without Google's keys, Firefox, Safari and
    /// Edge. Apple asks for the whole of its domain; Mozilla's and Microsoft's have a host for each environment or region.
    private static let wellKnownPatterns = [
        "fcm.googleapis.com", "jmt17.google.com", "*.push.services.mozilla.com", "*.push.apple.com",
        "*.notify.windows.com",
    ]

    /// `default`, `*`, hosts, and hosts whose first label is `*`; in small letters.
    package let patterns: [String]

    /// The push services of browsers.
    package init() {
        patterns = [Self.wellKnown]
    }

    static let any = WebPushHosts([anyHost])

    /// These patterns, each of which ``pattern(_:)`` has read.
    package init(_ patterns: [String]) {
        self.patterns = patterns
    }

    /// A pattern as it is kept; `nil` for what is none.
    package static func pattern(_ text: String) -> String? {
        let pattern = text.lowercased()
        if pattern == wellKnown || pattern == anyHost { return pattern }
        let isWide = pattern.hasPrefix(anySubdomain)
        let host = isWide ? String(pattern.dropFirst(anySubdomain.count)) : pattern
        guard let url = try? OutboundURL("https://\(host)"), url.host.text == host else { return nil }
        if isWide, case .address = url.host { return nil }
        return pattern
    }

    /// Whether subscriptions may name a host, at whatever port.
    package func allow(_ host: OutboundURL.Host) -> Bool {
        let name = host.text
        return patterns.contains { pattern in
            pattern == Self.wellKnown
                ? Self.wellKnownPatterns.contains { Self.matches(name, $0) } : Self.matches(name, pattern)
        }
    }

    private static func matches(_ name: String, _ pattern: String) -> Bool {
        if pattern == anyHost { return true }
        // The star stands for one label or more: the domain itself is another host.
        return pattern.hasPrefix(anySubdomain) ? name.hasSuffix(pattern.dropFirst()) : name == pattern
    }
}
