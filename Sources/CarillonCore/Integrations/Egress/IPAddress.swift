#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An Internet address of either version, without a port and without a zone.
package enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    case v4(UInt32)
    case v6(UInt128)

    /// Reads the one text form of IPv4 with four decimal numbers, or a text form of IPv6 (RFC 4291 section 2.2).
    ///
    /// `nil` for anything else, such as the octal, hexadecimal and shortened forms that C's `inet_aton` takes.
    package init?(_ text: String) {
        var v4: UInt32 = 0
        var v6: UInt128 = 0
        if inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self = .v6(UInt128(bigEndian: v6))
        } else {
            return nil
        }
    }

    /// The shortest text form, for IPv6 that of RFC 5952.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch self {
        case .v4(let value):
            var address = value.bigEndian
            inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        case .v6(let value):
            var address = value.bigEndian
            inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The IPv4 address that this one stands for when it is IPv4-mapped or IPv4-compatible (RFC 4291 section 2.5.5),
    /// otherwise itself.
    ///
    /// `::` and `::1` have the IPv4-compatible form, but stand for themselves.
    package var canonical: IPAddress {
        guard case .v6(let value) = self else { return self }
        let isMapped = value >> 32 == 0xFFFF
        let isCompatible = value >> 32 == 0 && value > 1
        return isMapped || isCompatible ? .v4(UInt32(truncatingIfNeeded: value)) : self
    }
}
