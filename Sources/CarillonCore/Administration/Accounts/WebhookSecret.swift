package import CarillonWebhooks

/// The symmetric key that a sender and Carillon share: `whsec_` and the base64 of 24 to 64 random bytes.
///
/// - SeeAlso: Standard Webhooks 1.0.0, "Signature scheme".
package struct WebhookSecret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let signing: SigningSecret

    /// Reads the text form; `nil` for anything else, including base64 that is not padded or not canonical.
    package init?(_ text: String) {
        guard let signing = SigningSecret(text) else { return nil }
        self.init(signing: signing)
    }

    private init(signing: SigningSecret) {
        self.signing = signing
    }

    /// A new secret of 32 bytes from the system's random generator.
    package static func generate() -> WebhookSecret {
        WebhookSecret(signing: .generate())
    }

    /// The text form, to be shown once and stored encrypted.
    package var text: Secret { Secret(signing.text) }

    /// Always `<redacted>`.
    package var description: String { signing.description }
    /// Always `<redacted>`.
    package var debugDescription: String { signing.debugDescription }
    /// Shows nothing to `dump`.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
