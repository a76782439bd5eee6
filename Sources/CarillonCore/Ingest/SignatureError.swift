/// Why a webhook's signature is not accepted; answered with 401.
package enum SignatureError: String, Error, Sendable, CaseIterable, CustomStringConvertible {
    /// There is no id to have been signed.
    case missingID = "webhook-id is empty"
    /// The timestamp is not a whole number of seconds.
    case malformedTimestamp = "webhook-timestamp is not a whole number of seconds since 1970"
    /// The body was signed too long ago: it may have been recorded and sent again.
    case tooOld = "webhook-timestamp is too old"
    /// The timestamp lies in the future: one of the clocks is wrong.
    case tooFarAhead = "webhook-timestamp is too far ahead"
    /// There is no signature of version `v1` in its proper form.
    case noSignature = "webhook-signature holds no signature of version v1"
    /// No signature was made with one of the secrets over these bytes.
    case mismatch = "no signature matches"

    /// What is wrong; holds nothing of the request.
    package var description: String { rawValue }
}
