/// Decides where requests to URLs that other people chose may go: to public addresses, and to those that the operator
/// allows (`CARILLON_EGRESS_ALLOW`).
///
/// Used twice, since what a name leads to changes: when a device is registered, which finds what can be seen from the
/// URL alone, and before every connection, with the addresses themselves.
package struct EgressGuard: Sendable {
    private let allowed: [CIDRBlock]
    /// Whether what goes in the clear goes nowhere but to those that the operator allows.
    private var confidesInAllowedOnly = false

    /// A guard that lets these blocks through although they are not public.
    package init(allowing allowed: [CIDRBlock] = []) {
        self.allowed = allowed
    }

    /// The same guard, which lets `http` through to nothing but the blocks that the operator allows: for what must not be read
    /// on its way.
    package var confidential: EgressGuard {
        var copy = self
        copy.confidesInAllowedOnly = true
        return copy
    }

    /// A guard that lets everything through: for services that the operator names, never for URLs of other people.
    package static let unrestricted = EgressGuard(allowing: [
        CIDRBlock(first: .v4(0), prefixLength: 0), CIDRBlock(first: .v6(0), prefixLength: 0),
    ])

    /// Whether a connection may be made to an address, by TLS unless something else is said.
    package func permits(_ address: IPAddress, by scheme: OutboundURL.Scheme = .https) -> Bool {
        let address = address.canonical
        let isOpen = address.isPublic && (scheme == .https || !confidesInAllowedOnly)
        return isOpen || allowed.contains { $0.contains(address) }
    }

    /// Takes a URL apart and checks what can be checked without asking a name server.
    package func check(_ url: String) throws(EgressRefusal) -> OutboundURL {
        let url = try OutboundURL(url)
        switch url.host {
        case .address(let address):
            guard permits(address) else { throw .address }
            guard permits(address, by: url.scheme) else { throw .clearText }
        case .name:
            guard !url.host.isLocalhost || !permittedLoopback.isEmpty else { throw .address }
            guard url.scheme == .https || !confidesInAllowedOnly || !allowed.isEmpty else { throw .clearText }
        }
        return url
    }

    /// The addresses of `localhost` that may be connected to: it is not looked up, and naming only one version's
    /// loopback in the allow list is enough.
    package var permittedLoopback: [IPAddress] {
        [.v4(0x7F00_0001), .v6(1)].filter { permits($0) }
    }
}
