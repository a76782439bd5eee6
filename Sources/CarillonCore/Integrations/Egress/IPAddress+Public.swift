extension IPAddress {
    /// Whether this is an address of the public Internet, one that no private network, machine or translator answers to.
    ///
    /// After ``canonical``. For IPv4 everything is public but IANA's special-purpose registry, multicast and the reserved
    /// end; for IPv6 nothing is but the global unicast range `2000::/3`, less the parts that are special or lead to IPv4.
    /// - SeeAlso: RFC 6890 and the IANA IPv4 and IPv6 Special-Purpose Address Registries.
    package var isPublic: Bool {
        switch canonical {
        case .v4(let value):
            !Self.specialIPv4.contains { $0.contains(.v4(value)) }
        case .v6(let value):
            Self.globalUnicast.contains(.v6(value)) && !Self.specialIPv6.contains { $0.contains(.v6(value)) }
        }
    }

    private static let specialIPv4: [CIDRBlock] = [
        v4(0, 0, 0, 0, 8),  // this network
        v4(10, 0, 0, 0, 8),  // private (RFC 1918)
        v4(100, 64, 0, 0, 10),  // shared by carriers' customers (RFC 6598)
        v4(127, 0, 0, 0, 8),  // loopback
        v4(168, 63, 129, 16, 32),  // the host's agent in Azure: looks public, is not
        v4(169, 254, 0, 0, 16),  // link-local, and with it the clouds' metadata services
        v4(172, 16, 0, 0, 12),  // private (RFC 1918)
        v4(192, 0, 0, 0, 24),  // protocol assignments
        v4(192, 0, 2, 0, 24),  // documentation
        v4(192, 88, 99, 0, 24),  // 6to4 relays
        v4(192, 168, 0, 0, 16),  // private (RFC 1918)
        v4(198, 18, 0, 0, 15),  // benchmarks
        v4(198, 51, 100, 0, 24),  // documentation
        v4(203, 0, 113, 0, 24),  // documentation
        v4(224, 0, 0, 0, 4),  // multicast
        v4(240, 0, 0, 0, 4),  // reserved, broadcast
    ]

    /// Leaves out loopback, link-local, unique-local, multicast, discard-only (`100::/64`), NAT64 (`64:ff9b::/96`,
    /// `64:ff9b:1::/48`), segment routing (`5f00::/16`) and all that has not been given out.
    private static let globalUnicast = v6(0x2000, 0, 3)

    private static let specialIPv6: [CIDRBlock] = [
        v6(0x2001, 0, 23),  // protocol assignments: Teredo, benchmarks, ORCHID
        v6(0x2001, 0x0DB8, 32),  // documentation
        v6(0x2002, 0, 16),  // 6to4: holds an IPv4 address
        v6(0x3FFF, 0, 20),  // documentation
    ]

    private static func v4(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ length: Int) -> CIDRBlock {
        CIDRBlock(first: .v4(a << 24 | b << 16 | c << 8 | d), prefixLength: length)
    }

    private static func v6(_ first: UInt128, _ second: UInt128, _ length: Int) -> CIDRBlock {
        CIDRBlock(first: .v6(first << 112 | second << 96), prefixLength: length)
    }
}
