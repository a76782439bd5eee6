/// The switches of a whole network: off kills everything (API section 5).
package struct NetworkToggles: Sendable, Hashable {
    package var enabled = true
    /// Modules that are switched off; all others are on.
    package var disabledModules: Set<Module> = []
    /// Event types that are switched off; all others are on.
    package var disabledEvents: Set<EventType> = []

    /// Everything allowed.
    package init() {}

    /// Why this level forbids the act, or `nil` when it allows it.
    package func objection(to act: ToggleQuestion) -> ToggleReason? {
        guard enabled else { return .enabled }
        guard !disabledModules.contains(act.module) else { return .module(act.module) }
        guard !disabledEvents.contains(act.eventType) else { return .event(act.eventType) }
        return nil
    }
}
