import _CryptoExtras
import Synchronization

final class ServiceAccount: Sendable {
    private struct Credentials {
        var publicKey: _RSA.Signing.PublicKey
        var json: String
    }

    let clientEmail: String
    let tokenURL: String
    private let projectID: String
    // Made when it is first asked for: a key of RSA takes a tenth of a second.
    private let credentials = Mutex<Credentials?>(nil)

    init(projectID: String, tokenURL: String) {
        self.projectID = projectID
        self.tokenURL = tokenURL
        clientEmail = "simulator@\(projectID).iam.gserviceaccount.com"
    }

    /// The key that verifies signatures; `nil` while nobody can sign, since ``json()`` has not been read.
    var publicKey: _RSA.Signing.PublicKey? { credentials.withLock { $0?.publicKey } }

    /// The file that Google's console offers for download.
    func json() throws -> String {
        try credentials.withLock { credentials in
            if let credentials { return credentials.json }
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let made = Credentials(publicKey: key.publicKey, json: json(key))
            credentials = made
            return made.json
        }
    }

    /// 40 hexadecimal digits, as the ids of Google's keys have.
    private static func keyID() -> String {
        String((0..<40).compactMap { _ in "0123456789abcdef".randomElement() })
    }

    private func json(_ key: _RSA.Signing.PrivateKey) -> String {
        JSONText.text([
            "type": "service_account",
            "project_id": projectID,
            "private_key_id": Self.keyID(),
            "private_key": key.pkcs8PEMRepresentation + "\n",
            "client_email": clientEmail,
            "client_id": "100000000000000000000",
            "auth_uri": tokenURL,
            "token_uri": tokenURL,
            "universe_domain": "googleapis.com",
        ])
    }
}
