import CarillonCore

/// What a connection can be used for again: the same host by the same name, so that certificate and `Host` fit, and by
/// whoever may use it.
struct Origin: Hashable, Sendable {
    let scheme: OutboundURL.Scheme
    let host: OutboundURL.Host
    let port: Int
    /// Whose connections these are; `nil` when all networks share them.
    let network: NetworkID?

    init(_ url: OutboundURL, of network: NetworkID? = nil) {
        scheme = url.scheme
        host = url.host
        port = url.port
        self.network = network
    }

    /// The name to tell in TLS and to look for in the certificate; without one the certificate has to be for the address.
    var serverName: String? {
        if case .name(let name) = host { name } else { nil }
    }
}
