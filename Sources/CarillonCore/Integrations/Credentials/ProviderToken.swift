/// What we show to a push service instead of a key: signed with it, and good for a while.
package struct ProviderToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The token; whoever has it can send.
    package var value: String
    package var issuedAt: Timestamp

    /// A token and when it was made.
    package init(value: String, issuedAt: Timestamp) {
        self.value = value
        self.issuedAt = issuedAt
    }

    /// When it was made, never the token.
    package var description: String { "token issued at \(issuedAt)" }
    /// Shows nothing to `dump`.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
