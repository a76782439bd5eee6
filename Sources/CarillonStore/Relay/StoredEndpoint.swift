import CarillonCore
import Postgres

/// What is written to `endpoints`, as far as admins chose it.
extension Endpoint {
    func insert(of network: NetworkID, sealed: [UInt8], _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            INSERT INTO endpoints (network_id, endpoint_id, mode, url, events, settings, sealed, state, state_reason,
                                   state_at, created_at)
            VALUES (\(network.rawValue), \(id.rawValue), \(settings.role.mode.rawValue), \(settings.url),
                    \(settings.events.stored), \(settings.stored), \(sealed), \(state.rawValue),
                    \(stateReason), \(stateAt.stored), \(createdAt.stored))
            """
        )
    }

    /// Writes what became of the row; one that is in use again has not failed yet.
    func update(in network: NetworkID, revision: Int64, _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            UPDATE endpoints
            SET mode = \(settings.role.mode.rawValue), url = \(settings.url), events = \(settings.events.stored),
                settings = \(settings.stored), state_reason = \(stateReason), state_at = \(stateAt.stored),
                failing_since = CASE WHEN state = \(state.rawValue) THEN failing_since END,
                state = \(state.rawValue), revision = \(revision)
            WHERE network_id = \(network.rawValue) AND endpoint_id = \(id.rawValue)
            """
        )
    }
}

extension Row {
    /// Reads an endpoint from ``endpointColumns``, which begin at a column.
    func endpoint(at column: Int = 0) throws -> Endpoint {
        let mode = try choice(column + 1, of: EndpointRole.Mode.self)
        guard
            let settings = EndpointSettings(
                mode: mode,
                url: try decode(column + 2),
                events: try decode(column + 3),
                stored: try decode(column + 4)
            )
        else { throw StoreError.unreadable("endpoint") }
        var endpoint = Endpoint(
            id: try id(column),
            settings: settings,
            createdAt: try timestamp(column + 8)
        )
        endpoint.state = try choice(column + 5)
        endpoint.stateReason = try decode(column + 6)
        endpoint.stateAt = try timestamp(column + 7)
        endpoint.lastSuccessAt = try timestampIfAny(column + 9)
        endpoint.lastError = try decode(column + 10)
        return endpoint
    }

    static var endpointColumns: SQL {
        """
        endpoint_id, mode, url, events, settings, state, state_reason, state_at, created_at, last_success_at, last_error
        """
    }
}

extension EndpointEvents {
    /// Column `events`.
    fileprivate var stored: String { JSONValue.array(patterns.map(JSONValue.string)).serializedText }
}

extension EndpointSettings {
    /// Column `settings`.
    fileprivate var stored: String {
        var json = JSONObject()
        json["description"] = description.map(JSONValue.string)
        json["format"] = .string(format.rawValue)
        switch role {
        case .observe(let observation):
            json["replayHours"] = .number(JSONNumber(observation.replayHours))
        case .intercept(let interception):
            json["timeout"] = .number(JSONNumber(interception.timeout))
            json["onFailure"] = .string(interception.onFailure.rawValue)
            json["includesRecipients"] = .bool(interception.includesRecipients)
        }
        return JSONValue.object(json).serializedText
    }

    /// Reads what ``stored`` wrote; `nil` for anything else.
    fileprivate init?(mode: EndpointRole.Mode, url: String, events: String, stored: String) {
        guard case .array(let patterns)? = try? JSONValue(parsing: events),
            case .object(let json)? = try? JSONValue(parsing: stored),
            let format = json["format"]?.text.flatMap(Format.init(rawValue:)),
            let role = EndpointRole(mode, stored: json)
        else { return nil }
        self.init(
            url: url,
            role: role,
            events: EndpointEvents(trusted: patterns.compactMap(\.text)),
            description: json["description"]?.text,
            format: format
        )
    }
}

extension EndpointRole {
    fileprivate init?(_ mode: Mode, stored json: JSONObject) {
        switch mode {
        case .observe:
            guard let hours = json["replayHours"]?.wholeNumber else { return nil }
            self = .observe(Observation(replayHours: hours))
        case .intercept:
            guard let timeout = json["timeout"]?.wholeNumber,
                let onFailure = json["onFailure"]?.text.flatMap(Interception.Failure.init(rawValue:)),
                case .bool(let includesRecipients)? = json["includesRecipients"]
            else { return nil }
            self = .intercept(
                Interception(timeout: timeout, onFailure: onFailure, includesRecipients: includesRecipients)
            )
        }
    }
}
