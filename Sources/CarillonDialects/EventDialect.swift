import CarillonCore

/// A chat backend's own webhooks, read as events (DIALECTS).
package protocol EventDialect: Sendable {
    /// What it is called in paths.
    var name: String { get }
}
