import CarillonCore
import CryptoExtras
import Foundation

/// A service account of Google's: on whose behalf messages are sent to one project.
///
/// - SeeAlso: <https://cloud.google.com/iam/docs/keys-create-delete>
package struct FCMCredential: PushCredential {
    /// What an access token belongs to: the same for all apps that share a service account.
    struct Account: Hashable, Sendable {
        /// The account's name, an e-mail address.
        var clientEmail: String
        /// Which of the account's keys it is; shown to Google with each assertion.
        var keyID: String?
        /// Where assertions are exchanged for access tokens.
        var tokenURI: String
        /// The key as PEM.
        var privateKey: Secret
    }

    /// The Firebase project whose apps are reached.
    package let projectID: String
    let account: Account
    let key: _RSA.Signing.PrivateKey

    package var clientEmail: String { account.clientEmail }

    /// A credential by its parts; `nil` when the key is not an RSA key of at least 2,048 bits in PEM.
    init?(projectID: String, account: Account) {
        guard let key = account.privateKey.reveal({ try? _RSA.Signing.PrivateKey(pemRepresentation: $0) }) else {
            return nil
        }
        self.projectID = projectID
        self.account = account
        self.key = key
    }

    /// Names project and account, never the key.
    package var description: String { "FCM project \(projectID), \(clientEmail)" }
}
