package import CarillonCore
import Crypto
import Foundation

extension UserToken {
    /// A token of a user, as a network's back end would make it (API section 2).
    ///
    /// - Parameters:
    ///   - user: Whom it speaks for.
    ///   - network: Where.
    ///   - start: From when.
    ///   - end: Until when.
    ///   - secret: The network's secret, for HS256.
    /// - Returns: The token in its compact form.
    package static func signed(
        for user: UserID,
        in network: NetworkID,
        issuedAt start: Timestamp,
        until end: Timestamp,
        by secret: Secret
    ) -> Secret {
        let claims: JSONValue = [
            "sub": .string(user.rawValue), "aud": .string(audiencePrefix + network.rawValue),
            "iat": .number(JSONNumber(Int(start.milliseconds / 1_000))),
            "exp": .number(JSONNumber(Int(end.milliseconds / 1_000))),
        ]
        let header: JSONValue = ["alg": "HS256", "typ": "JWT"]
        let signed = Base64URL.encode(header.serialized) + "." + Base64URL.encode(claims.serialized)
        let key = SymmetricKey(data: secret.reveal { Array($0.utf8) })
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)
        return Secret(signed + "." + Base64URL.encode(Array(code)))
    }
}
