import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The symmetric key that a sender and a receiver of webhooks share: `whsec_` and the base64 of 24 to 64 random bytes.
///
/// Carillon shows it once: when a network is made, when an endpoint is made, and when a secret is rotated. Keep it as you keep
/// passwords. It never shows itself, neither in logs nor to `dump`.
public struct SigningSecret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private static let prefix = "whsec_"
    private static let byteCounts = 24...64

    /// The key of the HMAC.
    let key: SymmetricKey

    /// Reads the text form.
    ///
    /// - Parameter text: What Carillon showed. Anything else makes `nil`, base64 that is not padded or not canonical included:
    ///   two texts would then stand for one secret.
    public init?(_ text: String) {
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
    package static func generate() -> SigningSecret {
        SigningSecret(key: SymmetricKey(size: .bits256))
    }

    /// The text form, to be shown once and stored encrypted.
    package var text: String { Self.prefix + key.withUnsafeBytes { Data($0).base64EncodedString() } }

    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
    /// Always `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Data {
    /// Decodes base64 (RFC 4648 section 4) that is padded and written in the only way in which an encoder writes it.
    init?(canonicalBase64 text: some StringProtocol) {
        let text = String(text)
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        self = data
    }
}
