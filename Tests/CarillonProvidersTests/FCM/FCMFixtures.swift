import CarillonCore
import CryptoExtras

@testable import CarillonProviders
@testable import PushHTTP

enum ServiceAccount {
    /// Made once: an RSA key takes a while.
    static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    /// What Google's console hands out, `changes` applied; a change to `null` removes.
    static func json(_ changes: [(String, JSONValue)] = []) throws -> JSONValue {
        var account = JSONObject()
        account["type"] = "service_account"
        account["project_id"] = "acme-chat"
        account["private_key_id"] = "0a1b2c"
        account["private_key"] = .string(try key.get().pkcs8PEMRepresentation)
        account["client_email"] = "push@acme-chat.iam.gserviceaccount.com"
        account["client_id"] = "1234567890"
        account["auth_uri"] = "https://accounts.google.com/o/oauth2/auth"
        account["token_uri"] = "https://oauth2.googleapis.com/token"
        account["universe_domain"] = "googleapis.com"
        for (name, value) in changes { account[name] = value == .null ? nil : value }
        return .object(account)
    }

    /// The body of `PUT /providers/fcm/apps/{appId}`.
    static func document(_ changes: [(String, JSONValue)] = []) throws -> JSONValue {
        ["serviceAccount": try json(changes)]
    }

    static func credential(_ changes: [(String, JSONValue)] = []) throws -> FCMCredential {
        try FCMCredential(reading: document(changes), for: .google)
    }
}

extension OutboundResponse {
    /// The answer of a token endpoint.
    static func accessToken(_ token: String, expiresIn seconds: Int = 3_599) -> OutboundResponse {
        .answer(200, #"{"access_token":"\#(token)","expires_in":\#(seconds),"token_type":"Bearer"}"#)
    }
}

extension OutboundRequest {
    /// Whether it goes to the token endpoint.
    var asksForToken: Bool { url == FCMServer.googleTokenURI }
}
