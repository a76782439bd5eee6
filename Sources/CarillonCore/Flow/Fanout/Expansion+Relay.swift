extension Expansion {
    /// Adds what the endpoints of its network are told of the event, with its first page, as parts of `bundles`.
    mutating func relay(to endpoints: [Endpoint], ids: UUIDv7Generator, bundles: inout RelayBundles) {
        keepsBody = endpoints.keepBody(of: event.event.type.rawValue, acceptedAt: event.receivedAt)
        groups += endpoints.relayGroups(
            telling: RelayedEvent(event.id, event.event.type, receivedAt: event.receivedAt),
            in: event.networkID,
            ids: ids,
            bundles: &bundles
        )
    }
}
