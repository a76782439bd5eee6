/// A value that must not be printed: keys, tokens, passwords.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let value: String

    package init(_ value: String) {
        self.value = value
    }

    /// Lends the secret to `body`.
    package func reveal<Result>(_ body: (String) throws -> Result) rethrows -> Result { try body(value) }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    /// Shows nothing to `dump`.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
