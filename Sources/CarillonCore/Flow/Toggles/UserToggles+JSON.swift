extension UserToggles: ToggleDocument {
    package init(reading reader: inout JSONObjectReader) {
        enabled = reader.bool("enabled") ?? true
        if var modules = reader.object("modules") {
            for module in Module.allCases {
                guard var entry = modules.object(module.rawValue) else { continue }
                let toggle = ModuleToggle(reading: &entry)
                if toggle != ModuleToggle() { self.modules[module] = toggle }
            }
            modules.finish()
        }
        mutedUntil = reader.timestamp("mutedUntil")
        if var window = reader.object("quietHours") { quietHours = QuietHours(reading: &window) }
        reader.refuseNulls("enabled", "modules")
    }

    package var document: JSONValue {
        [
            "enabled": .bool(enabled),
            "modules": .object(
                JSONObject(Module.allCases.map { ($0.rawValue, (modules[$0] ?? ModuleToggle()).document) })
            ),
            "mutedUntil": JSONValue(mutedUntil),
            "quietHours": quietHours?.document ?? .null,
        ]
    }
}

extension UserToggles.ModuleToggle {
    fileprivate init(reading reader: inout JSONObjectReader) {
        enabled = reader.bool("enabled") ?? true
        reader.refuseNulls("enabled")
        if var filter = reader.object("roles") { roles = RoleFilter(reading: &filter) }
        reader.finish()
    }

    fileprivate var document: JSONValue {
        ["enabled": .bool(enabled), "roles": roles?.document ?? .null]
    }
}

extension RoleFilter {
    private static let maximumCount = 100

    fileprivate init?(reading reader: inout JSONObjectReader) {
        let only = reader.strings("only", maximumCount: Self.maximumCount, maximumBytes: 256)
        let except = reader.strings("except", maximumCount: Self.maximumCount, maximumBytes: 256)
        reader.finish()
        switch (reader.contains("only"), reader.contains("except")) {
        case (true, false):
            guard let only else {
                if reader.isNull("only") { reader.refuse("only", "must be an array of roles") }
                return nil
            }
            self = .only(Set(only))
        case (false, true):
            guard let except else {
                if reader.isNull("except") { reader.refuse("except", "must be an array of roles") }
                return nil
            }
            self = .except(Set(except))
        case (true, true), (false, false):
            reader.errors.add(pointer: reader.pointer, detail: "must have either `only` or `except`")
            return nil
        }
    }

    fileprivate var document: JSONValue {
        switch self {
        case .only(let roles): ["only": JSONValue(roles.sorted())]
        case .except(let roles): ["except": JSONValue(roles.sorted())]
        }
    }
}
