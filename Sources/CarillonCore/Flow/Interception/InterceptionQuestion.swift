/// What an endpoint is asked about an event that is about to notify people (FACES section C3).
package struct InterceptionQuestion: Sendable {
    static let maximumRecipients = 1_000

    package var event: PendingEvent
    package var endpoint: Endpoint
    package var terms: EndpointRole.Interception
    /// The text in the network's own language.
    package var notification: Notification
    /// Who is to be notified, by what is known now.
    package var recipients: [UserID]
    package var hasMoreRecipients: Bool

    /// A question by its parts; of the recipients the first ``maximumRecipients`` are kept.
    package init(
        event: PendingEvent,
        endpoint: Endpoint,
        terms: EndpointRole.Interception,
        notification: Notification,
        recipients: [UserID],
        hasMoreRecipients: Bool
    ) {
        self.event = event
        self.endpoint = endpoint
        self.terms = terms
        self.notification = notification
        self.recipients = terms.includesRecipients ? Array(recipients.prefix(Self.maximumRecipients)) : []
        self.hasMoreRecipients = hasMoreRecipients || recipients.count > Self.maximumRecipients
    }

    /// About how many bytes of memory it takes while it waits.
    var size: Int {
        let text = notification.title.utf8.count + notification.body.utf8.count
        return 1_024 + event.size + text + recipients.reduce(0) { $0 + 16 + max(16, $1.rawValue.utf8.count) }
    }

    /// The body of the message.
    ///
    /// - Parameters:
    ///   - posted: The event as it was posted; `nil` when it is gone.
    ///   - now: The time.
    /// - Returns: JSON.
    func body(_ posted: [UInt8]?, at now: Timestamp) -> [UInt8] {
        guard endpoint.settings.format != .amity else { return amityBody.serialized }
        let data: JSONObject = [
            "event": .object(eventJSON(posted)),
            "notification": [
                "locale": .string(notification.locale), "title": .string(notification.title),
                "body": .string(notification.body),
                "kind": .string((event.event.direct?.content.kind ?? .alert).rawValue),
            ],
            "recipients": terms.includesRecipients
                ? ["userIds": JSONValue(recipients.map(\.rawValue)), "more": .bool(hasMoreRecipients)] : nil,
            "timeoutMs": JSONValue(terms.timeout),
        ]
        let message: JSONValue = [
            "type": "notification.intercept", "timestamp": .string(now.description), "data": .object(data),
        ]
        return message.serialized
    }

    private func eventJSON(_ posted: [UInt8]?) -> JSONObject {
        let known = posted.flatMap { try? JSONValue(parsing: $0) }?.object
        var json = known ?? event.event.canonicalJSON.object ?? JSONObject()
        if case .addresses(let devices)? = event.event.direct?.audience { json.hideAddresses(of: devices) }
        json["carillon"] = [
            "eventId": .string(event.id.description), "networkId": .string(event.networkID.rawValue),
            "receivedAt": .string(event.receivedAt.description),
        ]
        return json
    }
}

extension Event {
    /// Whether there is a text of which an endpoint could say something.
    var hasText: Bool {
        guard let direct else { return true }
        return direct.content.kind != .silent && !direct.texts.isEmpty
    }
}

extension [Endpoint] {
    /// The one that is asked about an event, with its terms, from when it is known; `nil` when there is none, or nothing to
    /// ask about.
    package func interceptor(of event: Event) -> (Endpoint, EndpointRole.Interception)? {
        guard event.notifies, event.hasText else { return nil }
        for endpoint in self where endpoint.state == .enabled {
            guard case .intercept(let terms) = endpoint.settings.role, endpoint.settings.concerns(event.type.rawValue)
            else { continue }
            return (endpoint, terms)
        }
        return nil
    }
}

extension InterceptionQuestion {
    /// The question as receivers know it that were built for Amity: a message is about to be sent. They are asked about nothing
    /// else, and what they answer of the text is meant for the notification's.
    var amityBody: JSONValue {
        let event = event.event
        let actor = event.actor.map { JSONValue.string($0.id.rawValue) }
        return [
            "eventName": "message.shouldCreate",
            "data": [
                "text": .string(event.message?.text ?? ""),
                "channelId": event.channel.map { .string($0.id.rawValue) },
                "messageId": .string(event.message?.id ?? event.sourceID),
            ],
            "actor": ["_id": actor, "userId": actor],
        ]
    }
}
