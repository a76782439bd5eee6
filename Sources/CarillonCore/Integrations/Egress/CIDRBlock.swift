/// A range of addresses that have their first bits in common, such as `10.0.0.0/8` (RFC 4632).
package struct CIDRBlock: Hashable, Sendable, CustomStringConvertible {
    package let first: IPAddress
    package let prefixLength: Int

    /// Reads `address/length`.
    /// - Throws: ``CIDRError``, which says what would be right.
    package init(_ text: String) throws(CIDRError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else {
            throw CIDRError(text, "is not an address and a length such as 10.0.0.0/8 or fd00::/8")
        }
        let width = address.bitWidth
        guard parts.count == 2, let length = Int(decimal: parts[1]), length <= width else {
            throw CIDRError(text, "needs a length from /0 to /\(width); a single address is \(address)/\(width)")
        }
        let first = address.clearingBits(after: length)
        guard first == address else {
            throw CIDRError(text, "has bits beyond its length; the block is \(first)/\(length)")
        }
        self.init(first: first, prefixLength: length)
    }

    /// The block that begins with an address, which has no bits beyond the length.
    package init(first: IPAddress, prefixLength: Int) {
        self.first = first
        self.prefixLength = prefixLength
    }

    /// Whether an address is in the block; an address of the other version never is.
    package func contains(_ address: IPAddress) -> Bool {
        address.bitWidth == first.bitWidth && address.clearingBits(after: prefixLength) == first
    }

    package var description: String { "\(first)/\(prefixLength)" }
}

/// What is wrong with the text of a block of addresses, and what would be right.
package struct CIDRError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A sentence that begins with the text, which comes from the operator's own configuration.
    package let description: String

    init(_ text: String, _ problem: String) {
        description = "\"\(text)\" \(problem)"
    }
}

extension IPAddress {
    fileprivate var bitWidth: Int {
        switch self {
        case .v4: UInt32.bitWidth
        case .v6: UInt128.bitWidth
        }
    }

    fileprivate func clearingBits(after length: Int) -> IPAddress {
        switch self {
        case .v4(let value): .v4(value & ~(UInt32.max >> length))
        case .v6(let value): .v6(value & ~(UInt128.max >> length))
        }
    }
}

extension Int {
    /// A number of one to five decimal digits, without a sign.
    init?(decimal text: some StringProtocol) {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        self.init(text)
    }
}
