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

    /// How far the clocks of replicas may be apart.
    package static let leeway = Duration.seconds(60)

    /// Whether the clock that it was made by was wrong, if it is `now`.
    package func isAhead(of now: Timestamp) -> Bool { issuedAt > now + Self.leeway }

    /// When it was made, never the token.
    package var description: String { "token issued at \(issuedAt)" }
    /// Shows nothing to `dump`.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
