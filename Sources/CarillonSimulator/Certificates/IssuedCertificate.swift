/// A certificate that the simulator's authority has issued, with its key.
package struct IssuedCertificate: Sendable {
    package let certificatePEM: String
    /// Its key in PEM (PKCS#8).
    package let privateKeyPEM: String
}
