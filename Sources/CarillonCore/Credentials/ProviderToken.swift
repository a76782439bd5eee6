/// What we show to a push service instead of a key: signed with it, and good for a while.
public struct ProviderToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The token; whoever has it can send.
    public var value: String
    /// When it was made.
    public var issuedAt: Timestamp

    /// A token and when it was made.
    public init(value: String, issuedAt: Timestamp) {
        self.value = value
        self.issuedAt = issuedAt
    }

    /// When it was made, never the token.
    public var description: String { "token issued at \(issuedAt)" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
