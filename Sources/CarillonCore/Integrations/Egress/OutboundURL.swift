/// A URL to send to, taken apart once: what is checked is what is connected to and what is asked for.
///
/// Reads a strict subset of RFC 3986, so that no other reader could see another host in it: `http` or `https`, no user
/// information, no character that had to be encoded, and a host that is a name, four decimal numbers, or an IPv6 address
/// in brackets. A fragment is dropped, as it is never sent.
package struct OutboundURL: Hashable, Sendable {
    package static let maximumBytes = 2_048

    package enum Scheme: String, Sendable {
        /// In the clear; what is sent can be read on the way, though not forged where it is signed.
        case http
        case https
    }

    package enum Host: Hashable, Sendable {
        /// A name in small letters, without a dot at its end.
        case name(String)
        case address(IPAddress)
    }

    package let scheme: Scheme
    package let host: Host
    /// The port, the scheme's own when none was written.
    package let port: Int
    /// The path and the query: what the request line asks for.
    package let target: String

    /// Takes a URL apart.
    /// - Throws: ``EgressRefusal`` for all but an address that is not public, which ``EgressGuard`` checks.
    package init(_ text: String) throws(EgressRefusal) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw EgressRefusal(.url, "must be at most \(Self.maximumBytes) bytes long")
        }
        guard text.utf8.allSatisfy(\.isPlainInURL) else {
            throw EgressRefusal(.url, "holds a character that has to be percent-encoded (in a host: xn-- form)")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw EgressRefusal(.url, "must start with https:// or http://")
        }
        guard let scheme = Scheme(rawValue: text[..<colon].lowercased()) else {
            throw EgressRefusal(.scheme, "must start with https:// or http://")
        }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw EgressRefusal(.url, "must not hold a user name or a password")
        }
        let target = rest[authority.endIndex...].prefix { $0 != "#" }

        self.scheme = scheme
        let (host, port) = try Self.split(authority)
        self.host = try Host(host)
        self.port = try Self.port(port, of: scheme)
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
    }

    /// The host and the port as the `Host` header has them: without the scheme's own port.
    package var authority: String {
        port == scheme.port ? host.text : "\(host.text):\(port)"
    }

    /// Scheme, host and port in the one way to write an origin (RFC 6454 section 6.2).
    package var origin: String { "\(scheme.rawValue)://\(authority)" }

    /// Whether nobody on the way can read what is sent: it goes through TLS, or does not leave the machine.
    package var isConfidential: Bool { scheme == .https || host.isThisMachine }

    private static func split(_ authority: Substring) throws(EgressRefusal) -> (host: Substring, port: Substring?) {
        let host: Substring
        if authority.hasPrefix("["), let bracket = authority.firstIndex(of: "]") {
            host = authority[...bracket]
        } else {
            host = authority.prefix { $0 != ":" }
        }
        let rest = authority[host.endIndex...]
        guard !rest.isEmpty else { return (host, nil) }
        guard rest.hasPrefix(":") else { throw EgressRefusal(.url, "has no valid host") }
        return (host, rest.dropFirst())
    }

    private static func port(_ text: Substring?, of scheme: Scheme) throws(EgressRefusal) -> Int {
        guard let text else { return scheme.port }
        guard let port = Int(decimal: text), (1...65_535).contains(port) else {
            throw EgressRefusal(.url, "must have a port from 1 to 65535, or none")
        }
        guard !foreignPorts.contains(port) else {
            throw EgressRefusal(.port, "must not lead to a port that belongs to another protocol than HTTP")
        }
        return port
    }

    /// Ports of services that a signed JSON text must not be thrown at: mail, shells, files, databases, caches.
    ///
    /// The allow list does not lift this: it names networks, not services.
    private static let foreignPorts: Set<Int> = [
        20, 21, 22, 23, 25, 53, 69, 110, 111, 119, 123, 135, 137, 139, 143, 161, 179, 389, 445, 465, 513, 514, 515, 587,
        636, 873, 993, 995, 1433, 1521, 2049, 2181, 3268, 3306, 3389, 5432, 5672, 5900, 6000, 6379, 6432, 6667, 9042,
        9092, 11_211, 27_017,
    ]
}

extension OutboundURL.Scheme {
    fileprivate var port: Int {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}

extension OutboundURL.Host {
    /// The host as a URL has it: an IPv6 address in brackets.
    package var text: String {
        switch self {
        case .name(let name): name
        case .address(.v4(let value)): "\(IPAddress.v4(value))"
        case .address(.v6(let value)): "[\(IPAddress.v6(value))]"
        }
    }

    /// Whether it is a name of the machine itself (RFC 6761 section 6.3), whatever a resolver says.
    package var isLocalhost: Bool {
        guard case .name(let name) = self else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// Whether what is sent there stays on the machine, by name or by a loopback address: TLS would add nothing.
    fileprivate var isThisMachine: Bool {
        switch self {
        case .name: isLocalhost
        case .address(.v4(let value)): value >> 24 == 127
        case .address(.v6(let value)): value == 1
        }
    }

    fileprivate init(_ text: Substring) throws(EgressRefusal) {
        if text.hasPrefix("["), text.hasSuffix("]") {
            guard let address = IPAddress(String(text.dropFirst().dropLast())), case .v6 = address else {
                throw EgressRefusal(.url, "has no valid IPv6 address between its brackets")
            }
            guard address.canonical == address else {
                throw EgressRefusal(.url, "holds an IPv4 address in IPv6 form; write the IPv4 address")
            }
            self = .address(address)
            return
        }
        let name = text.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.utf8.count) }),
            name.utf8.allSatisfy(\.isPlainInName)
        else {
            throw EgressRefusal(.url, "must have a host name of letters, digits and hyphens, without a dot at its end")
        }
        if let last = labels.last, last.isNumber {
            guard let address = IPAddress(name) else {
                throw EgressRefusal(.url, "must write an IPv4 address as four decimal numbers")
            }
            self = .address(address)
        } else {
            self = .name(name)
        }
    }
}

extension Substring {
    /// Whether C's `inet_aton` would take it for a part of an address; a top-level domain never is.
    fileprivate var isNumber: Bool {
        if hasPrefix("0x") { return dropFirst(2).allSatisfy(\.isHexDigit) }
        return allSatisfy { $0.isASCII && $0.isNumber }
    }
}

extension UInt8 {
    fileprivate var isPlainInURL: Bool { (0x21...0x7E).contains(self) && !#"<>"\^`{|}"#.utf8.contains(self) }

    fileprivate var isPlainInName: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || "-_.".utf8.contains(self)
    }
}
