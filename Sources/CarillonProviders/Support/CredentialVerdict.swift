/// What a push service thinks of a credential.
package enum CredentialVerdict: Sendable, Equatable {
    /// It is only the device that was wrong.
    case accepted
    /// It is not good for this app or environment; the reason is the service's word.
    case refused(reason: String)
    case unknown(reason: String)
}
