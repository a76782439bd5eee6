/// A value that must not be printed: keys, tokens, passwords.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let value: String

    /// Wraps a secret.
    public init(_ value: String) {
        self.value = value
    }

    /// Lends the secret to `body`.
    public func reveal<Result>(_ body: (String) throws -> Result) rethrows -> Result { try body(value) }

    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
    /// Always `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// Shows nothing to `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
