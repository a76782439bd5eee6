import CarillonCore
import NIOCore

/// How this machine finds names: its name servers, where it looks for short names, and the names that it knows itself.
struct ResolverSettings: Sendable, Equatable {
    private static let mostServers = 3
    private static let mostDomains = 6
    private static let mostDots = 15
    private static let longestName = 253
    private static let port = 53

    /// Whom to ask, in this order.
    var servers: [SocketAddress] = []
    /// What short names are completed with.
    var search: [String] = []
    /// With as many dots a name is looked for as it is first.
    var dots = 1
    /// The names that need not be asked for.
    var hosts: [String: [IPAddress]] = [:]

    /// Settings by what is in `/etc/resolv.conf` and `/etc/hosts`; lines that mean nothing are passed over.
    /// - SeeAlso: `resolv.conf(5)`, `hosts(5)`.
    init(resolver: String, hosts: String) {
        for words in Self.lines(resolver, comments: ["#", ";"]) {
            switch words[0] {
            case "nameserver" where words.count > 1 && servers.count < Self.mostServers:
                guard let server = try? SocketAddress(ipAddress: String(words[1]), port: Self.port) else { continue }
                servers.append(server)
            case "search", "domain":
                search = words.dropFirst().prefix(Self.mostDomains).map { Self.name($0) }
            case "options":
                for option in words.dropFirst() where option.hasPrefix("ndots:") {
                    dots = min(max(Int(option.dropFirst(6)) ?? dots, 0), Self.mostDots)
                }
            default:
                continue
            }
        }
        if servers.isEmpty, let own = try? SocketAddress(ipAddress: "127.0.0.1", port: Self.port) { servers = [own] }
        for words in Self.lines(hosts, comments: ["#"]) {
            guard let address = IPAddress(String(words[0])) else { continue }
            for word in words.dropFirst() { self.hosts[Self.name(word), default: []].append(address) }
        }
    }

    /// The whole names to ask for, one after the other, until one has addresses.
    func candidates(for name: String) -> [String] {
        let whole = search.filter { !$0.isEmpty }.map { "\(name).\($0)" }.filter { $0.utf8.count <= Self.longestName }
        return name.count(where: { $0 == "." }) >= dots ? [name] + whole : whole + [name]
    }

    private static func lines(_ text: String, comments: Set<Character>) -> [[Substring]] {
        text.split(whereSeparator: \.isNewline)
            .map { $0.prefix { !comments.contains($0) }.split(whereSeparator: \.isWhitespace) }
            .filter { !$0.isEmpty }
    }

    private static func name(_ word: Substring) -> String {
        (word.hasSuffix(".") ? word.dropLast() : word).lowercased()
    }
}
