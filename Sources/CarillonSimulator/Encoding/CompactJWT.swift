import Foundation

/// A JSON Web Token in its three parts, not yet verified (RFC 7519).
struct CompactJWT {
    struct Header: Decodable {
        var alg: String?
        var kid: String?
    }

    struct Claims: Decodable {
        var iss: String?
        var sub: String?
        var aud: String?
        var scope: String?
        var iat: Double?
        var exp: Double?
    }

    let header: Header
    let claims: Claims
    let signedBytes: Data
    let signature: Data

    /// `nil` for anything but three parts of base64url, the first two of which are JSON.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            let header = try? JSONDecoder().decode(Header.self, from: Data(header)),
            let claims = try? JSONDecoder().decode(Claims.self, from: Data(claims))
        else { return nil }
        self.header = header
        self.claims = claims
        self.signedBytes = Data("\(parts[0]).\(parts[1])".utf8)
        self.signature = Data(signature)
    }
}

/// Base64url without padding (RFC 4648 section 5).
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// `nil` when a character does not belong here.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let text = String(text)
        guard !text.contains(where: { $0 == "+" || $0 == "/" }) else { return nil }
        var digits = text.replacing("-", with: "+").replacing("_", with: "/")
        while digits.last == "=" { digits.removeLast() }
        digits += String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
        return Data(base64Encoded: digits).map { Array($0) }
    }
}
