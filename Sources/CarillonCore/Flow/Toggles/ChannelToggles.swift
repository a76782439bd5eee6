/// A user's switches for one channel (API section 5).
package struct ChannelToggles: Sendable, Hashable {
    package var enabled = true
    /// Lets only messages through that mention the user, and what is sent to them by name.
    package var mentionsOnly = false
    package var mutedUntil: Timestamp?

    /// Everything allowed.
    package init() {}

    /// Why this level forbids the act at `now`, or `nil` when it allows it.
    ///
    /// Off means off: a mention does not break through a channel that is disabled or muted.
    package func objection(to act: ToggleQuestion, mentioned: Bool, at now: Timestamp) -> ToggleReason? {
        guard enabled else { return .enabled }
        if let mutedUntil, now < mutedUntil { return .mutedUntil(mutedUntil) }
        if mentionsOnly, !(mentioned && act.eventType.kind.canMention) { return .mentionsOnly }
        return nil
    }
}
