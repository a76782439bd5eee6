package import CarillonCore
import Crypto
import Foundation

/// By what a network's messages are known to the push services: a key pair, and whom to write to about them.
///
/// Browsers subscribe with the public key, for good: a subscription takes no messages that another key signed. So the
/// key pair is made once, and stays when the subject changes.
///
/// - SeeAlso: RFC 8292.
package struct WebPushCredential: PushCredential {
    private static let maximumSubjectBytes = 256
    private static let maximumKeyBytes = 4_096

    /// A `mailto:` or `https:` URI of who answers for the messages; `nil` before anybody said so.
    package let subject: String?
    /// The public key as browsers want it (`applicationServerKey`): an uncompressed point in base64url.
    package let publicKey: String
    let key: P256.Signing.PrivateKey

    /// A new key pair, for pages to subscribe with; nothing is sent until there is a subject.
    package init() {
        self.init(subject: nil, key: P256.Signing.PrivateKey())
    }

    init(subject: String?, key: P256.Signing.PrivateKey) {
        self.subject = subject
        self.key = key
        publicKey = Base64URL.encode(key.publicKey.x963Representation)
    }

    /// Reads the body of `PUT /providers/webpush`: `{"subject":"mailto:ops@acme.example"}`, with a `privateKey` where browsers have
    /// subscribed elsewhere with its public one.
    /// The key pair is kept of what the network has so far; without that a new one is made.
    package init(reading document: JSONValue, keepingKeyOf former: WebPushCredential?) throws(InvalidInput) {
        self = try document.read(as: "invalid-credential") { reader in
            let subject = reader.string("subject", required: true, maximumBytes: Self.maximumSubjectBytes)
            if let subject, let complaint = Self.complaint(about: subject) { reader.refuse("subject", complaint) }
            let text = reader.string("privateKey", maximumBytes: Self.maximumKeyBytes)
            let taken = text.flatMap(Self.key)
            if let text, taken == nil {
                let rule = "must be a private key on the curve P-256, in PEM or base64url"
                reader.refuse("privateKey", holding: text, rule)
            }
            if let taken, let former, taken.rawRepresentation != former.key.rawRepresentation {
                reader.refuse(
                    "privateKey",
                    "is not that of the key pair that the network has, to which browsers have subscribed: they would "
                        + "be lost; DELETE that one first"
                )
            }
            return WebPushCredential(subject: subject, key: taken ?? former?.key ?? P256.Signing.PrivateKey())
        }
    }

    /// A private key as the usual tools write it: in PEM, or its 32 bytes in base64url.
    private static func key(_ text: String) -> P256.Signing.PrivateKey? {
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) { return key }
        return Base64URL.decode(text.utf8).flatMap { try? P256.Signing.PrivateKey(rawRepresentation: $0) }
    }

    /// What is wrong with a subject; Apple's service refuses messages whose subject leads nowhere.
    private static func complaint(about subject: String) -> String? {
        let host: Substring
        if subject.hasPrefix("mailto:"), subject.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            let parts = subject.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty,
                !subject.dropFirst("mailto:".count).contains(where: "<>:?,;\"()".contains)
            else {
                return "must have one e-mail address, and nothing else, behind mailto:"
            }
            host = parts[1]
        } else if let url = try? OutboundURL(subject), url.scheme == .https, case .name(let name) = url.host {
            host = Substring(name)
        } else {
            return "must be a mailto: or https: URI"
        }
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty }), !["local", "localhost"].contains(labels.last) else {
            return "must name a host that others can reach: push services refuse localhost and the like"
        }
        return nil
    }

    package var identity: JSONObject {
        ["subject": JSONValue(subject), "publicKey": .string(publicKey)]
    }

    package var stored: JSONValue {
        [
            "subject": subject.map(JSONValue.string),
            "privateKey": .string(Base64URL.encode(key.rawRepresentation)),
        ]
    }

    package init(stored: JSONValue) throws(InvalidInput) {
        let errors = InputErrors()
        var reader = JSONObjectReader(stored, unknown: .tolerate, into: errors)
        let subject = reader.string("subject")
        let text = reader.string("privateKey", required: true)
        try errors.throwIfAny(problem: "stored-credential")
        guard let text, let bytes = Base64URL.decode(text.utf8),
            let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
        else { throw InvalidInput(problem: "stored-credential", pointer: "", detail: "must have a key of P-256") }
        self.init(subject: subject, key: key)
    }

    /// Names subject and public key, never the private one.
    package var description: String { "Web Push key \(publicKey), \(subject ?? "no subject")" }
}

extension CredentialFormat {
    /// Key pairs and subjects of networks: browsers do not know apps. The key pair of the credential before is kept, since a new
    /// one would silence every browser; pages can subscribe with one that has no subject yet.
    package static let webpush = CredentialFormat(.webpush, initial: { WebPushCredential() }) {
        (document, _, former, _) throws(InvalidInput) in
        try WebPushCredential(reading: document, keepingKeyOf: former)
    }
}
