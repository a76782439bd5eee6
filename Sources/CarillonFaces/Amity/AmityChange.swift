import CarillonCore

/// Amity's names for parts of a chat product.
private enum AmityModule: String, CaseIterable {
    case chat
    case social
    case video = "video-streaming"

    var module: Module {
        switch self {
        case .chat: .chat
        case .social: .social
        case .video: .video
        }
    }
}

/// What a user changes for all of their devices. What is not said stays.
struct AmityUserChange: Sendable, Equatable {
    static let maximumEntries = 7
    static let maximumRoles = 10

    struct ModuleChange: Sendable, Equatable {
        var module: Module
        var isEnabled: Bool?
        /// The roles that are heard of, and of nobody else; all where it is empty.
        var listened: Set<String>?
        /// The roles that are not heard of.
        var ignored: Set<String>?
    }

    var isEnabled: Bool?
    var modules: [ModuleChange] = []

    /// Reads a body.
    /// - Throws: What is wrong with it: an entry with the name of an event is for admins, as users have modules here.
    init(_ body: JSONValue) throws(InvalidInput) {
        self = try body.readForeign { reader in
            var change = Self()
            change.isEnabled = reader.bool("isPushNotifiable")
            change.modules = reader.entries(atMost: Self.maximumEntries) { entry in
                if entry.value("name") != nil { entry.refuse("name", "is for the network's level: users have modules") }
                let module = entry.choice("moduleName", as: AmityModule.self, required: true)?.module
                let isEnabled = entry.bool("isPushNotifiable")
                let (listened, ignored) = (entry.roleIDs("listenFromRoleIds"), entry.roleIDs("ignoreFromRoleIds"))
                return module.map {
                    ModuleChange(module: $0, isEnabled: isEnabled, listened: listened, ignored: ignored)
                }
            }
            return change
        }
    }

    private init() {}

    /// Changes a document; what Amity has no field for stays as it is.
    func apply(to toggles: inout UserToggles) {
        toggles.enabled = isEnabled ?? toggles.enabled
        for change in modules {
            var toggle = toggles.modules[change.module] ?? UserToggles.ModuleToggle()
            toggle.enabled = change.isEnabled ?? toggle.enabled
            toggle.roles = change.roles(from: toggle.roles)
            toggles.modules[change.module] = toggle == UserToggles.ModuleToggle() ? nil : toggle
        }
    }
}

extension AmityUserChange.ModuleChange {
    /// The filter that is made of the former one: `only` without whom is ignored, else `except`, else none.
    fileprivate func roles(from former: RoleFilter?) -> RoleFilter? {
        guard listened != nil || ignored != nil else { return former }
        var (only, except): (Set<String>?, Set<String>) = (nil, [])
        switch former {
        case .only(let roles)?: only = roles
        case .except(let roles)?: except = roles
        case nil: break
        }
        if let listened { only = listened.isEmpty ? nil : listened }
        if let ignored { except = ignored }
        if let only { return .only(only.subtracting(except)) }
        return except.isEmpty ? nil : .except(except)
    }
}

extension UserToggles {
    var amity: JSONValue {
        let events = AmityModule.allCases.map { name -> JSONValue in
            let toggle = modules[name.module] ?? ModuleToggle()
            var (listened, ignored): (Set<String>, Set<String>) = ([], [])
            switch toggle.roles {
            case .only(let roles)?: listened = roles
            case .except(let roles)?: ignored = roles
            case nil: break
            }
            return [
                "moduleName": .string(name.rawValue), "isPushNotifiable": .bool(toggle.enabled),
                "listenFromRoleIds": .array(listened.sorted().map(JSONValue.string)),
                "ignoreFromRoleIds": .array(ignored.sorted().map(JSONValue.string)),
            ]
        }
        return [
            "isPushNotifiable": .bool(enabled), "isUserEnabled": .bool(enabled), "notifiableEvents": .array(events),
        ]
    }
}

/// What a user changes for a channel, of which they need not be a member yet.
struct AmityChannelChange: Sendable, Equatable {
    var channel: ChannelID
    var isEnabled: Bool?
}

extension AmityChannelChange {
    /// Reads a body.
    /// - Throws: What is wrong with it: there are no switches for single events in a channel.
    init(_ body: JSONValue) throws(InvalidInput) {
        self = try body.readForeign { reader in
            let channel = reader.identifier("channelId", as: Channel.self, required: true)
            let isEnabled = reader.bool("isPushNotifiable")
            if reader.array("notifiableEvents", maximumCount: AmityUserChange.maximumEntries)?.isEmpty == false {
                reader.refuse("notifiableEvents", "must be empty: a channel is switched as a whole")
            }
            return channel.map { Self(channel: $0, isEnabled: isEnabled) }
        }
    }
}

extension ChannelToggles {
    /// The settings as Amity shows them, beside the user's own.
    func amity(of user: UserToggles) -> JSONValue {
        ["isPushNotifiable": .bool(enabled), "isUserEnabled": .bool(user.enabled), "notifiableEvents": []]
    }
}

extension JSONObjectReader {
    /// Reads each of `notifiableEvents`; those in which something is wrong are left out.
    mutating func entries<Entry>(atMost limit: Int, _ read: (inout JSONObjectReader) -> Entry?) -> [Entry] {
        let elements = array("notifiableEvents", maximumCount: limit) ?? []
        return elements.enumerated().compactMap { index, element in
            var reader = self.reader(of: element, in: "notifiableEvents", at: index)
            return read(&reader)
        }
    }

    fileprivate mutating func roleIDs(_ key: String) -> Set<String>? {
        strings(key, maximumCount: AmityUserChange.maximumRoles, maximumBytes: 256).map(Set.init)
    }
}
