extension NetworkToggles: ToggleDocument {
    package init(reading reader: inout JSONObjectReader) {
        enabled = reader.bool("enabled") ?? true
        if var modules = reader.object("modules") {
            disabledModules = Set(Module.allCases.filter { Self.isOff($0.rawValue, &modules) })
            modules.finish()
        }
        if var events = reader.object("events") {
            disabledEvents = Set(EventType.notifying.filter { Self.isOff($0.rawValue, &events) })
            events.finish()
        }
        reader.refuseNulls("enabled", "modules", "events")
    }

    package var document: JSONValue {
        let modules = Module.allCases.map { ($0.rawValue, Self.switchJSON(!disabledModules.contains($0))) }
        let events = EventType.notifying.map { ($0.rawValue, Self.switchJSON(!disabledEvents.contains($0))) }
        return [
            "enabled": .bool(enabled), "modules": .object(JSONObject(modules)), "events": .object(JSONObject(events)),
        ]
    }

    private static func switchJSON(_ isOn: Bool) -> JSONValue? { ["enabled": .bool(isOn)] }

    private static func isOff(_ key: String, _ switches: inout JSONObjectReader) -> Bool {
        guard var entry = switches.object(key) else { return false }
        entry.refuseNulls("enabled")
        defer { entry.finish() }
        return entry.bool("enabled") == false
    }
}
