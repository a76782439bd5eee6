import CarillonCore
import CarillonEdge
import CarillonTesting
import Crypto
import Synchronization

/// Makes tokens of users.
enum FaceTokens {
    /// A user token of a network, as its admin's server signs it.
    static func userToken(_ user: String, in network: String, secret: String, expiresIn seconds: Int64) -> String {
        let expiry = FaceStage.now.milliseconds / 1000 + seconds
        let claims = #"{"sub":"\#(user)","aud":"carillon:\#(network)","exp":\#(expiry)}"#
        let signed = Base64URL.encode(#"{"alg":"HS256"}"#.utf8) + "." + Base64URL.encode(claims.utf8)
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(signed.utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        return signed + "." + Base64URL.encode(code)
    }
}

/// Knows tokens by heart, and counts how often it is asked.
final class KnownTokens: UserTokenAsker {
    private let users: [String: String]
    private let asked = Mutex(0)

    /// Users by their tokens.
    init(_ users: [String: String]) { self.users = users }

    /// How often it was asked.
    var count: Int { asked.withLock(\.self) }

    func ask(
        _ introspection: UserTokenIntrospection,
        about token: Secret,
        in network: NetworkID
    ) async -> UserTokenAnswer {
        asked.withLock { $0 += 1 }
        return token.reveal { users[$0] }.map { .user(UserID(trusted: $0)) } ?? .nobody
    }
}
