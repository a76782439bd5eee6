import CarillonCore
import Crypto
import Foundation
import NIOHTTP1

extension HTTPHeaders {
    /// Adds what receivers that were built for Amity verify: the HMAC-SHA256 of the raw body with the secret's text as its key, in
    /// base64 as Amity's reference has it, and in hexadecimal under the name that some of its pages have.
    ///
    /// There is room for one signature only, so during a rotation it is the newest secret's.
    mutating func signForAmity(_ body: [UInt8], secrets: [WebhookSecret]) {
        guard let key = secrets.first?.text.reveal({ SymmetricKey(data: Array($0.utf8)) }) else { return }
        let code = Array(HMAC<SHA256>.authenticationCode(for: body, using: key))
        add(name: "x-amity-signature", value: Data(code).base64EncodedString())
        let digits = Array("0123456789abcdef".utf8)
        let hexadecimal = code.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        add(name: "x-signature", value: String(decoding: hexadecimal, as: UTF8.self))
    }
}
