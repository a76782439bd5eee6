package import CarillonCore

extension StoreScene {
    /// Stores events as the ingest stage does; one receipt for each.
    package func ingest(
        _ parsed: [ParsedEvent],
        in network: NetworkID,
        _ ids: UUIDv7Generator,
        at now: Timestamp
    ) async throws -> [Receipt] {
        let incoming = parsed.map { event -> IncomingEvent? in
            guard case .known(var known) = event.content else { return nil }
            known.trace = known.trace ?? TraceContext.current
            return IncomingEvent(
                networkID: network,
                id: EventID(ids.next()),
                receivedAt: now,
                event: known,
                body: event.body,
                leased: false
            )
        }
        let known = incoming.compactMap(\.self)
        var acceptances = try await inbox.accept(known, lockWait: .milliseconds(300)).makeIterator()
        return incoming.map { event in
            switch event.flatMap({ _ in acceptances.next() }) {
            case .accepted(let id, _)?: Receipt(id: id, status: .accepted)
            case .duplicate(let id)?: Receipt(id: id, status: .duplicate)
            case nil: Receipt(id: EventID(ids.next()), status: .ignored)
            }
        }
    }
}
