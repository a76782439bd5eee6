/// A part of the chat product that can be switched as a whole.
package enum Module: String, Sendable, CaseIterable, Hashable {
    /// Channels, members and messages: the three event types that notify belong here.
    case chat
    /// Posts and comments; no event type belongs to it yet.
    case social
}

extension EventType {
    /// The module whose switch this event obeys.
    package var module: Module { .chat }
}
