/// A credential, and whether it is still the one to send with.
package struct CurrentCredential<Value: Sendable>: Sendable {
    /// The credential.
    package let value: Value
    /// Asked right before something is sent with it.
    package let isCurrent: @Sendable () -> Bool
}
