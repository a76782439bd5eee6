import CarillonCore

extension Endpoint {
    func json(_ circuit: LaneStatus.Circuit) -> JSONValue {
        let condition: JSONObject = [
            "state": .string(state.rawValue), "stateReason": JSONValue(stateReason),
            "circuit": .string(circuit.rawValue),
            "lastSuccessAt": JSONValue(lastSuccessAt), "lastError": JSONValue(lastError),
            "createdAt": JSONValue(createdAt),
        ]
        return .object(JSONObject(joining: ["id": .string(id.rawValue)], settings.json, condition))
    }
}

extension RelayAnswer {
    var json: JSONValue {
        ["status": JSONValue(status), "ms": JSONValue(milliseconds), "error": JSONValue(error)]
    }
}

extension EndpointSettings {
    /// The settings as they are written and shown, with defaults filled in.
    var json: JSONObject {
        var json: JSONObject = [
            "url": .string(url), "mode": .string(role.mode.rawValue), "events": JSONValue(events.patterns),
            "description": JSONValue(description),
        ]
        switch role {
        case .observe(let observation):
            json["replayHours"] = JSONValue(observation.replayHours)
        case .intercept(let interception):
            json["timeoutMs"] = JSONValue(interception.timeout)
            json["onFailure"] = .string(interception.onFailure.rawValue)
            json["includeRecipients"] = .bool(interception.includesRecipients)
        }
        json["format"] = .string(format.rawValue)
        return json
    }

    /// What a merge patch (RFC 7396) makes of the settings, to be read anew: of another mode, without what is of this one.
    func merging(_ patch: JSONValue) -> JSONValue {
        var base = json
        if case .object(let changes) = patch, let mode = changes["mode"], mode != .string(role.mode.rawValue) {
            for key in EndpointReader.ownKeys(of: role.mode) { base[key] = nil }
        }
        return JSONValue.object(base).merging(patch: patch)
    }
}

/// What a caller writes of an endpoint.
struct EndpointDraft: Sendable {
    var settings: EndpointSettings
    /// Whether it is to be in use; `nil` to leave that as it is.
    var isEnabled: Bool?

    func apply(to endpoint: Endpoint, at now: Timestamp) -> Endpoint {
        var changed = endpoint
        changed.settings = settings
        switch isEnabled {
        case true?: changed.set(.enabled, reason: nil, at: now)
        case false?: changed.set(.disabled, reason: "disabled by an admin", at: now)
        case nil: break
        }
        return changed
    }
}

/// Reads endpoints as they are written (FACES section C1).
struct EndpointReader {
    /// The longest description, in bytes.
    private static let maximumDescription = 1000
    private static let maximumPatternBytes = 64
    private static let problem = "invalid-endpoint"

    let egress: EgressGuard

    /// Reads `{"url","mode","events",…}`, as it is posted, or as a patch has made it of what there was.
    func draft(_ json: JSONValue) throws(InvalidInput) -> EndpointDraft {
        try json.read(as: Self.problem) { reader in
            let url = reader.serverURL(maximumBytes: OutboundURL.maximumBytes, by: egress)
            let description = reader.string("description", maximumBytes: Self.maximumDescription)
            let format = reader.choice("format", as: EndpointSettings.Format.self) ?? .carillon
            let isEnabled = reader.bool("enabled")
            guard let mode = reader.choice("mode", as: EndpointRole.Mode.self, required: true) else {
                // What else belongs here depends on the mode: do not call it unknown.
                for key in reader.keys { _ = reader.value(key) }
                return nil
            }
            let role = role(mode, from: &reader)
            let events = events(for: mode, in: format, from: &reader)
            guard let url, let events else { return nil }
            let settings = EndpointSettings(
                url: url,
                role: role,
                events: events,
                description: description,
                format: format
            )
            return EndpointDraft(settings: settings, isEnabled: isEnabled)
        }
    }

    /// The members that only endpoints of that mode have.
    static func ownKeys(of mode: EndpointRole.Mode) -> [String] {
        switch mode {
        case .observe: ["replayHours"]
        case .intercept: ["timeoutMs", "onFailure", "includeRecipients"]
        }
    }

    private func role(_ mode: EndpointRole.Mode, from reader: inout JSONObjectReader) -> EndpointRole {
        for other in EndpointRole.Mode.allCases where other != mode {
            for key in Self.ownKeys(of: other) where reader.value(key) != nil {
                reader.refuse(key, "is for endpoints of mode \(other.rawValue)")
            }
        }
        switch mode {
        case .observe:
            let hours = reader.integer("replayHours", in: EndpointRole.Observation.replayHours)
            return .observe(.init(replayHours: hours ?? EndpointRole.Observation.defaultReplayHours))
        case .intercept:
            let timeout = reader.integer("timeoutMs", in: EndpointRole.Interception.timeouts)
            let onFailure = reader.choice("onFailure", as: EndpointRole.Interception.Failure.self)
            let includesRecipients = reader.bool("includeRecipients")
            return .intercept(
                .init(
                    timeout: timeout ?? EndpointRole.Interception.defaultTimeout,
                    onFailure: onFailure ?? .deliver,
                    includesRecipients: includesRecipients ?? true
                )
            )
        }
    }

    private func events(
        for mode: EndpointRole.Mode,
        in format: EndpointSettings.Format,
        from reader: inout JSONObjectReader
    ) -> EndpointEvents? {
        let patterns = reader.strings(
            "events",
            required: true,
            maximumCount: EndpointEvents.maximumCount,
            maximumBytes: Self.maximumPatternBytes
        )
        guard let patterns else { return nil }
        guard !patterns.isEmpty else {
            reader.refuse("events", "must not be empty")
            return nil
        }
        var each: [String] = []
        for (index, pattern) in patterns.enumerated() where !each.contains(pattern) {
            guard EndpointEvents.isKnown(pattern, for: mode) else {
                let types = EndpointEvents.types(for: mode).sorted().joined(separator: ", ")
                reader.refuse(
                    "events",
                    at: index,
                    "must be * or, exactly or as all of a kind (message.*), one of \(types)"
                )
                continue
            }
            guard
                mode == .observe
                    || EndpointEvents.types(of: pattern, for: mode).allSatisfy({ format.names($0, for: mode) })
            else {
                let types = EndpointEvents.types(for: mode).filter { format.names($0, for: mode) }.sorted()
                let names = types.joined(separator: ", ")
                reader.refuse(
                    "events",
                    at: index,
                    "must be \(names): the format \(format.rawValue) asks about nothing else"
                )
                continue
            }
            each.append(pattern)
        }
        return EndpointEvents(trusted: each)
    }
}
