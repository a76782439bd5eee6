package import CarillonCore
package import HTTPTypes

/// The proxies whose word is taken for where a request comes from (API section 14, `CARILLON_TRUSTED_PROXIES`).
package struct TrustedProxies: Hashable, Sendable {
    /// Those on the same machine: the default.
    package static let loopback = TrustedProxies([
        CIDRBlock(first: .v4(0x7F00_0000), prefixLength: 8), CIDRBlock(first: .v6(1), prefixLength: 128),
    ])
    /// None: every connection is its own client's.
    package static let none = TrustedProxies([])

    private let blocks: [CIDRBlock]

    package init(_ blocks: [CIDRBlock]) {
        self.blocks = blocks
    }

    /// Whether an address is one of theirs, in whatever form it is written.
    package func contains(_ address: IPAddress) -> Bool {
        let canonical = address.canonical
        return blocks.contains { $0.contains(canonical) || $0.contains(address) }
    }

    /// The address of whoever sent a request.
    ///
    /// A client can write what it likes into `X-Forwarded-For`, and each proxy appends whom it heard it from. So the list
    /// is read from its end, for as long as those who wrote it are trusted.
    ///
    /// - Returns: The last address that nobody trusted vouches for; the first of the list when they all do, and the last
    ///   trusted one when what it passed on is no address.
    package func client(of peer: IPAddress, _ headers: HTTPFields) -> IPAddress {
        client(of: peer, forwarded: headers[values: .forwardedFor])
    }

    func client(of peer: IPAddress, forwarded fields: [String]) -> IPAddress {
        var client = peer.canonical
        guard contains(client) else { return client }
        for field in fields.reversed() {
            for entry in field.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                guard let address = IPAddress(forwarded: entry) else { return client }
                client = address.canonical
                if !contains(client) { return client }
            }
        }
        return client
    }

    /// Whether a request came over TLS, which only a trusted proxy can say; `nil` when none says anything.
    ///
    /// - Returns: `false` also when one of several proxies heard it without TLS.
    package func heardOverTLS(from peer: IPAddress, _ headers: HTTPFields) -> Bool? {
        let schemes = headers[values: .forwardedProto].flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        guard contains(peer), !schemes.isEmpty else { return nil }
        return schemes.allSatisfy { $0.filter { !$0.isWhitespace }.lowercased() == "https" }
    }

    /// Whether nobody on the way could read a request: it came over TLS, or never left this machine.
    ///
    /// - Returns: `false` also when a trusted proxy says that it heard it without TLS.
    package func areConfidential(_ peer: IPAddress, _ headers: HTTPFields) -> Bool {
        heardOverTLS(from: peer, headers) ?? TrustedProxies.loopback.contains(client(of: peer, headers))
    }
}

extension HTTPField.Name {
    static let forwardedFor = known("x-forwarded-for")
    static let forwardedProto = known("x-forwarded-proto")
}

extension IPAddress {
    /// What one subscriber has of the Internet: an address of IPv4, the first 64 bits of one of IPv6 (RFC 6177).
    ///
    /// Whoever has a limit has it together with all the addresses that can be made up at will.
    package var subscriber: IPAddress {
        guard case .v6(let value) = canonical else { return canonical }
        return .v6(value & ~UInt128(UInt64.max))
    }

    /// Reads an entry of `X-Forwarded-For`: an address, which some proxies write with its port.
    init?(forwarded entry: some StringProtocol) {
        let text = entry.drop(while: \.isWhitespace)
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            self.init(String(text[text.index(after: text.startIndex)..<end]))
        } else {
            let trimmed = text.prefix { !$0.isWhitespace }
            let colons = trimmed.utf8.count { $0 == UInt8(ascii: ":") }
            self.init(String(colons == 1 ? trimmed.prefix { $0 != ":" } : trimmed))
        }
    }
}
