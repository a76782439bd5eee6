/// The act that the toggles are asked about: what is the same for every recipient of an event.
package struct ToggleQuestion: Sendable, Hashable {
    package var eventType: EventType
    /// Whose switch it obeys.
    package var module: Module
    package var actorRoles: [String]

    package init(eventType: EventType, module: Module = .chat, actorRoles: [String]) {
        self.eventType = eventType
        self.module = module
        self.actorRoles = actorRoles
    }
}

/// One recipient's share of the question.
package struct ToggleSettings: Sendable, Hashable {
    package var user: UserToggles
    package var channel: ChannelToggles

    /// A recipient's settings; everything not set allows.
    package init(user: UserToggles = .init(), channel: ChannelToggles = .init()) {
        self.user = user
        self.channel = channel
    }
}

/// The three levels of toggles, in the order in which they are asked.
package enum ToggleLevel: String, Sendable, CaseIterable, Hashable {
    /// The admin's switches for everybody.
    case network
    /// The recipient's switches for everything.
    case user
    /// The recipient's switches for the channel.
    case channel
}

/// The field of a toggle document that decided.
package enum ToggleReason: Sendable, Hashable, CustomStringConvertible {
    /// The level's main switch.
    case enabled
    case module(Module)
    case event(EventType)
    case roles(Module)
    case mutedUntil(Timestamp)
    case quietHours
    case mentionsOnly

    /// The field's path, as `reason` in the API.
    package var description: String {
        switch self {
        case .enabled: "enabled"
        case .module(let module): "modules.\(module.rawValue)"
        case .event(let type): "events.\(type.rawValue)"
        case .roles(let module): "modules.\(module.rawValue).roles"
        case .mutedUntil(let end): "mutedUntil \(end)"
        case .quietHours: "quietHours"
        case .mentionsOnly: "mentionsOnly"
        }
    }
}

/// The verdict of one level or of all of them.
package enum Decision: Sendable, Hashable {
    case allow
    /// This level is the first that forbids, for this reason.
    case forbid(ToggleLevel, ToggleReason)
}

/// Asks the three levels; all must allow. Fan-out, retry and explain run this and nothing else.
package struct ToggleEvaluator: Sendable {
    private let question: ToggleQuestion
    private let now: Timestamp
    private let networkObjection: ToggleReason?

    /// An evaluator for all recipients of one event at one moment.
    package init(network: NetworkToggles, question: ToggleQuestion, now: Timestamp) {
        self.question = question
        self.now = now
        networkObjection = network.objection(to: question)
    }

    /// The verdict for one recipient, with the first level that forbids.
    package func decide(_ settings: ToggleSettings, mentioned: Bool) -> Decision {
        for level in ToggleLevel.allCases {
            if let reason = objection(of: level, settings, mentioned: mentioned) { return .forbid(level, reason) }
        }
        return .allow
    }

    /// When time alone can turn the verdict on a recipient who is allowed now; `nil` when it cannot.
    package func allowedUntil(_ settings: ToggleSettings) -> Timestamp? {
        settings.user.quietHours?.nextBegin(after: now)
    }

    /// Why one level by itself forbids, or `nil` when it allows.
    package func objection(of level: ToggleLevel, _ settings: ToggleSettings, mentioned: Bool) -> ToggleReason? {
        switch level {
        case .network: networkObjection
        case .user: settings.user.objection(to: question, at: now)
        case .channel: settings.channel.objection(to: question, mentioned: mentioned, at: now)
        }
    }
}

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

/// Whose acts a user wants to hear of, by the actor's roles.
package enum RoleFilter: Sendable, Hashable {
    /// Only of actors with one of these roles; of nobody when empty.
    case only(Set<String>)
    case except(Set<String>)

    package func admits(_ roles: some Sequence<String>) -> Bool {
        switch self {
        case .only(let wanted): roles.contains(where: wanted.contains)
        case .except(let unwanted): !roles.contains(where: unwanted.contains)
        }
    }
}

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
