/// What came of asking an endpoint about an event before anybody was notified of it, as it is shown (FACES section C3).
package struct InterceptionReport: Sendable, Equatable {
    package enum Ending: String, Sendable, CaseIterable {
        /// With an answer that is obeyed.
        case answered
        case timeout
        /// There was no connection, or an answer of another status.
        case error
        /// The answer says something that cannot be obeyed.
        case invalid
        /// It was not asked, since the last questions failed.
        case circuit
        /// It was not asked, since too many others were in line.
        case busy

        /// Whether it counts as a failure of the endpoint; `nil` where the endpoint was not asked.
        package var isFailure: Bool? {
            switch self {
            case .answered: false
            case .timeout, .error, .invalid: true
            case .circuit, .busy: nil
            }
        }
    }

    package enum Action: String, Sendable, CaseIterable {
        /// It is sent as it was.
        case deliver
        /// It is sent with changes, or to fewer people.
        case edit
        case drop
    }

    package static let longestReason = (characters: 200, bytes: 500)

    package var endpointID: EndpointID
    package var outcome: Ending
    package var action: Action
    /// Why: in the endpoint's words where it answered, in ours where it did not.
    package var reason: String?
    /// How long it took, in milliseconds.
    package var milliseconds: Int

    /// A report by its parts; of a reason that is too long, the beginning is kept.
    package init(
        endpointID: EndpointID,
        outcome: Ending,
        action: Action,
        reason: String? = nil,
        milliseconds: Int = 0
    ) {
        self.endpointID = endpointID
        self.outcome = outcome
        self.action = action
        let longest = Self.longestReason
        self.reason = reason.map { reason in
            reason.withoutControls(onOneLine: true, maximumBytes: longest.bytes)
                .shortened(toCharacters: longest.characters, bytes: longest.bytes)
        }
        self.milliseconds = milliseconds
    }
}

extension InterceptionReport {
    /// The report as the API shows it and the database keeps it.
    package var json: JSONObject {
        [
            "endpointId": .string(endpointID.rawValue), "outcome": .string(outcome.rawValue),
            "action": .string(action.rawValue), "reason": JSONValue(reason), "ms": JSONValue(milliseconds),
        ]
    }

    /// The report as the log of events keeps it: one line.
    package var stored: String { json.serializedText }

    /// Reads what ``json`` wrote; `nil` when it is anything else.
    package init?(_ json: JSONValue) {
        let errors = InputErrors()
        var reader = JSONObjectReader(json, unknown: .tolerate, into: errors)
        guard let endpoint = reader.string("endpointId", required: true),
            let outcome = reader.choice("outcome", as: Ending.self, required: true),
            let action = reader.choice("action", as: Action.self, required: true)
        else { return nil }
        self.init(
            endpointID: EndpointID(trusted: endpoint),
            outcome: outcome,
            action: action,
            reason: reader.string("reason"),
            milliseconds: reader.integer("ms", in: 0...Int.max) ?? 0
        )
    }
}
