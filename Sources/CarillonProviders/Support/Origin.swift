import struct CarillonCore.OutboundURL

/// What a connection can be used for again: the same host by the same name, so that certificate and `Host` fit.
struct Origin: Hashable, Sendable {
    let scheme: OutboundURL.Scheme
    let host: OutboundURL.Host
    let port: Int

    init(_ url: OutboundURL) {
        scheme = url.scheme
        host = url.host
        port = url.port
    }

    /// The name to tell in TLS and to look for in the certificate; without one the certificate has to be for the address.
    var serverName: String? {
        if case .name(let name) = host { name } else { nil }
    }
}
