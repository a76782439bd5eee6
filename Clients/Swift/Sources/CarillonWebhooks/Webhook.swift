public import Foundation
public import HTTPTypes

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Verifies and signs webhooks as Standard Webhooks 1.0.0 says, with symmetric keys (HMAC-SHA256, version `v1`).
///
/// Carillon signs in this way what it sends to webhook devices and to endpoints, and takes events that are signed in this way.
///
/// ```swift
/// let webhook = Webhook(secret)
/// try webhook.verify(body, fields: request.headers)           // what has arrived
/// let fields = webhook.sign(body, id: "evt-1")                // what is about to be sent
/// ```
///
/// What is signed is `id.timestamp.body`, with the two fields as they were sent and the body's raw bytes: verify before you
/// decode, and sign exactly what you send.
public struct Webhook: Sendable {
    /// Secrets beyond these do not sign: fields would grow that receivers refuse.
    package static let maximumSigningSecretCount = 5
    /// Signatures beyond these are not looked at.
    private static let maximumSignatureCount = 16

    private let secrets: [SigningSecret]
    private let tolerance: Duration

    /// Verifies and signs with one secret.
    ///
    /// - Parameter secret: What both sides know.
    public init(_ secret: SigningSecret) {
        self.init([secret])
    }

    /// Verifies and signs with several secrets, while they are rotated.
    ///
    /// - Parameters:
    ///   - secrets: The secrets that are valid now. Each of them verifies; the first five sign.
    ///   - tolerance: How far from now the time of a signature may be, both ways.
    public init(_ secrets: [SigningSecret], tolerance: Duration = .seconds(300)) {
        self.secrets = secrets
        self.tolerance = tolerance
    }

    /// Checks that a holder of one of the secrets signed a body, and did so recently.
    ///
    /// A message that is sent again has the same `webhook-id`: remember those that you have taken.
    ///
    /// - Parameters:
    ///   - body: The body as it arrived, not decoded and encoded again.
    ///   - fields: The header fields of the request.
    ///   - now: The current time.
    /// - Throws: ``WebhookError``.
    public func verify(
        _ body: some DataProtocol,
        fields: HTTPFields,
        at now: Date = Date()
    ) throws(WebhookError) {
        try verify(
            body,
            id: fields[.webhookID],
            timestamp: fields[.webhookTimestamp],
            signature: fields[.webhookSignature],
            at: now
        )
    }

    /// Checks that a holder of one of the secrets signed a body, and did so recently; for servers without `HTTPFields`.
    ///
    /// Each secret costs one HMAC over the body, however many signatures there are. Comparing takes the same time whether and
    /// wherever they differ.
    ///
    /// - Parameters:
    ///   - body: The body as it arrived, not decoded and encoded again.
    ///   - id: The field `webhook-id`.
    ///   - timestamp: The field `webhook-timestamp`.
    ///   - signature: The field `webhook-signature`: signatures with spaces between them.
    ///   - now: The current time.
    /// - Throws: ``WebhookError``.
    public func verify(
        _ body: some DataProtocol,
        id: String?,
        timestamp: String?,
        signature: String?,
        at now: Date = Date()
    ) throws(WebhookError) {
        guard let id, !id.isEmpty else { throw .missingID }
        guard let timestamp, let signedAt = Self.seconds(timestamp) else { throw .malformedTimestamp }
        let age = now.timeIntervalSince1970 - Double(signedAt)
        let tolerated = tolerance / .seconds(1)
        if age > tolerated { throw .tooOld }
        if age < -tolerated { throw .tooFarAhead }
        let candidates = (signature ?? "").split(separator: " ", maxSplits: Self.maximumSignatureCount)
            .prefix(Self.maximumSignatureCount)
            .compactMap { $0.hasPrefix("v1,") ? Data(canonicalBase64: $0.dropFirst(3)) : nil }
        guard !candidates.isEmpty else { throw .noSignature }
        for secret in secrets {
            let expected = Self.authenticationCode(id: id, timestamp: timestamp, body: body, key: secret.key)
            // Equality of authentication codes is constant-time, as `HMAC.isValidAuthenticationCode` is.
            if candidates.contains(where: { expected == $0 }) { return }
        }
        throw .mismatch
    }

    /// Signs a body that is about to be sent.
    ///
    /// - Parameters:
    ///   - body: The body exactly as it is sent.
    ///   - id: The message's id; the same when it is sent again.
    ///   - now: When this attempt is made.
    /// - Returns: The fields `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    public func sign(_ body: some DataProtocol, id: String, at now: Date = Date()) -> HTTPFields {
        let timestamp = Int64(now.timeIntervalSince1970.rounded(.down))
        return [
            .webhookID: id, .webhookTimestamp: String(timestamp),
            .webhookSignature: signature(of: body, id: id, timestamp: timestamp),
        ]
    }

    /// The field `webhook-signature` of a body: one signature for each secret that signs.
    ///
    /// - Parameters:
    ///   - body: The body exactly as it is sent.
    ///   - id: The field `webhook-id`.
    ///   - timestamp: The field `webhook-timestamp`.
    /// - Returns: The field's value.
    package func signature(of body: some DataProtocol, id: String, timestamp: Int64) -> String {
        secrets.prefix(Self.maximumSigningSecretCount).map { secret in
            let code = Self.authenticationCode(id: id, timestamp: String(timestamp), body: body, key: secret.key)
            return "v1," + Data(code).base64EncodedString()
        }
        .joined(separator: " ")
    }

    private static func authenticationCode(
        id: String,
        timestamp: String,
        body: some DataProtocol,
        key: SymmetricKey
    ) -> HMAC<SHA256>.MAC {
        var hmac = HMAC<SHA256>(key: key)
        hmac.update(data: Array("\(id).\(timestamp).".utf8))
        hmac.update(data: body)
        return hmac.finalize()
    }

    /// Whole seconds since 1970, of up to 12 digits and nothing else.
    private static func seconds(_ text: String) -> Int64? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.count <= 12, text.utf8.allSatisfy(digits.contains) else { return nil }
        return Int64(text)
    }
}
