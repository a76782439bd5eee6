import CarillonCore
import Crypto
import Foundation

/// What senders prove themselves by. Every comparison takes the same time, whether and wherever there is a difference.
enum Proof {
    /// Whether one of the secrets made this HMAC.
    static func isSigned<Hash: HashFunction>(
        _ text: [UInt8],
        by secrets: [DialectDocument.SharedSecret],
        _ code: [UInt8]?,
        hash: Hash.Type = SHA256.self
    ) -> Bool {
        guard let code else { return false }
        return secrets.contains { secret in
            let key = secret.value.reveal { SymmetricKey(data: Array($0.utf8)) }
            return HMAC<Hash>.isValidAuthenticationCode(code, authenticating: text, using: key)
        }
    }

    static func isOne(of secrets: [DialectDocument.SharedSecret], _ text: String) -> Bool {
        secrets.contains { $0.value.reveal { areEqual($0, text) } }
    }

    static func areEqual(_ left: String, _ right: String) -> Bool { SecretHash(of: right).matches(left) }

    /// Whether `Authorization` shows a user and password (RFC 7617).
    static func isBasic(_ request: DialectRequest, _ expected: DialectDocument.BasicCredential) throws(DialectRefusal) {
        guard let header = try request.proof("authorization") else { throw .unproven("Authorization is missing") }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = bytes(base64: String(parts[1])),
            let text = String(boundingMarksOf: bytes),
            let colon = text.firstIndex(of: ":")
        else { throw .unproven("Authorization must be Basic") }
        let isUser = areEqual(String(text[..<colon]), expected.user)
        let isPassword = expected.password.reveal { areEqual(String(text[text.index(after: colon)...]), $0) }
        guard isUser, isPassword else { throw .unproven("user or password do not match") }
    }

    /// The bytes of hexadecimal digits, in either case.
    static func bytes(hex text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), digits.count <= 128 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexValue, let low = digits[index + 1].hexValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The bytes of Base64, with its padding.
    static func bytes(base64 text: String) -> [UInt8]? { Data(base64Encoded: text).map { Array($0) } }

    /// SHA-256 in hexadecimal digits.
    static func digest(_ bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }
}
