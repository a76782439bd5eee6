/// Decides where requests to URLs that other people chose may go: to public addresses, and to those that the operator
/// allows (`CARILLON_EGRESS_ALLOW`).
///
/// Used twice, since what a name leads to changes: when a device is registered, which finds what can be seen from the
/// URL alone, and before every connection, with the addresses themselves.
package struct EgressGuard: Sendable {
    private let allowed: [CIDRBlock]

    /// A guard that lets these blocks through although they are not public.
    package init(allowing allowed: [CIDRBlock] = []) {
        self.allowed = allowed
    }

    /// A guard that lets everything through: for services that the operator names, never for URLs of other people.
    package static let unrestricted = EgressGuard(allowing: [
        CIDRBlock(first: .v4(0), prefixLength: 0), CIDRBlock(first: .v6(0), prefixLength: 0),
    ])

    /// Whether a connection may be made to an address.
    package func permits(_ address: IPAddress) -> Bool {
        let address = address.canonical
        return address.isPublic || allowed.contains { $0.contains(address) }
    }

    /// Takes a URL apart and checks what can be checked without asking a name server.
    package func check(_ url: String) throws(EgressRefusal) -> OutboundURL {
        let url = try OutboundURL(url)
        switch url.host {
        case .address(let address):
            guard permits(address) else { throw .address }
        case .name:
            guard !url.host.isLocalhost || !permittedLoopback.isEmpty else { throw .address }
        }
        return url
    }

    /// The addresses of `localhost` that may be connected to: it is not looked up, and naming only one version's
    /// loopback in the allow list is enough.
    package var permittedLoopback: [IPAddress] {
        [.v4(0x7F00_0001), .v6(1)].filter(permits)
    }
}
