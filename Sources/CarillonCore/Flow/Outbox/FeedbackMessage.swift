/// What endpoints are told that no event says: an event of our own.
package struct FeedbackMessage: Sendable {
    package var networkID: NetworkID
    package var id: EventID
    package var type: EventType
    package var at: Timestamp
    package var body: JSONValue
    package var trace: TraceContext?
    /// The messages to those who are told at once.
    package var groups: [DeliveryGroup]

    /// A message of a network's; `nil` when no endpoint asks for it.
    init?(
        _ type: FeedbackType,
        _ data: @autoclosure () -> JSONObject,
        in network: NetworkID,
        to endpoints: [Endpoint],
        at now: Timestamp,
        ids: UUIDv7Generator
    ) {
        guard endpoints.keepBody(of: type.rawValue, acceptedAt: now) else { return nil }
        networkID = network
        id = EventID(ids.next())
        self.type = EventType(type.rawValue)
        at = now
        body = ["type": .string(type.rawValue), "timestamp": .string(now.description), "data": .object(data())]
        let event = RelayedEvent(id, self.type, receivedAt: now)
        var bundles = RelayBundles()
        groups = endpoints.relayGroups(telling: event, in: network, ids: ids, bundles: &bundles)
    }
}
