extension Expansion {
    /// Adds what the endpoints of its network are told of the event, with its first page.
    mutating func relay(to endpoints: [Endpoint], ids: UUIDv7Generator) {
        let event = event
        let type = event.event.type.rawValue
        keepsBody = endpoints.keepBody(of: type, acceptedAt: event.receivedAt)
        for endpoint in endpoints where endpoint.isTold(of: type, acceptedAt: event.receivedAt) {
            guard case .observe(let observation) = endpoint.settings.role else { continue }
            groups.append(
                DeliveryGroup(
                    id: ids.next(),
                    relaying: event.id,
                    event.event.type,
                    receivedAt: event.receivedAt,
                    to: endpoint.id,
                    in: event.networkID,
                    on: RelayTerms(expiresAt: event.receivedAt + observation.retryTime)
                )
            )
        }
    }
}
