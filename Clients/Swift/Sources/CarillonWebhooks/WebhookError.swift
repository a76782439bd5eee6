/// Why a webhook is not taken for what it says it is. Answer 401, and do nothing with its body.
public enum WebhookError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no `webhook-id`.
    case missingID
    /// The `webhook-timestamp` is missing, or not whole seconds since 1970.
    case malformedTimestamp
    /// It was signed too long ago, and may be played back by somebody who overheard it.
    case tooOld
    /// It was signed in the future: one of the two clocks is wrong.
    case tooFarAhead
    /// The `webhook-signature` is missing, or has no signature of version `v1`.
    case noSignature
    /// None of the secrets made any of the signatures for this id, time and body.
    case mismatch

    /// What is wrong, in words and without data.
    public var description: String {
        switch self {
        case .missingID: "webhook-id is missing"
        case .malformedTimestamp: "webhook-timestamp is missing, or not whole seconds since 1970"
        case .tooOld: "webhook-timestamp is too old"
        case .tooFarAhead: "webhook-timestamp is in the future"
        case .noSignature: "webhook-signature has no signature of version v1, such as v1,BASE64"
        case .mismatch: "no signature is that of a known secret"
        }
    }
}
