/// A certificate that the simulator's authority has issued, with its key.
public struct IssuedCertificate: Sendable {
    /// The certificate in PEM.
    public let certificatePEM: String
    /// Its key in PEM (PKCS#8).
    public let privateKeyPEM: String
}
