/// The switches of a whole network: off kills everything (API section 5).
public struct NetworkToggles: Sendable, Hashable {
    /// The main switch.
    public var enabled = true
    /// Modules that are switched off; all others are on.
    public var disabledModules: Set<Module> = []
    /// Event types that are switched off; all others are on.
    public var disabledEvents: Set<EventType> = []

    /// Everything allowed.
    public init() {}

    /// Why this level forbids the act, or `nil` when it allows it.
    public func objection(to act: ToggleQuestion) -> ToggleReason? {
        guard enabled else { return .enabled }
        guard !disabledModules.contains(act.eventType.module) else { return .module(act.eventType.module) }
        guard !disabledEvents.contains(act.eventType) else { return .event(act.eventType) }
        return nil
    }
}
