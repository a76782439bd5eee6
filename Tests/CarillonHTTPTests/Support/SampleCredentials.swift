import CarillonCore
import Crypto
import CryptoExtras

/// Bodies that name a credential, and the secrets in them.
enum SampleCredentials {
    static func apns(team: String = "TEAM123456", key: P256.Signing.PrivateKey = .init()) -> String {
        let body: JSONValue = [
            "teamId": .string(team), "keyId": "KEY1234567", "privateKey": .string(key.pemRepresentation),
        ]
        return body.serializedText
    }

    /// A service account, with a key that is made once: that takes a while.
    static func fcm(project: String = "acme-chat") throws -> String {
        let body: JSONValue = [
            "serviceAccount": [
                "type": "service_account", "project_id": .string(project), "private_key_id": "0a1b2c",
                "private_key": .string(try rsaKey.get().pkcs8PEMRepresentation),
                "client_email": "push@acme-chat.iam.gserviceaccount.com",
                "token_uri": "https://oauth2.googleapis.com/token", "universe_domain": "googleapis.com",
            ]
        ]
        return body.serializedText
    }

    static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
}
