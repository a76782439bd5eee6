/// A user's switches for all of their devices (API section 5).
package struct UserToggles: Sendable, Hashable {
    package struct ModuleToggle: Sendable, Hashable {
        package var enabled = true
        /// Whose acts to hear of; `nil` means everybody's.
        package var roles: RoleFilter?

        /// Everything allowed.
        package init() {}
    }

    package var enabled = true
    /// What was set by module; a module that is missing is allowed.
    package var modules: [Module: ModuleToggle] = [:]
    package var mutedUntil: Timestamp?
    /// Silent every day during these hours.
    package var quietHours: QuietHours?

    /// Everything allowed.
    package init() {}

    /// Why this level forbids the act at `now`, or `nil` when it allows it.
    package func objection(to act: ToggleQuestion, at now: Timestamp) -> ToggleReason? {
        guard enabled else { return .enabled }
        if let toggle = modules[act.module] {
            guard toggle.enabled else { return .module(act.module) }
            if let roles = toggle.roles, !roles.admits(act.actorRoles) { return .roles(act.module) }
        }
        if let mutedUntil, now < mutedUntil { return .mutedUntil(mutedUntil) }
        if let quietHours, quietHours.contains(now) { return .quietHours }
        return nil
    }
}
