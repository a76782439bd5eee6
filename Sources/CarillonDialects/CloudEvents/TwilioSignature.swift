import CarillonCore
import Crypto
import Foundation

/// `X-Twilio-Signature`: Base64 of an HMAC over the URL that was called, which names the body's digest.
struct TwilioSignature {
    private static let digest = "bodySHA256"

    private let code: [UInt8]

    init(_ signature: String) throws(DialectRefusal) {
        guard let code = Proof.bytes(base64: signature) else { throw .unproven("X-Twilio-Signature does not match") }
        self.code = code
    }

    /// Passes a body that a holder of one of the secrets, which are Auth Tokens, posted to an address of the service: the one that the
    /// request says, where none is given.
    ///
    /// - Throws: ``DialectRefusal/unproven(_:)``.
    func verify(
        _ request: DialectRequest,
        _ address: String?,
        _ secrets: [DialectDocument.SharedSecret]
    ) throws(DialectRefusal) {
        guard let claimed = try request.parameter(Self.digest) else {
            throw .unproven("the parameter bodySHA256 is missing")
        }
        guard Proof.areEqual(claimed.lowercased(), Proof.digest(request.body)) else {
            throw .unproven("bodySHA256 is not that of the body")
        }
        let host = request.values("host").first.map { "https://\($0)" }
        guard let address = (address ?? host).flatMap({ Address($0) }) else { throw .unproven("publicUrl is not set") }
        let isRight = address.spellings.contains { spelling in
            let url = Array((spelling + request.target).utf8)
            // They may be asked for SHA-256.
            return code.count == 20
                ? Proof.isSigned(url, by: secrets, code, hash: Insecure.SHA1.self)
                : Proof.isSigned(url, by: secrets, code)
        }
        guard isRight else { throw .unproven("X-Twilio-Signature does not match; is publicUrl right?") }
    }

    /// A service's own address.
    struct Address {
        private let scheme: String
        private let host: String
        private let port: Int?
        private let path: String

        /// Reads an http or https URL; `nil` for anything else.
        init?(_ text: String) {
            guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
                ["http", "https"].contains(scheme), let host = url.host, !host.isEmpty,
                url.query == nil, url.fragment == nil, url.user == nil, url.password == nil
            else { return nil }
            self.scheme = scheme
            self.host = host
            port = url.port
            path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        }

        /// With and without the port, as some of their senders sign one and some the other.
        var spellings: [String] {
            let usual = scheme == "https" ? 443 : 80
            return ["\(scheme)://\(host)\(path)", "\(scheme)://\(host):\(port ?? usual)\(path)"]
        }
    }
}
