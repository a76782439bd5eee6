import Crypto

/// A key of Apple's developer portal with which provider tokens are signed, as the simulator makes them.
package struct APNsKey: Sendable {
    /// The team it belongs to, ten characters.
    package let teamID: String
    /// Its name, ten characters.
    package let keyID: String
    /// The contents of the `.p8` file: PKCS#8 in PEM.
    package let privateKeyPEM: String
    let publicKey: P256.Signing.PublicKey

    init(teamID: String, keyID: String) {
        let key = P256.Signing.PrivateKey()
        self.teamID = teamID
        self.keyID = keyID
        privateKeyPEM = key.pemRepresentation + "\n"
        publicKey = key.publicKey
    }
}
