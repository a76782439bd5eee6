import Crypto
import Foundation

/// The symmetric key that a sender and Carillon share: `whsec_` and the base64 of 24 to 64 random bytes.
///
/// - SeeAlso: Standard Webhooks 1.0.0, "Signature scheme".
package struct WebhookSecret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private static let prefix = "whsec_"
    private static let byteCounts = 24...64

    /// The key of the HMAC.
    let key: SymmetricKey

    /// Reads the text form; `nil` for anything else, including base64 that is not padded or not canonical.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(canonicalBase64: text.dropFirst(Self.prefix.count)) else {
            return nil
        }
        guard Self.byteCounts.contains(bytes.count) else { return nil }
        key = SymmetricKey(data: bytes)
    }

    private init(key: SymmetricKey) {
        self.key = key
    }

    /// A new secret of 32 bytes from the system's random generator.
    package static func generate() -> WebhookSecret {
        WebhookSecret(key: SymmetricKey(size: .bits256))
    }

    /// The text form, to be shown once and stored encrypted.
    package var text: Secret {
        Secret(Self.prefix + key.withUnsafeBytes { Data($0).base64EncodedString() })
    }

    /// Always `<redacted>`.
    package var description: String { "<redacted>" }
    /// Always `<redacted>`.
    package var debugDescription: String { "<redacted>" }
    /// Shows nothing to `dump`.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Data {
    /// Decodes base64 (RFC 4648 section 4) that is padded and written in the only way in which an encoder writes it.
    ///
    /// Decoders pass over stray bits in the last character: two texts would then stand for the same bytes.
    init?(canonicalBase64 text: some StringProtocol) {
        let text = String(text)
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        self = data
    }
}
