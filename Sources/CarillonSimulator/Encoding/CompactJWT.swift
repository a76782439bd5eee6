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
        String(
            Data(bytes).base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            }
        )
    }

    /// `nil` when a character does not belong here.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var standard: [UInt8] = []
        standard.reserveCapacity(text.utf8.count + 3)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"): return nil
            default: standard.append(byte)
            }
        }
        while standard.last == UInt8(ascii: "=") { standard.removeLast() }
        let padding = (4 - standard.count % 4) % 4
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: padding))
        return Data(base64Encoded: Data(standard)).map { Array($0) }
    }
}
