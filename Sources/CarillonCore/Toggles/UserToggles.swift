/// A user's switches for all of their devices (API section 5).
public struct UserToggles: Sendable, Hashable {
    /// What a user wants of one module.
    public struct ModuleToggle: Sendable, Hashable {
        /// The module's switch.
        public var enabled = true
        /// Whose acts to hear of; `nil` means everybody's.
        public var roles: RoleFilter?

        /// Everything allowed.
        public init() {}
    }

    /// The main switch.
    public var enabled = true
    /// What was set by module; a module that is missing is allowed.
    public var modules: [Module: ModuleToggle] = [:]
    /// Silent until then.
    public var mutedUntil: Timestamp?
    /// Silent every day during these hours.
    public var quietHours: QuietHours?

    /// Everything allowed.
    public init() {}

    /// Why this level forbids the act at `now`, or `nil` when it allows it.
    public func objection(to act: ToggleQuestion, at now: Timestamp) -> ToggleReason? {
        guard enabled else { return .enabled }
        if let toggle = modules[act.eventType.module] {
            guard toggle.enabled else { return .module(act.eventType.module) }
            if let roles = toggle.roles, !roles.admits(act.actorRoles) { return .roles(act.eventType.module) }
        }
        if let mutedUntil, now < mutedUntil { return .mutedUntil(mutedUntil) }
        if let quietHours, quietHours.contains(now) { return .quietHours }
        return nil
    }
}
