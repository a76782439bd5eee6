import NIOCore
package import NIOSSL

extension TLSConfiguration {
    /// How to speak TLS to push services and webhooks: from version 1.2 on, HTTP/2 where the other side has it, with certificates
    /// verified in full.
    package static func outbound() -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = [ApplicationProtocol.http2, ApplicationProtocol.http1]
        // A connection that is given up is not worth waiting for the other side's goodbye.
        configuration.shutdownTimeout = .seconds(1)
        return configuration
    }

    /// The same, with further roots.
    ///
    /// - Parameter extraRoots: The path of a PEM file with roots to trust besides the system's (`CARILLON_EXTRA_CA_FILE`).
    /// - Returns: A configuration for clients.
    /// - Throws: ``ExtraRootsError`` when the file holds no certificate or one that does not parse.
    package static func outbound(extraRoots: String) throws(ExtraRootsError) -> TLSConfiguration {
        var configuration = outbound()
        configuration.additionalTrustRoots = [.certificates(try certificates(in: extraRoots))]
        return configuration
    }

    private static func certificates(in path: String) throws(ExtraRootsError) -> [NIOSSLCertificate] {
        do {
            let certificates = try NIOSSLCertificate.fromPEMFile(path)
            if !certificates.isEmpty { return certificates }
        } catch {
            // What NIOSSL throws does not say more than that it did not work.
        }
        throw ExtraRootsError(path: path)
    }
}

/// The file of further roots cannot be used.
package struct ExtraRootsError: Error, Sendable, Equatable, CustomStringConvertible {
    package let path: String

    package var description: String { "\(path) must be a readable PEM file with at least one certificate" }
}
