/// Names what one endpoint is told of one event.
package struct RelayKey: Sendable, Hashable {
    package var networkID: NetworkID
    package var endpointID: EndpointID
    package var eventID: EventID
}

/// What is needed to tell an endpoint of an event, as it is now.
package struct RelayMessage: Sendable {
    package var settings: EndpointSettings
    package var state: Endpoint.State
    /// What signs, the newest first.
    package var secrets: [WebhookSecret]
    /// The event's JSON as it was posted; `nil` when it is not kept any more.
    package var body: [UInt8]?
    /// Where the event stands in a trace of its sender's.
    package var trace: TraceContext?

    package init(
        settings: EndpointSettings,
        state: Endpoint.State,
        secrets: [WebhookSecret],
        body: [UInt8]?,
        trace: TraceContext? = nil
    ) {
        self.settings = settings
        self.state = state
        self.secrets = secrets
        self.body = body
        self.trace = trace
    }
}

/// What a question to an endpoint about an event is made of, beside what whoever asks knows of the event.
package struct QuestionMaterial: Sendable {
    /// What signs, the newest first; none when there is no such endpoint.
    package var secrets: [WebhookSecret]
    /// The event's JSON as it was posted; `nil` when it is in the inbox no more.
    package var body: [UInt8]?

    package init(secrets: [WebhookSecret], body: [UInt8]?) {
        self.secrets = secrets
        self.body = body
    }
}

package protocol RelaySource: Sendable {
    /// The messages of these keys; none where there is no such endpoint.
    func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage]
}

package protocol QuestionSource: Sendable {
    /// What a question to an endpoint about an event in the inbox is made of.
    func questionMaterial(_ key: RelayKey) async throws -> QuestionMaterial
}
