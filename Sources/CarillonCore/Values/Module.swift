/// A part of the chat product that can be switched as a whole.
package enum Module: String, Sendable, CaseIterable, Hashable {
    /// Channels, members and messages: the three event types that have templates belong here.
    case chat
    /// Posts and comments.
    case social
    /// Live video.
    case video
    /// What no event of the chat caused.
    case direct
}
