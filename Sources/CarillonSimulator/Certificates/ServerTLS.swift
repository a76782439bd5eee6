import NIOSSL

enum ServerTLS {
    /// A context for one service, which trusts client certificates of `authority` (in PEM).
    static func context(
        _ issued: IssuedCertificate,
        authority: String,
        clients: SimulatorConfiguration.ClientCertificates,
        protocols: [String]
    ) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(issued.certificatePEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(issued.privateKeyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = protocols
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
        switch clients {
        case .none: configuration.certificateVerification = .none
        case .optional: configuration.certificateVerification = .optionalVerification
        case .required: configuration.certificateVerification = .noHostnameVerification
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
