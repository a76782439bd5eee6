import Crypto
import Foundation

extension TestNetwork {
    /// A token of a user, signed with the network's secret as a chat backend does it.
    func userToken(for user: String, expiresIn seconds: Int = 600) -> String {
        let expiry = Int(Date().timeIntervalSince1970) + seconds
        let claims = #"{"sub":"\#(user)","aud":"carillon:\#(id)","exp":\#(expiry)}"#
        let signed = Self.base64URL(#"{"alg":"HS256"}"#.utf8) + "." + Self.base64URL(claims.utf8)
        let key = SymmetricKey(data: Array(userTokenSecret.utf8))
        return signed + "." + Self.base64URL(HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key))
    }

    private static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
